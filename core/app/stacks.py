"""The stacks of a project: find them, read their values, preview what an action would do.

Made by ``App``. Reads only: neither an engine nor a lock is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zonda.core.store.read.views import StackView
from zonda.hooks.errors import TemplateWarning, ZondaError

from .parts import Parts, add_declared_types

if TYPE_CHECKING:  # takes 30 ms, which listing stacks must not pay for
    from zonda.core.engine.actions import Action
    from zonda.core.engine.templates.definitions import Definitions
    from zonda.core.reports.outputs import StackValues

    from .planning import PlanResult


class Stacks:
    """The stacks of this project. ``definitions`` gives the cache of an engine in this process."""

    def __init__(self, parts: Parts, definitions: Callable[[], Definitions | None]) -> None:
        self._parts = parts
        self._definitions = definitions

    def find(self, name_or_id: str) -> StackView:
        """Find a stack of this project by name, or any stack by id; raises NotFound."""
        return self._parts.reader.stack(name_or_id, self._parts.settings.project)

    def find_or_deleted(self, name_or_id: str) -> StackView:
        """Find a stack, else the last deleted one of this name; raises NotFound."""
        return self._parts.reader.stack_or_deleted(name_or_id, self._parts.settings.project)

    def list_all(self, *, nested: bool = False) -> list[StackView]:
        """List the live stacks of this project, the oldest first; ``nested`` ones, too."""
        return self._parts.reader.stacks(self._parts.settings.project, nested=nested)

    def make_values(self) -> StackValues:
        """Make the reader of parameters and outputs, which loads the templates of stacks."""
        from zonda.core.reports.outputs import make_stack_values

        parts = self._parts
        return make_stack_values(
            parts.reader,
            parts.plugins.resource_types,
            load=parts.template_loader,
            lender=parts.lender,
            clock=parts.clock,
            source=parts.random,
            definitions=self._definitions(),
        )

    def list_warnings(self, stack: StackView) -> list[TemplateWarning]:
        """List the warnings about a stack's template; empty where it cannot be read."""
        if stack.template_id is None:
            return []
        known = self._definitions()
        definition: Any
        try:
            if known is not None:
                definition = known.get(stack.template_id)
            else:
                history = self._parts.inspector.read_history(stack)
                definition = history.template(stack.template_id).definition
            return list(definition.warnings)
        except ZondaError:
            return []

    def plan(self, action: Action, *, keep: bool = False) -> PlanResult:
        """Preview an action. Takes no lock and changes nothing; works beside an engine.

        ``keep``: with the text of a plan file, for which the sealing key is made if there is none.
        """
        from .planning import make_plan

        parts = self._parts
        reader = parts.reader
        if keep and not parts.database.is_made():
            reader = parts.open_scratch_reader()
        if keep:
            action = add_declared_types(action, parts)
        return make_plan(parts, reader, action, keep=keep)
