"""The reads of stacks, resources, events and drift, asked of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zonda.core.store.read.stack_reads import ALL
from zonda.core.store.read.views import (
    ActionView,
    EventView,
    FailedView,
    ResourceSummary,
    ResourceView,
    StackView,
)

from .connection import Connection

if TYPE_CHECKING:
    from zonda.core.store.read.drift_views import (
        DriftCheckView,
        DriftFindingView,
        DriftIgnoreView,
        DriftNowView,
    )


class RemoteReader:
    """All reads of commands (``StackReads``)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _read(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.read(f"reader.{name}", **arguments)

    def stacks(self, project: str = "default", *, nested: bool = False) -> list[StackView]:
        """The live stacks of the project of the connection."""
        found: list[StackView] = self._connection.read("stacks.list_all", nested=nested)
        return found

    def stack_by_id(self, stack_id: str) -> StackView:
        """The stack of that id."""
        found: StackView = self._read("stack_by_id", stack=stack_id)
        return found

    def list_owners_below(self, root_id: str | None = None) -> list[tuple[str, str, str, str]]:
        """The owners of nested stacks."""
        found: list[tuple[str, str, str, str]] = self._read("list_owners_below", root=root_id)
        return found

    def names_of_tree(self, root_id: str) -> list[tuple[str, str, str | None]]:
        """The names of the stacks of a tree."""
        found: list[tuple[str, str, str | None]] = self._read("names_of_tree", root=root_id)
        return found

    def is_tree_busy(self, root_id: str) -> bool:
        """Whether anything is planned or running in a tree."""
        return bool(self._read("is_tree_busy", root=root_id))

    def tree_size(self, root_id: str, *, wanted: bool = False) -> int:
        """The number of instances of a tree."""
        return int(self._read("tree_size", root=root_id, wanted=wanted))

    def list_resources(self, stack_id: str) -> list[ResourceSummary]:
        """The instances of a stack."""
        found: list[ResourceSummary] = self._read("list_resources", stack=stack_id)
        return found

    def list_tree_resources(self, root_id: str) -> list[ResourceSummary]:
        """The instances of a tree."""
        found: list[ResourceSummary] = self._read("list_tree_resources", root=root_id)
        return found

    def find_nested_stack(self, resource_id: str) -> StackView | None:
        """The nested stack of a resource."""
        found: StackView | None = self._read("find_nested_stack", resource_id=resource_id)
        return found

    def resources(self, stack_id: str, *, absent: bool = False) -> list[ResourceView]:
        """The resources of a stack."""
        found: list[ResourceView] = self._read("resources", stack=stack_id, absent=absent)
        return found

    def resource(self, stack_id: str, name: str) -> ResourceView:
        """One resource by name or id."""
        found: ResourceView = self._read("resource", stack=stack_id, name=name)
        return found

    def events(self, stack_id: str, after: int = 0, limit: int = 1000) -> list[EventView]:
        """The events of a stack."""
        found: list[EventView] = self._read("events", stack=stack_id, after=after, limit=limit)
        return found

    def tree_events(self, root_id: str, after: int = 0, limit: int = ALL) -> list[EventView]:
        """The events of a tree."""
        found: list[EventView] = self._read("tree_events", root=root_id, after=after, limit=limit)
        return found

    def actions(self, stack_id: str) -> list[ActionView]:
        """The plans of a stack."""
        found: list[ActionView] = self._read("actions", stack=stack_id)
        return found

    def list_failed(self, stack_id: str) -> list[FailedView]:
        """The failed operations of a stack."""
        found: list[FailedView] = self._read("list_failed", stack=stack_id)
        return found

    def last_event(self) -> int:
        """The number of the newest event."""
        return int(self._read("last_event"))

    def drift_check(self, check_id: str) -> DriftCheckView:
        """One drift check."""
        found: DriftCheckView = self._read("drift_check", check_id=check_id)
        return found

    def drift_checks(
        self, stack_id: str, limit: int = ALL, offset: int = 0
    ) -> list[DriftCheckView]:
        """The drift checks of a stack."""
        found: list[DriftCheckView] = self._read(
            "drift_checks", stack=stack_id, limit=limit, offset=offset
        )
        return found

    def drift_checks_from(self, stack_id: str, beginning: str) -> list[DriftCheckView]:
        """The drift checks whose ids begin so."""
        found: list[DriftCheckView] = self._read(
            "drift_checks_from", stack=stack_id, beginning=beginning
        )
        return found

    def drift_findings(self, check_id: str) -> list[DriftFindingView]:
        """The findings of a drift check."""
        found: list[DriftFindingView] = self._read("drift_findings", check_id=check_id)
        return found

    def drift_now(self, stack_id: str) -> list[DriftNowView]:
        """The newest verdicts on a tree."""
        found: list[DriftNowView] = self._read("drift_now", stack=stack_id)
        return found

    def drift_ignores(self, stack_id: str) -> list[DriftIgnoreView]:
        """The exceptions of a stack."""
        found: list[DriftIgnoreView] = self._read("drift_ignores", stack=stack_id)
        return found
