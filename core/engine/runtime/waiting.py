"""The messages of operations that wait, as listeners hear of them. Nothing of it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from zonda.hooks.records import replace

from ..model.unit_of_work import Notice


class WaitingOperations:
    """The last message of each running operation. ``now`` gives seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        # By stack and resource.
        self._notices: dict[str, dict[str, Notice]] = {}

    def take(self, notices: Sequence[Notice]) -> None:
        """Take what an engine tells: messages, and events that end operations."""
        for notice in notices:
            event = notice.event
            if event is None and notice.message:
                since = self._now() if notice.since is None else notice.since
                known = self._notices.setdefault(notice.stack_id, {})
                known[notice.resource] = replace(notice, since=since)
            elif event is None:
                self._drop(notice.stack_id, notice.resource)
            elif event.status != "IN_PROGRESS":
                self._drop(notice.stack_id, event.resource_name)

    def _drop(self, stack_id: str, resource: str) -> None:
        """Forget an operation; '' for a stack at its end, and with it all that it waited for."""
        if resource:
            self._notices.get(stack_id, {}).pop(resource, None)
        else:
            self._notices.pop(stack_id, None)

    def list_stacks(self) -> list[str]:
        """The stacks with operations that wait."""
        return list(self._notices)

    def list_messages(self, stacks: Iterable[str]) -> list[Notice]:
        """The messages of some stacks; each has a time."""
        return [each for key in stacks for each in list(self._notices.get(key, {}).values())]
