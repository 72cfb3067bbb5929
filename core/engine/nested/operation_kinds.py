"""The operations of both kinds of resources: of a plug-in, and of a nested stack.

Called by the loop, by signals and by ``refresh``. Most stacks have no nested ones.
"""

from __future__ import annotations

from ..model.lending import Write
from ..model.work_item import WorkItem
from ..plugins.operation import PluginOperation
from ..services import EngineServices


def make_operation(
    services: EngineServices, seen: WorkItem, gathered: list[Write] | None = None
) -> PluginOperation:
    """The operation that runs on a row: of a nested stack, or of a plug-in."""
    if not services.definitions.is_nested_stack(seen.row):
        return PluginOperation(services.instances, seen, gathered)
    from .operation import ChildOperation

    return ChildOperation(services, seen, gathered)
