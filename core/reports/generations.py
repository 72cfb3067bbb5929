"""The generations of a stack: what was planned, with which template, and what came of it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zonda.core.engine.progress.history import ASIDE
from zonda.core.engine.templates.stored import Reading, Stored, Templates
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import ActionView, StackView
from zonda.core.template import redaction
from zonda.core.template.load import StackDefinition
from zonda.core.template.redaction import Shown, Spot
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks.errors import NotFound, Path, Place, ZondaError

#: How events of a resource are counted.
_DONE = {"CREATE": "created", "UPDATE": "updated", "DELETE": "deleted"}


@dataclass(frozen=True, slots=True)
class Generation:
    """One plan with what it did: how many resources were created, updated, ... and failed."""

    action: ActionView
    counts: Mapping[str, int]

    @property
    def number(self) -> int:
        """The generation."""
        return self.action.generation


class Generations:
    """The past of one stack. ``read`` makes definitions of stored templates."""

    def __init__(self, reader: Reader, stack: StackView, read: Reading) -> None:
        self._reader = reader
        self._stack = stack
        self._templates = Templates(reader, read)

    def all(self) -> list[Generation]:
        """Every generation that is kept, the oldest first."""
        counts: dict[int, Counter[str]] = {}
        for generation, action, status, number in self._reader.counted_events(self._stack.id):
            if name := _counted(action, status):
                counts.setdefault(generation, Counter())[name] += number
        actions = self._reader.actions(self._stack.id)
        return [Generation(each, counts.get(each.generation, {})) for each in actions]

    def one(self, number: int) -> ActionView:
        """One generation; raises NotFound with what there is."""
        known = self._reader.actions(self._stack.id)
        for each in known:
            if each.generation == number:
                return each
        raise NotFound("generation", f"{self._stack.name} {number}", hint=_kept(known))

    def before(self, action: ActionView) -> ActionView:
        """The last generation that had another template, or other parameters; else the first."""
        actions = self._reader.actions(self._stack.id)
        known = [each for each in actions if each.generation < action.generation]
        other = [each for each in known if each.template_id != action.template_id]
        return (other[-1:] or known[:1] or [action])[0]

    def given(self, action: ActionView) -> Given:
        """What was given in a generation; raises where its template cannot be read any more."""
        if action.template_id is None:
            raise NotFound("template of generation", str(action.generation))
        return self.template(action.template_id)

    def template(self, template_id: str) -> Given:
        """A stored template with all that was given with it; raises as ``given``."""
        found = self._templates.stored(template_id).masked()
        stack = self._stack
        identity = Identity(stack.id, stack.name, stack.project)
        definition = self._templates.definition(found, identity)
        bundle = found.bundle
        hidden = redaction.secrets(bundle, definition)
        return Given(bundle, definition, hidden, found, tuple(self._templates.above(found)))

    def hidden_now(self) -> frozenset[str]:
        """Parameters that the present template hides; none where it cannot be read."""
        present = self._present()
        return frozenset() if present is None else present.hidden

    def secrets_now(self) -> list[Any]:
        """What the present template hides; nothing where it cannot be read."""
        present = self._present()
        return [] if present is None else redaction.repeated(present.secrets)

    def _present(self) -> Given | None:
        if self._stack.template_id is None:
            return None
        try:
            return self.template(self._stack.template_id)
        except ZondaError:
            return None


@dataclass(frozen=True, slots=True)
class Given:
    """A template with all that was given with it. Holds secrets: ``shown`` does not."""

    bundle: Bundle
    definition: StackDefinition
    secrets: Mapping[Spot, Any]
    stored: Stored
    #: What the template at the top hides, of a nested one.
    above: tuple[Any, ...] = ()

    def place(self, path: Path) -> Place | None:
        """Where a part of the template stands: its key, as far as the path leads."""
        if not self.stored.has_file:
            return None
        return self.definition.document.place(path, key=True)

    def lines(self, also: Collection[Any] = ()) -> str:
        """The template's text for excerpts; ``also``: secrets of other generations."""
        return redaction.template_lines(self.bundle, self.secrets, [*also, *self.above])

    def hiding(self, names: frozenset[str]) -> Given:
        """The same, with more parameters hidden."""
        found = redaction.secrets(self.bundle, self.definition, names)
        return dataclasses.replace(self, secrets=found)

    @property
    def hidden(self) -> frozenset[str]:
        """The parameters that it hides."""
        return redaction.hidden_names(self.definition)

    def shown(self, before: Given | None = None, also: Collection[Any] = ()) -> Shown:
        """What may be shown; hidden values that differ from ``before`` are marked so.

        ``also``: secrets of other generations.
        """
        old = None if before is None else before.secrets
        also = [*also, *self.above]
        return redaction.show(self.bundle, self.definition, self.secrets, old, also)


def _counted(action: str, status: str) -> str:
    if status == "FAILED":
        return "" if action in ASIDE else "failed"
    return _DONE.get(action, "") if status == "COMPLETE" else ""


def _kept(known: Sequence[ActionView]) -> str:
    if not known:
        return "Nothing is kept of this stack any more."
    first, last = known[0].generation, known[-1].generation
    return f"Kept are {first} to {last}: 'zonda stack history' lists them."
