"""A life that can be watched and interrupted: at every write, and between all calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from zonda.hooks.definition import ResourceDefinition
from zonda.hooks.fakes import FakeOperation
from zonda.hooks.lifecycle import Lifecycle
from zonda.hooks.resource import Resource


class Crash(BaseException):
    """The process ends here."""


class Observed(Lifecycle):
    """As the engine does it: one instance per operation, unless ``restarts`` makes each call new.

    ``crash_at``: the operation ends with ``Crash`` after so many writes; ``END``: when the handler
    has returned and nobody has stored what it gave. ``kept``: what handlers put on ``self``.
    """

    END = -1

    restarts = False
    crash_at: int | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.writes = 0
        self.kept: set[str] = set()
        self.operation_id = ""
        self._again = ""
        self._alive: tuple[str, Resource] | None = None
        self.context.after_save = self._written

    def instance(self, definition: ResourceDefinition | None = None) -> Resource:
        """The instance of the running operation, or a new one."""
        operation = self.context.operation
        if definition is not None or operation is None or self.restarts:
            return super().instance(definition)
        if self._alive is None or self._alive[0] != operation.id:
            self._alive = operation.id, super().instance()
        return self._alive[1]

    def again(self, run: Callable[[], Any]) -> Any:
        """``run`` an operation once more under the id of the one that was interrupted."""
        self._again, self.crash_at = self.operation_id, None
        try:
            return run()
        finally:
            self._again = ""

    def _start(self, handle: Callable[[Resource], Any], operation: FakeOperation) -> Any:
        if self._again:
            operation = FakeOperation(
                self._again, operation.action, operation.started_at, operation.deadline, 2
            )
            self.context.operation, self._again = operation, ""
        taken_up = operation.id == self.operation_id
        self.operation_id, self.writes = operation.id, 0

        def noted(instance: Resource) -> Any:
            before = set(vars(instance))
            try:
                found = _found(instance, operation) if taken_up else None
                return handle(instance) if found is None else found
            finally:
                self.kept |= set(vars(instance)) - before - {"_attributes"}

        token = super()._start(noted, operation)
        if self.crash_at == self.END:
            raise Crash
        return token

    def _written(self) -> None:
        self.writes += 1
        if self.crash_at == self.writes and self.context.operation is not None:
            raise Crash

    def _kept(self, token: Any, instance: Resource) -> Any:
        if self.restarts:
            return super()._kept(token, instance)
        try:
            return json.loads(json.dumps(token))
        except (TypeError, ValueError):
            return token  # the engine keeps it in memory, and loses it by a restart


def _found(instance: Resource, operation: FakeOperation) -> Any:
    """What ``handle_find`` knows of an interrupted operation, where the type wants to be asked."""
    find = getattr(instance, "handle_find", None)
    is_asked = find is not None and instance.start_policy == "find"
    return find(operation.id) if find is not None and is_asked else None
