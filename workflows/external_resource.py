"""``OS::Mistral::ExternalResource``: a resource whose actions are workflows.

Made by the engine for one operation. Any runner executes the workflows. What later operations
need is one entry of the resource's data, written when a workflow has ended well::

    record   {"input": last input that succeeded, "outputs": merged, "update": key of the UPDATE}

``create_key`` and ``update_key`` are written before the first send: the first lets a DELETE name a
CREATE of unknown outcome, the second shows that an UPDATE began and never ended well. The token::

    {"key", "action", "request": {...}}      what every send repeats, plus one of
    "run": the runner's token | "pending": {attempt, answered, memory} | "result": {...}
    "next": the time before which the first check has nothing to do
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from zonda.hooks import attributes, properties, resource
from zonda.hooks.errors import NotReady, ResourceFailure, TemplateError, UpdateReplace, UsageError
from zonda.hooks.runner import (
    Failed,
    Finished,
    Lost,
    ResourceRef,
    Retry,
    Running,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
)

from . import executions
from .external_schema import (
    ACTIONS,
    ALWAYS_UPDATE,
    ATTRIBUTES_SCHEMA,
    DESCRIPTION,
    INPUT,
    OUTPUT,
    PARAMS,
    PROPERTIES_SCHEMA,
    REPLACE_INPUTS,
    WORKFLOW,
)

#: Keys of executions are made in this namespace, from the operation's id.
NAMESPACE = uuid.UUID("6a0f3c52-43a1-5d5b-8a58-0f5ad1b6f7c9")
_RESEND_LOST = 5.0
_LONGEST_WAIT = 300.0
#: Codes of failures: the workflow's own, a run that is lost, and a runner that cannot run it.
_FAILED, _LOST, _NOT_RUN = "ZON303", "ZON304", "ZON305"

Token = dict[str, Any]


class ExternalResource(resource.Resource):
    """A resource that is made, changed and removed by workflows."""

    start_policy: ClassVar[Literal["fail", "idempotent", "find"]] = "idempotent"
    reference_may_change: ClassVar[bool] = True  # an UPDATE may give another resource_id

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = PROPERTIES_SCHEMA
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = ATTRIBUTES_SCHEMA

    # -- validation -------------------------------------------------------------------------

    def validate(self) -> None:
        """Ask the runners about workflows that are known already."""
        raw = self.t.raw.get("properties") or self.t.properties
        for name, action in (self.properties[ACTIONS] or {}).items():
            written = executions.below(raw, ACTIONS, name, WORKFLOW)
            workflow = (action or {}).get(WORKFLOW)
            if workflow and not executions.reads_others(written):
                self._check(name, workflow)

    def _check(self, action: str, workflow: str) -> None:
        try:
            runner, known_as = self.context.runner(workflow)
            runner.check(known_as)
        except (UsageError, ResourceFailure) as error:
            path = ("resources", self.name, "properties", ACTIONS, action, WORKFLOW)
            raise TemplateError(
                error.message, path=path, label="Property error", hint=error.hint
            ) from error

    # -- life cycle -------------------------------------------------------------------------

    def handle_create(self) -> Token | None:
        """Start CREATE."""
        return self._begin("CREATE", self.properties)

    def handle_update(
        self,
        json_snippet: resource.ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> Token | None:
        """Start UPDATE if the input changed, UPDATE failed before or runs always."""
        after = self.make_properties(json_snippet)
        record = self._record()
        known = record.get("input")
        new = executions.plain(after[INPUT] or {})
        if known is not None and executions.replaces(after[REPLACE_INPUTS], known, new):
            raise UpdateReplace(self.name)
        token = None
        if INPUT in prop_diff or after[ALWAYS_UPDATE] or self._update_is_open():
            token = self._begin("UPDATE", after)
        if token is None and new != known:
            self._store({**record, "input": new, "update": self.data().get("update_key")})
        return token

    def handle_delete(self) -> Token | None:
        """Start DELETE, whatever became of CREATE."""
        return self._begin("DELETE", self.properties)

    def handle_suspend(self) -> Token | None:
        """Start SUSPEND."""
        return self._begin("SUSPEND", self.properties)

    def handle_resume(self) -> Token | None:
        """Start RESUME."""
        return self._begin("RESUME", self.properties)

    def check_create_complete(self, token: Token | None) -> bool:
        """Whether the execution has ended well."""
        return self._proceed(token)

    check_update_complete = check_create_complete
    check_delete_complete = check_create_complete
    check_suspend_complete = check_create_complete
    check_resume_complete = check_create_complete

    def handle_create_cancel(self, token: Token | None) -> None:
        """Ask the runner to end the execution, where it can."""
        run = (token or {}).get("run")
        if token and run is not None:
            runner, _ = self.context.runner(token["request"]["workflow"])
            runner.cancel(run, "the operation was cancelled")

    handle_update_cancel = handle_create_cancel
    handle_delete_cancel = handle_create_cancel
    handle_suspend_cancel = handle_create_cancel
    handle_resume_cancel = handle_create_cancel

    def needs_replace_failed(self) -> bool:
        """A failed UPDATE is tried again on the same physical resource."""
        return self.action != "UPDATE"

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Whether an input changed that the new definition lists."""
        old, new = executions.plain(before[INPUT] or {}), executions.plain(after[INPUT] or {})
        return executions.replaces(after[REPLACE_INPUTS], old, new)

    def always_update(self) -> bool:
        """Whether UPDATE runs on the next update, changes or not: asked for, or owed."""
        return bool(self.properties[ALWAYS_UPDATE]) or self._update_is_open()

    def _resolve_attribute(self, name: str) -> Any:
        return self._record().get("outputs") if name == OUTPUT else None

    # -- executions -------------------------------------------------------------------------

    def _begin(self, action: str, props: properties.Properties) -> Token | None:
        entry = (props[ACTIONS] or {}).get(action)
        if not entry or not entry.get(WORKFLOW):
            return None
        operation = self.context.operation
        if operation is None:
            raise ResourceFailure(f"{action} was called outside an operation")
        key = str(uuid.uuid5(NAMESPACE, operation.id))
        token: Token = {
            "key": key,
            "action": action,
            "request": {
                "workflow": entry[WORKFLOW],
                "params": executions.plain(entry.get(PARAMS) or {}),
                "inputs": executions.plain(props[INPUT] or {}),
                "description": props[DESCRIPTION] or "",
            },
            "pending": {"attempt": 1, "answered": False, "memory": {}},
        }
        if action == "CREATE":
            self.data_set("create_key", key, redact=True)
        if action == "UPDATE":
            self.data_set("update_key", key, redact=True)
        token["next"] = self.context.clock.now() + self._send(token)
        return token

    def _send(self, token: Token) -> float:
        """Send the request of ``token`` once; ``token`` tells what came of it. Gives a delay."""
        runner, name = self.context.runner(token["request"]["workflow"])
        pending = token.pop("pending")
        answer = runner.start(self._request(token, name, pending))
        if isinstance(answer, Retry):
            token["pending"] = {
                "attempt": pending["attempt"] + 1,
                "answered": pending["answered"] or answer.answered,
                "memory": dict(answer.memory),
            }
            self.context.progress(answer.message)
            return answer.delay
        token["execution"] = answer.execution_id
        if isinstance(answer, Finished):
            # Kept in the token and applied by the check: a crash in between finds it again.
            token["result"] = executions.to_json(answer.result)
            return 0.0
        assert isinstance(answer, Started)
        token["run"] = dict(answer.token)
        return answer.poll_after or 0.0

    def _request(self, token: Token, workflow: str, pending: Mapping[str, Any]) -> StartRequest:
        operation = self.context.operation
        assert operation is not None
        action, record = token["action"], self._record()
        data = None if action == "CREATE" else record.get("outputs")
        if data is None and action != "CREATE" and self.resource_id is not None:
            data = {}
        request = token["request"]
        return StartRequest(
            workflow=workflow,
            action=action,
            key=token["key"],
            deadline=operation.deadline,
            stack=self.context.stack,
            resource=ResourceRef(self.uuid, self.name, self.type(), self.resource_id),
            inputs=request["inputs"],
            old_inputs=record.get("input", {}) if action == "UPDATE" else None,
            params=executions.with_data(request["params"], data),
            description=request["description"],
            data=data,
            create_key=self.data().get("create_key") if action == "DELETE" else None,
            started_at=operation.started_at,
            attempt=pending["attempt"],
            answered=pending["answered"],
            memory=pending["memory"],
        )

    def _proceed(self, token: Token | None) -> bool:
        if token is None:
            return True
        early = min(token["next"] - self.context.clock.now(), _LONGEST_WAIT)
        if early > 0:
            raise NotReady(early)
        if "pending" in token:
            # A result is applied in the next call, when the token that has it is stored: what is
            # applied changes the request, which must not change as long as it may be sent again.
            raise NotReady(self._send(token))
        if "result" in token:
            return self._end(token, executions.from_json(token["result"]))
        runner, _ = self.context.runner(token["request"]["workflow"])
        return self._polled(token, runner)

    def _polled(self, token: Token, runner: WorkflowRunner) -> bool:
        answer = runner.poll(token["run"])
        if isinstance(answer, Running):
            return self._wait(token, answer)
        if isinstance(answer, Lost):
            if token["action"] != "DELETE":
                raise ResourceFailure(answer.reason, code=_LOST)
            return self._resend(token, answer)
        self._end(token, answer)
        runner.forget(token["run"])
        return True

    def _wait(self, token: Token, answer: Running) -> bool:
        if answer.message:
            self.context.progress(answer.message)
        if answer.token is not None:
            token["run"] = dict(answer.token)
        if answer.poll_after is not None:
            raise NotReady(answer.poll_after, answer.message or "running")
        return False

    def _resend(self, token: Token, answer: Lost) -> bool:
        """A lost DELETE is sent again with the same key: to delete twice does no harm."""
        del token["run"]
        token["pending"] = {"attempt": 2, "answered": True, "memory": {}}
        raise NotReady(_RESEND_LOST, answer.reason)

    # -- results ----------------------------------------------------------------------------

    def _end(self, token: Token, result: Succeeded | Failed) -> bool:
        if isinstance(result, Failed):
            self._keep_for_clean_up(token, result)
            code = _NOT_RUN if result.by_runner else _FAILED
            failure = ResourceFailure(result.reason, code=code)
            failure.heat_type = result.heat_type or failure.heat_type
            raise failure
        given = result.resource_id or (result.output or {}).get("resource_id")
        if given:
            self.resource_id_set(_physical_id(given))
        elif token["action"] == "CREATE":
            self.resource_id_set(token.get("execution") or token["key"])
        self._merge(token, result.output or {})
        return True

    def _keep_for_clean_up(self, token: Token, failed: Failed) -> None:
        """A failed CREATE that owns something tells DELETE what."""
        output = failed.output or {}
        given = failed.resource_id or output.get("resource_id")
        if token["action"] == "CREATE" and given:
            self._store({**self._record(), "outputs": output})
            self.resource_id_set(_physical_id(given))

    def _merge(self, token: Token, output: Mapping[str, Any]) -> None:
        record = self._record()
        record["outputs"] = {**(record.get("outputs") or {}), **output}
        record["input"] = token["request"]["inputs"]
        if token["action"] == "UPDATE":
            record["update"] = token["key"]
        self._store(record)

    def _record(self) -> dict[str, Any]:
        text = self.data().get("record")
        return json.loads(text) if text else {}

    def _store(self, record: Mapping[str, Any]) -> None:
        self.data_set("record", json.dumps(record), redact=True)

    def _update_is_open(self) -> bool:
        """Whether the last UPDATE that began has not ended well."""
        key = self.data().get("update_key")
        return key is not None and self._record().get("update") != key


def _physical_id(given: Any) -> str:
    """The physical id that a workflow gave. Raises ResourceFailure for what is no text."""
    if not isinstance(given, str | int | float):
        raise ResourceFailure(f"resource_id is not text: it is {type(given).__name__}")
    text = str(given)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ResourceFailure("resource_id is not text: it cannot be encoded") from None
    return text
