"""A life that can be watched and interrupted: at every write, and between all calls.

It notes faults in how a type keeps its state, which raise no error.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..resources.definition import ResourceDefinition
from ..resources.resource import Resource
from ..testing.fakes import FakeOperation
from ..testing.lifecycle import Lifecycle
from ..testing.nested import NestedLifecycle

#: Characters of a physical id; the rest is cut off.
LONGEST_ID: Final = 255


class Crash(BaseException):
    """The simulated end of the process."""


class InstrumentedLifecycle(Lifecycle):
    """A lifecycle with one instance per operation; with ``restarts`` each call gets a new one.

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
        self._class_state = ClassState(self.cls)
        self.operation_id = ""
        self._again = ""
        self._alive: tuple[str, Resource] | None = None
        self.context.after_save = self._count_write

    def instance(self, definition: ResourceDefinition | None = None) -> Resource:
        """The instance of the running operation, or a new one."""
        operation = self.context.operation
        if self.restarts:
            self._class_state.forget()
        if definition is not None or operation is None or self.restarts:
            return self._watch_writes(super().instance(definition))
        if self._alive is None or self._alive[0] != operation.id:
            self._alive = operation.id, self._watch_writes(super().instance())
        return self._alive[1]

    def _watch_writes(self, instance: Resource) -> Resource:
        """Return ``instance``, which now records each fault in what it stores."""
        set_id, set_data = instance.resource_id_set, instance.data_set

        def resource_id_set(value: Any) -> None:
            self._record_fault(find_id_fault(value))
            set_id(value)

        def data_set(key: str, value: Any, redact: bool = False) -> None:
            self._record_fault(find_data_fault(key, value))
            set_data(key, value, redact)

        instance.resource_id_set = resource_id_set  # type: ignore[method-assign]
        instance.data_set = data_set  # type: ignore[method-assign]
        return instance

    def _record_fault(self, fault: str) -> None:
        if fault:
            self.state_losses.append(fault)

    def repeat(self, run: Callable[[], Any]) -> Any:
        """Repeat an operation with ``run`` under the id of the one that was interrupted."""
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

        def note_instance(instance: Resource) -> Any:
            before = set(vars(instance))
            try:
                found = _call_handle_find(instance, operation) if taken_up else None
                return handle(instance) if found is None else found
            finally:
                self.kept |= set(vars(instance)) - before - {"_attributes"}
                self.kept |= set(self._class_state.list_changed())

        token = super()._start(note_instance, operation)
        if self.crash_at == self.END:
            raise Crash
        return token

    def _count_write(self) -> None:
        self.writes += 1
        if self.crash_at == self.writes and self.context.operation is not None:
            raise Crash

    def _store_token(self, token: Any, instance: Resource) -> Any:
        self._record_fault(find_token_fault(self.action, token))
        if self.restarts:
            return super()._store_token(token, instance)
        try:
            return json.loads(json.dumps(token))
        except (TypeError, ValueError):
            return token  # the engine keeps it in memory, and loses it by a restart


class InstrumentedNestedLifecycle(InstrumentedLifecycle, NestedLifecycle):
    """An instrumented lifecycle of a type whose physical side is a nested stack."""


class _NullAttributes(dict[str, Any]):
    """The attributes of a member of an unknown type: it has each, null."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> None:
        return None


def instrument(cls: type[Resource], *arguments: Any, **options: Any) -> InstrumentedLifecycle:
    """An ``InstrumentedLifecycle`` of a type, for a nested stack as well."""
    if not cls.is_nested_stack:
        return InstrumentedLifecycle(cls, *arguments, **options)
    return InstrumentedNestedLifecycle(
        cls, *arguments, attributes_of=lambda entry: _NullAttributes(), **options
    )


def _call_handle_find(instance: Resource, operation: FakeOperation) -> Any:
    """The result of ``handle_find`` for an interrupted operation; None where it is not asked."""
    find = getattr(instance, "handle_find", None)
    is_asked = find is not None and instance.start_policy == "find"
    return find(operation.id) if find is not None and is_asked else None


def find_id_fault(value: object) -> str:
    """The fault of a physical id; empty where there is none."""
    if value is not None and len(str(value)) > LONGEST_ID:
        return f"the physical id has {len(str(value))} characters, and {LONGEST_ID} are kept"
    return ""


def find_data_fault(key: object, value: object) -> str:
    """The fault of an entry of ``data_set``; empty where there is none."""
    if isinstance(value, dict | list | tuple | set | frozenset | bytes):
        kind = type(value).__name__
        return f"data_set({key!r}) is given a {kind}, and keeps its repr: store json.dumps(value)"
    return ""


def find_token_fault(action: str, token: object) -> str:
    """The fault of a token that a handler returned; empty where there is none."""
    try:
        json.dumps(token, allow_nan=False)
    except (TypeError, RecursionError):
        return ""  # the rule about restarts tells what becomes of it
    except ValueError:
        return f"the token of {action} holds a number that JSON has not (NaN, Infinity), or itself"
    return ""


class ClassState:
    """The containers in the body of a class, which a restart resets."""

    def __init__(self, cls: type[Resource]) -> None:
        self._initial_values = [
            (owner, name, value, copy.copy(value)) for owner, name, value in _list_containers(cls)
        ]

    def list_changed(self) -> list[str]:
        """The names of the containers whose content differs from the first one."""
        return [
            f"{owner.__name__}.{name}"
            for owner, name, now, then in self._initial_values
            if now != then
        ]

    def forget(self) -> None:
        """Restore the first content of each container, as a restart does."""
        for _, _, now, then in self._initial_values:
            if now != then:
                _refill(now, then)


def _list_containers(cls: type[Resource]) -> Iterator[tuple[type[Any], str, Any]]:
    for owner in cls.__mro__:
        if owner in Resource.__mro__:
            continue
        for name, value in vars(owner).items():
            if isinstance(value, dict | list | set):
                yield owner, name, value


def _refill(container: Any, content: Any) -> None:
    container.clear()
    if isinstance(container, list):
        container.extend(content)
    else:
        container.update(content)
