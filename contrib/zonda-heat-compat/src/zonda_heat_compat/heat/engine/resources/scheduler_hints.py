"""Hints for the scheduler of servers."""

from __future__ import annotations

from typing import Any


class SchedulerHintsMixin:
    """Adds where a server stands in its stack to its hints; Heat does so only where it is told."""

    HEAT_ROOT_STACK_ID = "heat_root_stack_id"
    HEAT_STACK_ID = "heat_stack_id"
    HEAT_STACK_NAME = "heat_stack_name"
    HEAT_PATH_IN_STACK = "heat_path_in_stack"
    HEAT_RESOURCE_NAME = "heat_resource_name"
    HEAT_RESOURCE_UUID = "heat_resource_uuid"

    def _scheduler_hints(self, scheduler_hints: Any) -> Any:
        return scheduler_hints
