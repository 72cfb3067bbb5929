"""The stacks of the project, asked of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zonda.core.app.app import App
from zonda.core.app.parts import add_declared_types
from zonda.core.engine import actions
from zonda.core.engine.actions import Action
from zonda.core.engine.actions.base import Templated
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import TemplateWarning

from .connection import Connection

if TYPE_CHECKING:
    from zonda.core.app.planning import PlanResult
    from zonda.core.store.read.views import OutputView


class RemoteStacks:
    """The stacks of the project (``StackAccess``). ``local``: whose type manifests travel."""

    def __init__(self, connection: Connection, local: App) -> None:
        self._connection = connection
        self._local = local

    def find(self, name_or_id: str) -> StackView:
        """Find a stack by name or id; raises NotFound."""
        found: StackView = self._connection.read("stacks.find", name=name_or_id)
        return found

    def find_or_deleted(self, name_or_id: str) -> StackView:
        """Find a stack, else the last deleted one of this name; raises NotFound."""
        found: StackView = self._connection.read("stacks.find_or_deleted", name=name_or_id)
        return found

    def list_all(self, *, nested: bool = False) -> list[StackView]:
        """List the live stacks."""
        found: list[StackView] = self._connection.read("stacks.list_all", nested=nested)
        return found

    def make_values(self) -> RemoteValues:
        """Make the reader of parameters and outputs."""
        return RemoteValues(self._connection)

    def list_warnings(self, stack: StackView) -> list[TemplateWarning]:
        """List the warnings about a stack's template."""
        found: list[TemplateWarning] = self._connection.read("stacks.list_warnings", stack=stack.id)
        return found

    def plan(self, action: Action, *, keep: bool = False) -> PlanResult:
        """Preview an action."""
        text = actions.to_json(self.declare_types(action))
        outside = list(action.bundle.outside) if isinstance(action, Templated) else []
        found: PlanResult = self._connection.read(
            "stacks.plan", action=text, keep=keep, outside=outside
        )
        return found

    def declare_types(self, action: Action) -> Action:
        """Add the manifests of this machine's types to an action."""
        return add_declared_types(action, self._local)


class RemoteValues:
    """The values of stacks (``StackValuesAccess``)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def outputs(
        self, stack_id: str, *, refresh: bool = False, reveal: bool = False
    ) -> list[OutputView]:
        """Resolve the outputs."""
        found: list[OutputView] = self._connection.read(
            "stacks.outputs", stack=stack_id, refresh=refresh, reveal=reveal
        )
        return found

    def parameters(self, stack_id: str) -> dict[str, Any]:
        """Return the parameters' values."""
        found: dict[str, Any] = self._connection.read("stacks.parameters", stack=stack_id)
        return found
