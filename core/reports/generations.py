"""The generations of a stack: the plan, its template, and the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from zonda.core.engine.progress.history import ASIDE
from zonda.core.engine.templates.stored import Reading, Stored, Templates
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import ActionView, StackView
from zonda.core.template import redaction
from zonda.core.template.load import StackDefinition
from zonda.core.template.redaction import Location, RedactedBundle
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks import records
from zonda.hooks.errors import NotFound, Path, Place, ZondaError
from zonda.hooks.records import dataclass

#: The kinds under which events of a resource are counted.
_DONE = {"CREATE": "created", "UPDATE": "updated", "DELETE": "deleted"}


@dataclass(frozen=True, slots=True)
class Generation:
    """One plan with its result: how many resources were created, updated, ... and failed."""

    action: ActionView
    counts: Mapping[str, int]

    @property
    def number(self) -> int:
        """The number of the generation."""
        return self.action.generation


class Generations:
    """The history of one stack. ``read`` makes definitions of stored templates."""

    def __init__(self, reader: Reader, stack: StackView, read: Reading) -> None:
        self._reader = reader
        self._stack = stack
        self._templates = Templates(reader, read)

    def all(self) -> list[Generation]:
        """List every generation that is kept, the oldest first."""
        counts: dict[int, Counter[str]] = {}
        for generation, action, status, number in self._reader.count_events(self._stack.id):
            if name := _choose_counter(action, status):
                counts.setdefault(generation, Counter())[name] += number
        actions = self._reader.actions(self._stack.id)
        return [Generation(each, counts.get(each.generation, {})) for each in actions]

    def one(self, number: int) -> ActionView:
        """Return one generation; raises NotFound with those that are kept."""
        known = self._reader.actions(self._stack.id)
        for each in known:
            if each.generation == number:
                return each
        raise NotFound("generation", f"{self._stack.name} {number}", hint=_format_range(known))

    def find_other_before(self, action: ActionView) -> ActionView:
        """Return the last generation with another template, or other parameters; else the first."""
        actions = self._reader.actions(self._stack.id)
        known = [each for each in actions if each.generation < action.generation]
        other = [each for each in known if each.template_id != action.template_id]
        return (other[-1:] or known[:1] or [action])[0]

    def load_input(self, action: ActionView) -> GenerationInput:
        """Load the input of a generation; raises where its template cannot be read any more."""
        if action.template_id is None:
            raise NotFound("template of generation", str(action.generation))
        return self.template(action.template_id)

    def template(self, template_id: str) -> GenerationInput:
        """Load a stored template with its whole input; raises as ``given``."""
        found = self._templates.read_stored(template_id).mask()
        stack = self._stack
        identity = Identity(stack.id, stack.name, stack.project)
        definition = self._templates.definition(found, identity)
        bundle = found.bundle
        hidden = redaction.find_secrets(bundle, definition)
        return GenerationInput(
            bundle, definition, hidden, found, tuple(self._templates.list_hidden_above(found))
        )

    def list_hidden_parameters(self) -> frozenset[str]:
        """List the parameters that the present template hides; empty where it cannot be read."""
        present = self._load_present()
        return frozenset() if present is None else present.hidden

    def list_secrets(self) -> list[Any]:
        """List the values that the present template hides; empty where it cannot be read."""
        present = self._load_present()
        return [] if present is None else redaction.list_searchable_secrets(present.secrets)

    def _load_present(self) -> GenerationInput | None:
        if self._stack.template_id is None:
            return None
        try:
            return self.template(self._stack.template_id)
        except ZondaError:
            return None


@dataclass(frozen=True, slots=True)
class GenerationInput:
    """A template with its parameters, environments and files. Holds secrets: ``shown`` does not."""

    bundle: Bundle
    definition: StackDefinition
    secrets: Mapping[Location, Any]
    stored: Stored
    #: The values of a nested template that the root template hides.
    above: tuple[Any, ...] = ()

    def place(self, path: Path) -> Place | None:
        """Find the place of a part of the template: its key, as far as the path leads."""
        if not self.stored.has_file:
            return None
        return self.definition.document.place(path, key=True)

    def lines(self, also: Collection[Any] = ()) -> str:
        """Return the template's text for excerpts; ``also``: secrets of other generations."""
        return redaction.redact_template(self.bundle, self.secrets, [*also, *self.above])

    def with_hidden(self, names: frozenset[str]) -> GenerationInput:
        """Return a copy with more parameters hidden."""
        found = redaction.find_secrets(self.bundle, self.definition, names)
        return records.replace(self, secrets=found)

    @property
    def hidden(self) -> frozenset[str]:
        """The parameters that it hides."""
        return redaction.list_hidden_parameters(self.definition)

    def redact(
        self, before: GenerationInput | None = None, also: Collection[Any] = ()
    ) -> RedactedBundle:
        """Return the redacted input; hidden values that differ from ``before`` are marked.

        ``also``: secrets of other generations.
        """
        old = None if before is None else before.secrets
        also = [*also, *self.above]
        return redaction.redact_bundle(self.bundle, self.definition, self.secrets, old, also)


def _choose_counter(action: str, status: str) -> str:
    if status == "FAILED":
        return "" if action in ASIDE else "failed"
    return _DONE.get(action, "") if status == "COMPLETE" else ""


def _format_range(known: Sequence[ActionView]) -> str:
    if not known:
        return "Nothing is kept of this stack any more."
    first, last = known[0].generation, known[-1].generation
    return f"Kept are {first} to {last}: 'zonda stack history' lists them."
