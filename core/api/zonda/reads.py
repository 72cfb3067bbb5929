"""The reads of stacks, resources, events and drift that clients may ask for, by name.

A function's first argument is the project, the others are checked by their annotations
(``arguments``). All answers are views, of one project.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from zonda.core.store.read.drift_views import (
    DriftCheckView,
    DriftFindingView,
    DriftIgnoreView,
    DriftNowView,
)
from zonda.core.store.read.stack_reads import ALL
from zonda.core.store.read.views import (
    ActionView,
    EventView,
    FailedView,
    ResourceSummary,
    ResourceView,
    StackView,
)
from zonda.hooks.errors import NotFound

from ..service.project import Project


class Read(NamedTuple):
    """A read. ``is_heavy``: it loads templates or asks plug-ins. ``rule``: one of ``RULES``."""

    function: Callable[..., Any]
    is_heavy: bool = False
    rule: str = "read"


def find_stack(project: Project, name: str) -> StackView:
    """A stack by name or id."""
    return project.reader.stack(name, project.id)


def find_deleted_stack(project: Project, name: str) -> StackView:
    """A stack by name or id, else the last deleted one of that name."""
    return project.reader.stack_or_deleted(name, project.id)


def list_stacks(project: Project, nested: bool) -> list[StackView]:
    """The live stacks of the project."""
    return project.reader.stacks(project.id, nested=nested)


def stack_by_id(project: Project, stack: StackView) -> StackView:
    """A stack by its id."""
    return stack


def list_owners(project: Project, root: StackView | None) -> list[tuple[str, str, str, str]]:
    """The owners of nested stacks: of one tree, or of the project."""
    if root is not None:
        return project.reader.list_owners_below(root.id)
    own = {stack.id for stack in project.reader.stacks(project.id, nested=True)}
    return [each for each in project.reader.list_owners_below() if each[0] in own]


def names_of_tree(project: Project, root: StackView) -> list[tuple[str, str, str | None]]:
    """The names of the stacks of a tree."""
    return project.reader.names_of_tree(root.id)


def is_tree_busy(project: Project, root: StackView) -> bool:
    """Whether anything is planned or running in a tree."""
    return project.reader.is_tree_busy(root.id)


def tree_size(project: Project, root: StackView, wanted: bool) -> int:
    """The number of instances of a tree."""
    return project.reader.tree_size(root.id, wanted=wanted)


def list_resources(project: Project, stack: StackView) -> list[ResourceSummary]:
    """The instances of a stack."""
    return project.reader.list_resources(stack.id)


def list_tree_resources(project: Project, root: StackView) -> list[ResourceSummary]:
    """The instances of a tree."""
    return project.reader.list_tree_resources(root.id)


def find_nested_stack(project: Project, resource_id: str) -> StackView | None:
    """The nested stack of a resource."""
    found = project.reader.find_nested_stack(resource_id)
    return found if found is not None and found.project == project.id else None


def resources(project: Project, stack: StackView, absent: bool) -> list[ResourceView]:
    """The resources of a stack with their values."""
    return project.reader.resources(stack.id, absent=absent)


def resource(project: Project, stack: StackView, name: str) -> ResourceView:
    """One resource by name or id."""
    return project.reader.resource(stack.id, name)


def events(project: Project, stack: StackView, after: int, limit: int) -> list[EventView]:
    """The events of a stack."""
    return project.reader.events(stack.id, after, limit)


def tree_events(project: Project, root: StackView, after: int, limit: int = ALL) -> list[EventView]:
    """The events of a tree."""
    return project.reader.tree_events(root.id, after, limit)


def actions(project: Project, stack: StackView) -> list[ActionView]:
    """The plans of a stack."""
    return project.reader.actions(stack.id)


def list_failed(project: Project, stack: StackView) -> list[FailedView]:
    """The failed operations of a stack."""
    return project.reader.list_failed(stack.id)


def last_event(project: Project) -> int:
    """The number of the newest event."""
    return project.reader.last_event()


def drift_check(project: Project, check_id: str) -> DriftCheckView:
    """One drift check."""
    found = project.reader.drift_check(check_id)
    try:
        project.find_stack(found.stack_id)
    except NotFound:
        raise NotFound("drift check", check_id) from None
    return found


def drift_checks(
    project: Project, stack: StackView, limit: int, offset: int
) -> list[DriftCheckView]:
    """The drift checks of a stack, the newest first."""
    return project.reader.drift_checks(stack.id, limit, offset)


def drift_checks_from(project: Project, stack: StackView, beginning: str) -> list[DriftCheckView]:
    """The drift checks whose ids begin so."""
    return project.reader.drift_checks_from(stack.id, beginning)


def drift_findings(project: Project, check_id: str) -> list[DriftFindingView]:
    """The findings of a drift check."""
    return project.reader.drift_findings(drift_check(project, check_id).id)


def drift_now(project: Project, stack: StackView) -> list[DriftNowView]:
    """The newest verdicts on a tree."""
    return project.reader.drift_now(stack.id)


def drift_ignores(project: Project, stack: StackView) -> list[DriftIgnoreView]:
    """The exceptions of a stack."""
    return project.reader.drift_ignores(stack.id)


READS = {
    "stacks.find": Read(find_stack),
    "stacks.find_or_deleted": Read(find_deleted_stack),
    "stacks.list_all": Read(list_stacks),
    "reader.stack_by_id": Read(stack_by_id),
    "reader.list_owners_below": Read(list_owners),
    "reader.names_of_tree": Read(names_of_tree),
    "reader.is_tree_busy": Read(is_tree_busy),
    "reader.tree_size": Read(tree_size),
    "reader.list_resources": Read(list_resources),
    "reader.list_tree_resources": Read(list_tree_resources),
    "reader.find_nested_stack": Read(find_nested_stack),
    "reader.resources": Read(resources),
    "reader.resource": Read(resource),
    "reader.events": Read(events),
    "reader.tree_events": Read(tree_events),
    "reader.actions": Read(actions),
    "reader.list_failed": Read(list_failed),
    "reader.last_event": Read(last_event),
    "reader.drift_check": Read(drift_check),
    "reader.drift_checks": Read(drift_checks),
    "reader.drift_checks_from": Read(drift_checks_from),
    "reader.drift_findings": Read(drift_findings),
    "reader.drift_now": Read(drift_now),
    "reader.drift_ignores": Read(drift_ignores),
}
