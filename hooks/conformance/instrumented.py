"""A life that can be watched and interrupted: at every write, and between all calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..resources.definition import ResourceDefinition
from ..resources.resource import Resource
from ..testing.fakes import FakeOperation
from ..testing.lifecycle import Lifecycle
from ..testing.nested import NestedLifecycle
from . import state_loss


class Crash(BaseException):
    """The process ends here."""


class InstrumentedLifecycle(Lifecycle):
    """As the engine does it: one instance per operation, unless ``restarts`` makes each call new.

    ``crash_at``: the operation ends with ``Crash`` after so many writes; ``END``: when the handler
    has returned and nobody has stored what it gave. ``kept``: what handlers put on ``self``, or
    into containers of their class. ``state_losses``: what is stored otherwise than it is meant.
    """

    END = -1

    restarts = False
    crash_at: int | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.writes = 0
        self.kept: set[str] = set()
        self.state_losses: list[str] = []
        self._class_state = state_loss.ClassState(self.cls)
        self.operation_id = ""
        self._again = ""
        self._alive: tuple[str, Resource] | None = None
        self.context.after_save = self._written

    def instance(self, definition: ResourceDefinition | None = None) -> Resource:
        """The instance of the running operation, or a new one."""
        operation = self.context.operation
        if self.restarts:
            self._class_state.forget()
        if definition is not None or operation is None or self.restarts:
            return self._listening(super().instance(definition))
        if self._alive is None or self._alive[0] != operation.id:
            self._alive = operation.id, self._listening(super().instance())
        return self._alive[1]

    def _listening(self, instance: Resource) -> Resource:
        """``instance``, with everything odd that it stores noted."""
        set_id, set_data = instance.resource_id_set, instance.data_set

        def resource_id_set(value: Any) -> None:
            self._note(state_loss.of_id(value))
            set_id(value)

        def data_set(key: str, value: Any, redact: bool = False) -> None:
            self._note(state_loss.of_data(key, value))
            set_data(key, value, redact)

        instance.resource_id_set = resource_id_set  # type: ignore[method-assign]
        instance.data_set = data_set  # type: ignore[method-assign]
        return instance

    def _note(self, fault: str) -> None:
        if fault:
            self.state_losses.append(fault)

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
                self.kept |= set(self._class_state.changed())

        token = super()._start(noted, operation)
        if self.crash_at == self.END:
            raise Crash
        return token

    def _written(self) -> None:
        self.writes += 1
        if self.crash_at == self.writes and self.context.operation is not None:
            raise Crash

    def _kept(self, token: Any, instance: Resource) -> Any:
        self._note(state_loss.of_token(self.action, token))
        if self.restarts:
            return super()._kept(token, instance)
        try:
            return json.loads(json.dumps(token))
        except (TypeError, ValueError):
            return token  # the engine keeps it in memory, and loses it by a restart


class InstrumentedNestedLifecycle(InstrumentedLifecycle, NestedLifecycle):
    """The same of a type whose physical side is a nested stack."""


class _Anything(dict[str, Any]):
    """The attributes of a member of whose type nothing is known: it has each, null."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> None:
        return None


def instrument(cls: type[Resource], *arguments: Any, **options: Any) -> InstrumentedLifecycle:
    """A life of a type that can be watched."""
    if not cls.is_nested_stack:
        return InstrumentedLifecycle(cls, *arguments, **options)
    return InstrumentedNestedLifecycle(
        cls, *arguments, attributes_of=lambda entry: _Anything(), **options
    )


def _found(instance: Resource, operation: FakeOperation) -> Any:
    """What ``handle_find`` knows of an interrupted operation, where the type wants to be asked."""
    find = getattr(instance, "handle_find", None)
    is_asked = find is not None and instance.start_policy == "find"
    return find(operation.id) if find is not None and is_asked else None
