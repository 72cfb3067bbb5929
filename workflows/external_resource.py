"""``OS::Mistral::ExternalResource``: a resource whose actions are workflows.

Made by the engine for one operation. Any runner executes the workflows. What later operations
need is one entry of the resource's data, written when a workflow has ended well::

    record   {"input": last input that succeeded, "outputs": merged, "update": key of the UPDATE}

``create_key`` and ``update_key`` are written before the first send: the first lets a DELETE name a
CREATE of unknown outcome, the second shows that an UPDATE began and never ended well. The token and
how a run goes on: ``zonda.hooks.execution``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from zonda.hooks import attributes, properties, resource
from zonda.hooks.errors import ResourceFailure, TemplateError, UpdateReplace, UsageError
from zonda.hooks.execution import Execution, Token, failure, plain, token_of
from zonda.hooks.runner import Failed, Lost, Succeeded

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
        new = plain(after[INPUT] or {})
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
        if token:
            self._execution(token).cancel()

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
        old, new = plain(before[INPUT] or {}), plain(after[INPUT] or {})
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
        token = token_of(
            self,
            action,
            entry[WORKFLOW],
            props[INPUT] or {},
            entry.get(PARAMS),
            props[DESCRIPTION] or "",
        )
        if action == "CREATE":
            self.data_set("create_key", token["key"], redact=True)
        if action == "UPDATE":
            self.data_set("update_key", token["key"], redact=True)
        return self._execution(token).begin()

    def _execution(self, token: Token) -> Execution:
        return Execution(self, token, self._what_is_known)

    def _what_is_known(self, token: Token) -> Mapping[str, Any]:
        """What every run but CREATE is told of those before."""
        action, record = token["action"], self._record()
        data = None if action == "CREATE" else record.get("outputs")
        if data is None and action != "CREATE" and self.resource_id is not None:
            data = {}
        return {
            "old_inputs": record.get("input", {}) if action == "UPDATE" else None,
            "params": executions.with_data(token["request"]["params"], data),
            "data": data,
            "create_key": self.data().get("create_key") if action == "DELETE" else None,
        }

    def _proceed(self, token: Token | None) -> bool:
        if token is None:
            return True
        execution = self._execution(token)
        result = execution.result()
        if result is None:
            return False
        if isinstance(result, Lost):
            if token["action"] == "DELETE":
                execution.send_again(result)  # to delete twice does no harm
            raise failure(result)
        self._end(token, result)
        execution.forget()
        return True

    # -- results ----------------------------------------------------------------------------

    def _end(self, token: Token, result: Succeeded | Failed) -> None:
        if isinstance(result, Failed):
            self._keep_for_clean_up(token, result)
            raise failure(result)
        given = result.resource_id or (result.output or {}).get("resource_id")
        if given:
            self.resource_id_set(_physical_id(given))
        elif token["action"] == "CREATE":
            self.resource_id_set(token.get("execution") or token["key"])
        self._merge(token, result.output or {})

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
