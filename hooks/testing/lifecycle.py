"""The lifecycle of one resource, for unit tests. Plug-in authors import it from ``testing``.

The driver does what the engine does, without a database: it makes a new instance for every single
call, from what was stored, and sends the token through JSON. So whatever a plug-in keeps on
``self`` between ``handle_X`` and ``check_X_complete`` is lost, as it is when the engine restarts.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Literal

from ..errors import (
    NotReady,
    NotSupported,
    PluginError,
    ResourceFailure,
    UpdateReplace,
    ValidationErrors,
)
from ..resources.definition import ResourceDefinition
from ..resources.resource import Resource, ResourceState
from ..text.sanitize import get_retry_delay, note_lost_attribute
from .fakes import FakeContext, FakeOperation, Saved

Outcome = Literal["updated", "replaced", "unchanged"]


class Lifecycle:
    """Drives one resource of class ``cls``; every method runs one operation to its end.

    An operation that fails leaves the status ``FAILED`` and raises what the plug-in raised. The
    clock is advanced by ``poll_every`` seconds between checks (or by what ``NotReady`` says), and
    an operation that is not complete after ``timeout`` seconds fails. ``history`` holds (action,
    status) of every operation, ``polls`` how often the last one was checked.
    """

    def __init__(
        self,
        cls: type[Resource],
        properties: Mapping[str, Any] | None = None,
        *,
        name: str = "resource",
        type_name: str = "Test::Resource",
        metadata: Mapping[str, Any] | None = None,
        context: FakeContext | None = None,
        poll_every: float = 1.0,
        timeout: float = 3600.0,
    ) -> None:
        self.cls = cls
        self.context = context or FakeContext()
        self.definition = ResourceDefinition(
            name, type_name, properties=dict(properties or {}), metadata=dict(metadata or {})
        )
        self.action = "INIT"
        self.status = "COMPLETE"
        self.history: list[tuple[str, str]] = []
        self.polls = 0
        self._checked = ""
        self.poll_every = poll_every
        self.timeout = timeout
        # Ids of its own, so that what a test sees of the context's randomness is the plug-in's.
        self._ids = random.Random(0)
        self.uuid = self._new_id()
        self._completed: set[str] = set()  # ids of what was created, adopted or updated

    def _new_id(self) -> str:
        return str(uuid.UUID(int=self._ids.getrandbits(128), version=4))

    # -- looking -------------------------------------------------------------------------------

    @property
    def saved(self) -> Saved:
        """The stored data of the resource."""
        return self.context.saved

    @property
    def resource_id(self) -> str | None:
        """The physical id."""
        return self.saved.resource_id

    @property
    def state(self) -> tuple[str, str]:
        """The last action and its status."""
        return self.action, self.status

    @property
    def reference(self) -> str:
        """The reference (``get_resource``)."""
        return self.instance().get_reference_id()

    def attribute(self, name: str, *path: Any) -> Any:
        """The value of an attribute (``get_attr``)."""
        return self.instance().FnGetAtt(name, *path)

    def instance(self, definition: ResourceDefinition | None = None) -> Resource:
        """A new instance, made from what was stored alone."""
        state = ResourceState(
            uuid=self.uuid,
            resource_id=self.saved.resource_id,
            action=self.action,
            status=self.status,
            data=dict(self.saved.data),
            metadata=json.loads(json.dumps(self.saved.metadata)),
        )
        chosen = self.definition if definition is None else definition
        return self.cls(chosen.name, chosen, self.context, state)

    # -- operations -----------------------------------------------------------------------------

    def validate(self) -> None:
        """Validate as for a template; raises ValidationErrors with every fault."""
        instance = self.instance()
        faults = instance.properties.validate(("resources", instance.name, "properties"))
        if faults:
            raise ValidationErrors(faults)
        instance.validate()

    def create(self) -> None:
        """Create the resource."""
        self.saved.metadata = dict(self.definition.metadata)
        self._run("CREATE", lambda instance: _check_properties(instance).handle_create())

    def adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Bind the resource to something that exists; ``resource_data``: see ``handle_adopt``."""
        self.saved.metadata = dict(self.definition.metadata)
        self._run("ADOPT", lambda instance: _check_properties(instance).handle_adopt(resource_data))

    def update(
        self, properties: Mapping[str, Any], *, metadata: Mapping[str, Any] | None = None
    ) -> Outcome:
        """Update in place or replace, as the plug-in and its schema want it."""
        before = self.definition
        after = before.freeze(
            properties=dict(properties),
            metadata=dict(before.metadata if metadata is None else metadata),
        )
        instance = self.instance()
        if self.cls.never_update:
            return "unchanged"
        try:
            wanted = instance.needs_update(self.instance(after), after != before)
            if not wanted and self.status != "FAILED":
                self.definition = after
                return "unchanged"
            self._update(instance, after)
        except UpdateReplace:
            self.replace(properties, metadata=metadata)
            return "replaced"
        return "updated"

    def _update(self, old: Resource, after: ResourceDefinition) -> None:
        if self.status == "FAILED" and old.needs_replace_failed():
            raise UpdateReplace(old.name)
        new = _check_properties(self.instance(after))
        changed = new.properties.diff(old.properties)
        fixed = new.properties.immutable(changed)
        if fixed:
            named = f"properties {', '.join(fixed)} of {old.name} ({old.type()})"
            raise NotSupported(f"Update to {named} is not supported.")
        if changed and old.needs_replace_with_prop_diff(changed, new.properties, old.properties):
            raise UpdateReplace(old.name)
        if not new.properties.update_allowed(changed):
            raise UpdateReplace(old.name)
        values = new.properties.changes(old.properties)
        different = {key: after[key] for key in after if after[key] != self.definition[key]}
        if "metadata" in different:
            self.saved.metadata = dict(after.metadata)
        self._run("UPDATE", lambda instance: instance.handle_update(after, different, values))
        self.definition = after

    def replace(
        self, properties: Mapping[str, Any], *, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Create a new resource with ``properties``, then delete the old one.

        One whose creation has failed is deleted before, any other is made ready.
        """
        goes_first = self.action != "INIT" and self.uuid not in self._completed
        if goes_first:
            self.delete()
        elif self.uuid in self._completed:
            self._prepare_for_replace()
        old = self.definition, self.uuid, self.saved, self.action, self.status
        given = self.definition.metadata if metadata is None else metadata
        self.definition = self.definition.freeze(properties=dict(properties), metadata=dict(given))
        self.uuid, self.context.saved = self._new_id(), Saved()
        self.action, self.status = "INIT", "COMPLETE"
        self.create()
        if goes_first:
            return
        new = self.definition, self.uuid, self.saved, self.action, self.status
        self._switch_to(*old)
        self.delete()
        self._switch_to(*new)

    def _prepare_for_replace(self) -> None:
        prepare = getattr(self.cls, "prepare_for_replace", None)
        if prepare is None:
            return
        self.context.operation = operation = self._new_operation("UPDATE")
        try:
            self._start(prepare, operation)
        except BaseException:
            self.action, self.status = "UPDATE", "FAILED"
            raise
        finally:
            self.context.operation = None

    def _switch_to(
        self, definition: ResourceDefinition, uuid_: str, saved: Saved, action: str, status: str
    ) -> None:
        self.definition, self.uuid, self.context.saved = definition, uuid_, saved
        self.action, self.status = action, status

    def suspend(self) -> None:
        """Suspend the resource."""
        self._run("SUSPEND", _call_if_defined("handle_suspend"))

    def resume(self) -> None:
        """Resume the resource."""
        self._run("RESUME", _call_if_defined("handle_resume"))

    def check(self) -> None:
        """Check the resource."""
        self._run("CHECK", _call_if_defined("handle_check"))

    def snapshot(self) -> dict[str, Any]:
        """Take a snapshot of the resource; gives what ``delete_snapshot`` takes."""
        self._run("SNAPSHOT", _call_if_defined("handle_snapshot"))
        return {
            "name": self.definition.name,
            "type": self.definition.type,
            "resource_id": self.resource_id,
            "action": self.action,
            "status": self.status,
            "metadata": dict(self.saved.metadata),
            "resource_data": dict(self.saved.data),
        }

    def delete_snapshot(self, snapshot: Mapping[str, Any]) -> None:
        """Delete what ``snapshot`` has given; the resource itself stays what it is."""
        before, self._checked = self.state, "delete_snapshot"
        try:
            self._run("DELETE", _call_if_defined("handle_delete_snapshot", dict(snapshot)))
        finally:
            self._checked = ""
            self.history.pop()
            self.action, self.status = before

    def delete(self, policy: Literal["Delete", "Snapshot"] = "Delete") -> None:
        """Delete the resource; with the policy Snapshot by ``handle_snapshot_delete``."""
        before = self.state

        def handle(instance: Resource) -> Any:
            snapshots = getattr(instance, "handle_snapshot_delete", None)
            if policy == "Snapshot" and snapshots is not None:
                return snapshots(before)
            return instance.handle_delete()

        self._run("DELETE", handle)

    def live_state(self) -> Mapping[str, Any] | None:
        """The result of ``get_live_state``, as a drift check asks for it.

        ``NotReady`` lets the clock advance and asks a new instance. The plug-in may store nothing;
        ``context.observation`` is kept between its calls, and goes through JSON.
        """
        known, self.context.operation = self.context.operation, self._new_operation("CHECK")
        self.context.is_read_only, self.context.observation = True, {}
        try:
            return self._observe()
        finally:
            self.context.operation, self.context.is_read_only = known, False
            self.context.observation = {}

    def _observe(self) -> Mapping[str, Any] | None:
        while True:
            instance = self.instance()
            try:
                return instance.get_live_state()
            except NotReady as error:
                self._wait(get_retry_delay(error))
            observation = _round_trip_json(self.context.observation, instance, "an observation")
            self.context.observation = observation

    def signal(self, details: Any = None) -> Any:
        """Send a signal; returns the result of ``handle_signal``."""
        return _call_if_defined("handle_signal", details)(self.instance())

    # -- the engine's part ----------------------------------------------------------------------

    def _new_operation(self, action: str) -> FakeOperation:
        now = self.context.clock.now()
        return FakeOperation(self._new_id(), action, now, now + self.timeout)

    def _run(self, action: str, handle: Callable[[Resource], Any]) -> None:
        self.context.operation = operation = self._new_operation(action)
        self.action, self.status, self.polls = action, "IN_PROGRESS", 0
        try:
            self._complete(action, self._start(handle, operation))
        except UpdateReplace:
            # Nothing was done: the resource is what it was, until the replacement is there.
            self.status = "COMPLETE"
            raise
        except BaseException as error:
            note_lost_attribute(error)
            self.status = "FAILED"
            self.history.append(self.state)
            raise
        finally:
            self.context.operation = None
        self.status = "COMPLETE"
        self.history.append(self.state)
        if action in ("CREATE", "ADOPT", "UPDATE"):
            self._completed.add(self.uuid)

    def _start(self, handle: Callable[[Resource], Any], operation: FakeOperation) -> Any:
        attempt = 1
        while True:
            try:
                return handle(self.instance())
            except NotReady as error:
                self._wait(get_retry_delay(error))
            attempt += 1
            self.context.operation = FakeOperation(
                operation.id, operation.action, operation.started_at, operation.deadline, attempt
            )

    def _complete(self, action: str, token: Any) -> None:
        method = f"check_{self._checked or action.lower()}_complete"
        while True:
            instance = self.instance()
            check = getattr(instance, method, None)
            if check is None:
                return
            token = self._store_token(token, instance)
            self.polls += 1
            try:
                if check(token):
                    return
                self._wait(self.poll_every)
            except NotReady as error:
                self._wait(get_retry_delay(error))

    def _store_token(self, token: Any, instance: Resource) -> Any:
        """The token as it is after it was stored."""
        return _round_trip_json(token, instance)

    def _wait(self, seconds: float) -> None:
        self.context.clock.advance(seconds)
        operation = self.context.operation
        if operation is not None and self.context.clock.now() > operation.deadline:
            raise ResourceFailure(f"{operation.action} timed out")


def _check_properties(instance: Resource) -> Resource:
    faults = instance.properties.validate((instance.name, "Properties"))
    if faults:
        raise ValidationErrors(faults)
    return instance


def _call_if_defined(method: str, *arguments: Any) -> Callable[[Resource], Any]:
    def call(instance: Resource) -> Any:
        handler = getattr(instance, method, None)
        return None if handler is None else handler(*arguments)

    return call


def _round_trip_json(value: Any, instance: Resource, what: str = "a token") -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise PluginError(
            f"{type(instance).__name__} gave {what} that is not JSON: {error}",
            plugin=type(instance).__name__,
            hint="Return text, numbers, lists and maps; keep the rest in data_set.",
        ) from error
