"""Explains the state of a stack, or of one resource of it, from the reports beside this module.

Told are, in this order: the failure that is the reason, what only followed from it, what is at work
or waits now, and why a resource was changed last. What is not kept any more is said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zonda.core.store.read.reader import ALL, Reader
from zonda.core.store.read.views import ActionView, EventView, StackView
from zonda.core.store.schema.rows import ResourceRow
from zonda.hooks import records
from zonda.hooks.errors import NotFound, Place, ZondaError
from zonda.hooks.records import dataclass, field
from zonda.hooks.text.suggestions import suggestion

from .failures import BAD, Failure, Failures, failures, find_failed_action
from .generations import GenerationInput, Generations
from .leaves import NestedSituations, add_nested, expand_failures, find_root
from .situation import UNWELL, Situation, situations

#: The hint where an action has failed without a failed operation.
OF_ACTIONS = {
    "CANCELLED": "Somebody cancelled it: 'zonda stack retry' goes on from what is there.",
    "TIMED_OUT": "It took longer than it may: give it more with --timeout.",
}


@dataclass(frozen=True, slots=True)
class LocatedFailure:
    """A failure with its place, and the redacted template text for an excerpt."""

    failure: Failure
    place: Place | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation. ``certain`` is False for a failure without a stored reason.

    ``action``: the one that the failures are of, None where nothing has failed. ``earlier``: the
    last action that failed before one that did not. ``gone``: the last event of a resource that is
    not there any more.
    """

    stack: StackView
    action: ActionView | None
    failures: tuple[LocatedFailure, ...] = ()
    followed: tuple[str, ...] = ()
    situations: tuple[Situation, ...] = ()
    earlier: ActionView | None = None
    untold: str = ""
    certain: bool = True
    advice: tuple[str, ...] = field(default=())
    gone: EventView | None = None


class StackExplainer:
    """Explains the state of one stack."""

    def __init__(self, reader: Reader, stack: StackView, past: Generations) -> None:
        self._reader = reader
        self._stack = stack
        self._past = past
        self._top = find_root(reader, stack)

    def explain(self, name: str | None = None, number: int | None = None) -> Explanation:
        """Explain the state of the stack (or the resource ``name``), now or in a generation."""
        actions = self._reader.actions(self._stack.id)
        action = self._past.one(number) if number is not None else find_failed_action(actions, None)
        found = None if action is None else self._list_failures(action, name)
        if name is not None:
            self._check_known(name)
        now = self._list_situations(name) if number is None else ()
        gone = self._find_last_event(name) if name is not None and not now else None
        if name is not None and found is not None and not found.found:
            found = None  # something else has failed
        if found is None or action is None:
            certain = name is not None or self._stack.status != "FAILED"
            return Explanation(
                self._stack,
                None,
                situations=now,
                earlier=self._find_earlier_failure(actions, name),
                certain=certain,
                gone=gone,
            )
        if name is None:  # told as failures
            now = tuple(each for each in now if each.doing != UNWELL)
        spots, untold = self._locate_failures(found.found)
        if not spots and not found.followed and action.status in BAD and name is None:
            return self._explain_action(action, now)
        return Explanation(
            self._stack, action, spots, found.followed, now, untold=untold, gone=gone
        )

    def _list_failures(self, action: ActionView, name: str | None) -> Failures:
        found = failures(self._reader, self._stack, action, name, self._top)
        if name is not None and not found.found:
            # what was never begun is explained by what failed in front of it
            row = self._list_rows(name)
            if any(each.action == "INIT" for each in row):
                found = failures(self._reader, self._stack, action, top=self._top)
        return expand_failures(self._reader, self._top, found)

    def _explain_action(self, action: ActionView, now: tuple[Situation, ...]) -> Explanation:
        """Explain an action that failed without a failed operation, as far as events are kept."""
        told = OF_ACTIONS.get(action.status)
        return Explanation(
            self._stack,
            action,
            situations=now,
            certain=told is not None or bool(action.status_reason),
            advice=() if told is None else (told,),
        )

    def _locate_failures(self, found: Sequence[Failure]) -> tuple[tuple[LocatedFailure, ...], str]:
        try:
            return tuple(self._load_places(found)), ""
        except ZondaError as error:
            return tuple(map(LocatedFailure, found)), str(error)

    def _load_places(self, found: Sequence[Failure]) -> Iterator[LocatedFailure]:
        known: dict[str, tuple[GenerationInput, str]] = {}
        for failure in found:
            key = failure.view.template_id
            if key is None:
                yield LocatedFailure(failure)
                continue
            if key not in known:
                known[key] = self._load_input(key)
            given, text = known[key]
            path = failure.view.path or ("resources", failure.view.resource_name)
            yield LocatedFailure(failure, given.place(path), text)

    def _load_input(self, template_id: str) -> tuple[GenerationInput, str]:
        """Load a template's input, and its text with hidden values of then and now left out."""
        given = self._past.template(template_id).with_hidden(self._past.list_hidden_parameters())
        return given, given.lines(self._past.list_secrets())

    def _list_situations(self, name: str | None) -> tuple[Situation, ...]:
        row = self._reader.stack_row(self._stack.id)
        found = [
            records.replace(each, way=self._top.way)
            for each in situations(row, self._reader.resource_rows(row.id), name)
        ]
        inside = NestedSituations(self._reader, self._stack.root_id)
        return tuple(add_nested(inside, found, wholly=name is not None))

    def _find_earlier_failure(
        self, actions: Sequence[ActionView], name: str | None
    ) -> ActionView | None:
        noted = self._reader.list_failed(self._stack.id)
        its = {one.generation for one in noted if one.resource_name == name}
        bad = (each for each in reversed(actions) if each.status in BAD)
        return next((each for each in bad if name is None or each.generation in its), None)

    def _find_last_event(self, name: str) -> EventView | None:
        return next(
            (one for one in reversed(self._list_events()) if one.resource_name == name), None
        )

    def _list_events(self) -> list[EventView]:
        return self._reader.events(self._stack.id, limit=ALL)

    def _list_rows(self, name: str) -> list[ResourceRow]:
        return [row for row in self._reader.resource_rows(self._stack.id) if row.name == name]

    def _check_known(self, name: str) -> None:
        """Raise NotFound for a resource that neither exists nor ever failed."""
        known = {row.name for row in self._reader.resource_rows(self._stack.id)}
        known |= {one.resource_name for one in self._reader.list_failed(self._stack.id)}
        known |= {one.resource_name for one in self._list_events() if one.resource_name}
        if name not in known:
            hint = suggestion(name, sorted(known))
            raise NotFound("Resource", name, hint=hint, stack=self._stack.name)
