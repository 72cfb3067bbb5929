"""The protocol of the reads that commands use: of the database, or of a server.

Every answer is a view. An id that is not there, or is of another project where that is asked for,
raises NotFound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .views import ActionView, EventView, FailedView, ResourceSummary, ResourceView, StackView

if TYPE_CHECKING:
    from .drift_views import DriftCheckView, DriftFindingView, DriftIgnoreView, DriftNowView

#: A limit that is none.
ALL = -1


class TreeReads(Protocol):
    """The reads that trees of stacks are made of."""

    def stack_by_id(self, stack_id: str) -> StackView:
        """The stack of that id."""

    def list_owners_below(self, root_id: str | None = None) -> list[tuple[str, str, str, str]]:
        """(nested stack, its owner, the owner's stack, its name) of a tree, or of all live ones."""

    def names_of_tree(self, root_id: str) -> list[tuple[str, str, str | None]]:
        """(stack, its name, the instance that owns it) of a tree, also what is deleted of it."""

    def list_tree_resources(self, root_id: str) -> list[ResourceSummary]:
        """Every instance of a stack and of its nested stacks."""


class StackReads(TreeReads, Protocol):
    """All reads of commands."""

    def stacks(self, project: str = "default", *, nested: bool = False) -> list[StackView]:
        """The live stacks of a project, the oldest first."""

    def is_tree_busy(self, root_id: str) -> bool:
        """Whether anything is planned or running in a stack or below it."""

    def tree_size(self, root_id: str, *, wanted: bool = False) -> int:
        """The number of instances of a stack with all that is nested in it."""

    def list_resources(self, stack_id: str) -> list[ResourceSummary]:
        """Every instance of a stack."""

    def find_nested_stack(self, resource_id: str) -> StackView | None:
        """The live nested stack of a resource, if it has one."""

    def resources(self, stack_id: str, *, absent: bool = False) -> list[ResourceView]:
        """The resources of a stack; with ``absent`` also instances that are to be deleted."""

    def resource(self, stack_id: str, name: str) -> ResourceView:
        """One resource by name or id."""

    def events(self, stack_id: str, after: int = 0, limit: int = 1000) -> list[EventView]:
        """The events of a stack with a greater ``seq``, the oldest first."""

    def tree_events(self, root_id: str, after: int = 0, limit: int = ALL) -> list[EventView]:
        """The events of a stack and of its nested stacks."""

    def actions(self, stack_id: str) -> list[ActionView]:
        """The plans of a stack, the oldest first."""

    def list_failed(self, stack_id: str) -> list[FailedView]:
        """The failed operations of a stack."""

    def last_event(self) -> int:
        """The ``seq`` of the newest event of all."""

    def drift_check(self, check_id: str) -> DriftCheckView:
        """One drift check."""

    def drift_checks(
        self, stack_id: str, limit: int = ALL, offset: int = 0
    ) -> list[DriftCheckView]:
        """The drift checks of a stack, the newest first."""

    def drift_checks_from(self, stack_id: str, beginning: str) -> list[DriftCheckView]:
        """The drift checks of a stack whose ids begin so, two of them at most."""

    def drift_findings(self, check_id: str) -> list[DriftFindingView]:
        """The findings of a drift check, by path."""

    def drift_now(self, stack_id: str) -> list[DriftNowView]:
        """The newest verdict on every resource of a tree, by path."""

    def drift_ignores(self, stack_id: str) -> list[DriftIgnoreView]:
        """The exceptions of a stack."""
