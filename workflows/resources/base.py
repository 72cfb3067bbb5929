"""The base class of resources whose actions are workflows.

A subclass says by ``_run_of`` what an action has to do; any runner does it. What later operations
need is one entry of the resource's data, written when a workflow has ended well::

    record   {"input": last input that succeeded, "outputs": merged, "update": key of the UPDATE,
              "last": key of the last run that ended well}

``create_key`` and ``update_key`` are written before the first send: the first lets a DELETE name a
CREATE of unknown outcome, the second shows that an UPDATE began and never ended well. The token and
how a run goes on: ``zonda.hooks.resources.workflow_run``; its limits: ``runs``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, Literal

from zonda.hooks import (
    NotReady,
    ResourceFailure,
    RunToken,
    WorkflowRun,
    new_token,
    properties,
    resource,
    to_error,
)
from zonda.hooks.runners import Failed, Lost, ResourceRef, Succeeded, WorkflowRunner

from . import payload, secret_fingerprints, workflow_call
from .redacting_runner import RedactingRunner
from .workflow_call import WorkflowCall


class WorkflowResource(resource.Resource):
    """A resource that is made, changed and removed by workflows."""

    start_policy: ClassVar[Literal["fail", "idempotent", "find"]] = "idempotent"
    #: So many characters of an id that a workflow gives are kept; None: all.
    longest_id: ClassVar[int | None] = None
    reference_may_change: ClassVar[bool] = True  # an UPDATE may give another resource_id
    #: The token of a run that waits for its turn to be sent.
    _unsent: RunToken | None = None

    # -- what a subclass says ---------------------------------------------------------------

    def _build_call(self, action: str, props: properties.Properties) -> WorkflowCall | None:
        """The workflow call of ``action`` for these properties; None: there is nothing to do."""
        raise NotImplementedError

    def _select_output(self, action: str, output: Mapping[str, Any]) -> Mapping[str, Any]:
        """The part of a workflow's output that is stored."""
        return output

    def _takes_new_id(self) -> bool:
        """Whether an UPDATE may answer with another ``resource_id``."""
        return True

    def _deletes_old_id(self) -> bool:
        """Whether the resource with the former id is deleted then."""
        return False

    # -- life cycle -------------------------------------------------------------------------

    def handle_create(self) -> RunToken | None:
        """Start CREATE."""
        return self._begin("CREATE", self.properties)

    def handle_delete(self) -> RunToken | None:
        """Start DELETE, whatever became of CREATE."""
        return self._begin("DELETE", self.properties)

    def check_create_complete(self, token: RunToken | None) -> bool:
        """Whether the execution has ended well."""
        return self._proceed(token)

    check_update_complete = check_create_complete
    check_delete_complete = check_create_complete

    def handle_create_cancel(self, token: RunToken | None) -> None:
        """Ask the runner to end the execution, where it can."""
        if token:
            self._open_run(token).cancel()

    handle_update_cancel = handle_create_cancel
    handle_delete_cancel = handle_create_cancel

    def check_cancel_complete(self, token: RunToken | None) -> str:
        """The end of a cancelled run as text; empty where it is unknown. Raises NotReady."""
        result = None if not token else self._open_run(token).poll_cancelled()
        if result is None or token is None:
            return ""
        return payload.describe_result(result)

    def needs_replace_failed(self) -> bool:
        """A failed UPDATE is tried again on the same physical resource."""
        return self.action != "UPDATE"

    # -- executions -------------------------------------------------------------------------

    def _begin(self, action: str, props: properties.Properties) -> RunToken | None:
        self._unsent = self._unsent or self._prepare_run(action, props)
        return None if self._unsent is None else self._open_run(self._unsent).start()

    def _prepare_run(self, action: str, props: properties.Properties) -> RunToken | None:
        """Build the token of the run of ``action``; None: there is nothing to do."""
        run = self._build_call(action, props)
        if run is None:
            return None
        token = self._build_token(action, run)
        if action == "CREATE":
            self.data_set("create_key", token["key"], redact=True)
        if action == "UPDATE":
            self.data_set("update_key", token["key"], redact=True)
        return token

    def _build_token(self, action: str, run: WorkflowCall) -> RunToken:
        token = new_token(self, action, run.workflow, run.inputs, run.params, run.description)
        workflow_call.set_limits(token, run, self.context.clock.now())
        return token

    def _open_run(self, token: RunToken) -> WorkflowRun:
        execution = WorkflowRun(self, token, self._build_late_fields)
        if self._list_secret_names(token) or "@" in token["request"]["workflow"]:
            execution.runner_for = lambda workflow: self._build_redacting_runner(token, workflow)
        return execution

    def _build_redacting_runner(self, token: RunToken, workflow: str) -> tuple[WorkflowRunner, str]:
        from zonda.hooks.http import list_url_secrets  # few runs need it

        runner, known_as = self.context.runner(workflow)

        def find_sent_secrets() -> secret_fingerprints.SentSecrets:
            found = secret_fingerprints.find_sent_secrets(
                token, self._list_secret_names(token), self.context.secret
            )
            return replace(found, values=[*found.values, *list_url_secrets(known_as)])

        return RedactingRunner(runner, token["action"], find_sent_secrets), known_as

    def _build_late_fields(self, token: RunToken) -> Mapping[str, Any]:
        """The request fields that are only known when it is sent, earlier outputs among them."""
        action, record = token["action"], self._read_record()
        data = None if action == "CREATE" else record.get("outputs")
        if data is None and action != "CREATE" and self.resource_id is not None:
            data = {}
        sent = workflow_call.insert_secrets(
            token,
            lambda name: secret_fingerprints.record_secret(token, name, self.context.secret(name)),
        )
        known = {
            "inputs": sent["inputs"],
            "old_inputs": record.get("input", {}) if action == "UPDATE" else None,
            "params": payload.add_data(sent["params"], data),
            "data": data,
            "create_key": self.data().get("create_key") if action == "DELETE" else None,
        }
        operation = self.context.operation
        if "until" in token and operation is not None:
            known["deadline"] = min(operation.deadline, token["until"])
        if "old_id" in token:
            known["resource"] = ResourceRef(self.uuid, self.name, self.type(), token["old_id"])
        return known

    def _proceed(self, token: RunToken | None) -> bool:
        if token is None:
            return True
        execution = self._open_run(token)
        result = self._poll_result(token, execution)
        if result is None:
            return False
        if isinstance(result, Lost):
            if self._read_record().get("last") == token["key"]:
                return True  # its result is stored, and the runner has forgotten it since
            if token["action"] == "DELETE":
                execution.send_again(result)  # to delete twice does no harm
            raise to_error(result)
        self._apply_result(token, result)
        execution.forget()
        return True

    def _poll_result(
        self, token: RunToken, execution: WorkflowRun
    ) -> Succeeded | Failed | Lost | None:
        """The result of the run; polled once more when its time is over, but not sent."""
        if "pending" in token:
            self._check_time(token, execution)
        try:
            result = execution.poll()
        except NotReady as waits:
            self._check_time(token, execution)
            left = token.get("until", 0.0) - self.context.clock.now()
            waits.delay = min(waits.delay, max(left, 1.0)) if "until" in token else waits.delay
            raise
        if result is None:
            self._check_time(token, execution)
        return result

    def _list_secret_names(self, token: RunToken) -> Collection[str]:
        """References of all secrets that an answer may repeat."""
        return workflow_call.list_references(token)

    def _check_time(self, token: RunToken, execution: WorkflowRun) -> None:
        """Raise ResourceFailure for a run whose time is over; a cancelled one may still end."""
        now = self.context.clock.now()
        workflow_call.clamp_times(token, now)
        if "until" not in token or now < token["until"] or "result" in token:
            return
        if token["on_timeout"] == workflow_call.CANCEL and "run" in token:
            if "cancelled" not in token:
                token["cancelled"] = now
                execution.cancel()
            if now < token["cancelled"] + workflow_call.CANCEL_GRACE:
                return
        said = " The runner was asked to cancel it." if "cancelled" in token else ""
        raise ResourceFailure(f"{token['action']} took longer than its timeout.{said}")

    # -- results ----------------------------------------------------------------------------

    def _apply_result(self, token: RunToken, result: Succeeded | Failed) -> None:
        if isinstance(result, Failed):
            self._handle_failure(token, result)
        if "old_id" in token:
            self._store_record({**self._read_record(), "owed": None})
            return
        given = result.resource_id or (result.output or {}).get("resource_id")
        old = self.resource_id
        if given and token["action"] == "UPDATE":
            self._check_new_id(old, self._to_physical_id(given))
        if given:
            self._record_owed(token, old, self._to_physical_id(given))
            self.resource_id_set(self._to_physical_id(given))
        elif token["action"] == "CREATE":
            self.resource_id_set(token.get("execution") or token["key"])
        self._merge_output(token, result.output or {})
        owed = self._read_record().get("owed")
        if owed and token["action"] in ("UPDATE", "DELETE"):
            self._delete_old(token, owed)

    def _handle_failure(self, token: RunToken, result: Failed) -> None:
        owned = result.resource_id or (result.output or {}).get("resource_id")
        operation, now = self.context.operation, self.context.clock.now()
        ended = "cancelled" in token or now >= token.get("until", inf)
        if token.get("retries") and not owned and not ended and operation:
            delay = workflow_call.prepare_next_try(token, operation.id, now)
            if token["action"] == "CREATE":
                self.data_set("create_key", token["key"], redact=True)
            elif token["action"] == "UPDATE":
                self.data_set("update_key", token["key"], redact=True)
            raise NotReady(delay, f"run {token['try'] - 1} failed: {result.reason}")
        self._store_for_clean_up(token, result)
        raise to_error(result)

    def _check_new_id(self, old: str | None, new: str) -> None:
        if old is not None and old != new and not self._takes_new_id():
            raise ResourceFailure(
                f"UPDATE answered with another resource_id ({new} instead of {old}).",
                hint="Say allow_id_change: true if that means a new thing, or answer with the old.",
            )

    def _record_owed(self, token: RunToken, old: str | None, new: str) -> None:
        """Store the former id, which must be deleted, before it is replaced."""
        if token["action"] == "UPDATE" and old not in (None, new) and self._deletes_old_id():
            self._store_record({**self._read_record(), "owed": old})

    def _delete_old(self, token: RunToken, old: str) -> None:
        """Run DELETE for the former id, within the same operation. Raises NotReady."""
        run, operation = self._build_call("DELETE", self.properties), self.context.operation
        if run is None or operation is None:
            return
        made = self._build_token("DELETE", run)
        token.clear()
        token.update(made, old_id=old, retries=0, delay=0.0, next=0.0)
        token["retries"] = 1
        workflow_call.prepare_next_try(token, f"{operation.id}/old", self.context.clock.now())
        raise NotReady(0.0, f"removing {old}")

    def _store_for_clean_up(self, token: RunToken, failed: Failed) -> None:
        """Store the id of a failed CREATE, for DELETE."""
        output = failed.output or {}
        given = failed.resource_id or output.get("resource_id")
        if token["action"] == "CREATE" and given:
            self._store_record({**self._read_record(), "outputs": output})
            self.resource_id_set(self._to_physical_id(given))

    def _to_physical_id(self, given: Any) -> str:
        """The id that a workflow gave, as text; raises ResourceFailure where it is none."""
        text = str(given)[: self.longest_id]
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ResourceFailure("resource_id is not text: it cannot be encoded") from None
        return text

    def _merge_output(self, token: RunToken, output: Mapping[str, Any]) -> None:
        record = self._read_record()
        kept = self._select_output(token["action"], output)
        record["outputs"] = {**(record.get("outputs") or {}), **kept}
        record["input"] = token["request"]["inputs"]
        record["last"] = token["key"]
        if token["action"] == "UPDATE":
            record["update"] = token["key"]
        self._store_record(record)

    def _read_record(self) -> dict[str, Any]:
        text = self.data().get("record")
        return json.loads(text) if text else {}

    def _store_record(self, record: Mapping[str, Any]) -> None:
        self.data_set("record", json.dumps(record), redact=True)

    def _update_is_open(self) -> bool:
        """Whether the last UPDATE that began has not ended well, or left something behind."""
        key, record = self.data().get("update_key"), self._read_record()
        return key is not None and (record.get("update") != key or bool(record.get("owed")))


class SuspendPart(WorkflowResource):
    """The handlers of a type with SUSPEND."""

    def handle_suspend(self) -> RunToken | None:
        """Start SUSPEND."""
        return self._begin("SUSPEND", self.properties)

    check_suspend_complete = WorkflowResource.check_create_complete
    handle_suspend_cancel = WorkflowResource.handle_create_cancel


class ResumePart(WorkflowResource):
    """The handlers of a type with RESUME."""

    def handle_resume(self) -> RunToken | None:
        """Start RESUME."""
        return self._begin("RESUME", self.properties)

    check_resume_complete = WorkflowResource.check_create_complete
    handle_resume_cancel = WorkflowResource.handle_create_cancel
