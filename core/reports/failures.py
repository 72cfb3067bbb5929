"""The failures of a generation: the first ones, and those that only followed from them."""

from __future__ import annotations

from collections.abc import Sequence

from zonda.core.engine.model.outcomes import CANCELLED, STACK_TIMED_OUT
from zonda.core.engine.model.states import PASSING
from zonda.core.store.read.reader import ALL, Reader
from zonda.core.store.read.views import ActionView, EventView, FailedView, StackView
from zonda.hooks.records import dataclass

from .advice import advice

#: The end of every failed action, whatever the history calls it.
BAD = ("FAILED", "CANCELLED", "TIMED_OUT")
#: Kinds of failure that follow from another one.
_FOLLOWS = (STACK_TIMED_OUT, CANCELLED)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed operation. ``tried``: the failed attempts before it.

    ``way``: the owners from the stack at the top down to its stack.
    """

    view: FailedView
    tried: tuple[FailedView, ...]
    events: tuple[EventView, ...]
    advice: tuple[str, ...]
    way: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The resource with the way down to it."""
        return "/".join((*self.way, self.view.resource_name))


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures of a generation, the first one first. ``followed``: names that followed."""

    action: ActionView
    found: tuple[Failure, ...]
    followed: tuple[str, ...]


def find_failed_action(actions: Sequence[ActionView], number: int | None) -> ActionView | None:
    """Find the action to explain: ``number``, else the last one if it failed or undoes a failure.

    None where nothing has failed.
    """
    if number is not None:
        return next((each for each in actions if each.generation == number), None)
    if not actions:
        return None
    last = actions[-1]
    if last.action in PASSING and last.status == "COMPLETE":
        # the stack is shown as what it was before
        last = next(each for each in reversed(actions) if each.action not in PASSING)
    because = last.detail.get("because")
    if last.status == "COMPLETE" and because is not None:
        return next((each for each in actions if each.generation == because), None)
    return last if last.status in (*BAD, "IN_PROGRESS") else None


@dataclass(frozen=True, slots=True)
class RootAndPath:
    """The stack at the top of a tree, and the path down to a nested stack."""

    stack: StackView
    way: tuple[str, ...] = ()


def failures(
    reader: Reader,
    stack: StackView,
    action: ActionView,
    name: str | None = None,
    top: RootAndPath | None = None,
) -> Failures:
    """List the failures of a generation, the first one first; ``name``: only of one resource.

    ``top``: where the stack is nested.
    """
    top = top or RootAndPath(stack)
    events = [
        event
        for event in reader.events(stack.id, limit=ALL)
        if event.generation == action.generation and event.resource_name
    ]
    ends = {(event.resource_id, event.at) for event in events if event.status == "FAILED"}
    noted = [one for one in reader.list_failed(stack.id) if one.generation == action.generation]
    # not only one attempt has failed, but the operation
    final = [one for one in noted if one.during == "prepare" or (one.resource_id, one.at) in ends]
    first = [one for one in final if one.kind not in _FOLLOWS] or final
    chosen = [one for one in final if one.resource_name == name] if name else first
    made = tuple(_build_failure(top, one, noted, events) for one in chosen)
    followed = ["/".join((*top.way, one.resource_name)) for one in final if one not in first]
    return Failures(action, made, tuple(dict.fromkeys(followed)))


def _build_failure(
    top: RootAndPath, one: FailedView, noted: Sequence[FailedView], events: Sequence[EventView]
) -> Failure:
    began = one.at if one.started_at is None else one.started_at
    tried = [
        each for each in noted if each.resource_id == one.resource_id and began <= each.at < one.at
    ]
    own = [
        event
        for event in events
        if event.resource_id == one.resource_id and began <= event.at <= one.at
    ]
    told = advice(top.stack, one, "/".join((*top.way, one.resource_name)))
    return Failure(one, tuple(tried), tuple(own), tuple(told), top.way)
