"""``OS::Heat::SoftwareDeployment`` and ``StructuredDeployment``: a configuration, carried out.

On each action that it acts on, a deployment fills in the inputs of its configuration and then waits
for what came of it: for a run, where the environment names a workflow for it, else for a signal.
Either brings a map with the outputs. What is kept in its data::

    inputs     the values of the last action, by name
    outputs    what signals and runs have brought so far
    signal ..  {"op", "details"}: not looked at yet; the first one of an operation counts

The token is None where nothing is waited for, that of an execution, or ``{}``; with the declared
``outputs`` in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from zonda.hooks import (
    InvalidTemplateAttribute,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    RunToken,
    SupportStatus,
    WorkflowRun,
    attributes,
    constraints,
    new_token,
    properties,
    select,
    to_error,
    to_json,
)
from zonda.hooks.runners import Failed, Lost

from ..schema import make_text_schema
from ..signals.received import list_entries, make_entry_key
from . import deployment_values
from .deployment_values import STATUS_CODE, STDERR, STDOUT
from .schema import ACTIONS, CONFIG, DEFAULT_ACTIONS, GROUP, INPUTS, NAME, OPTIONS, OUTPUTS

SERVER, VALUES, DEPLOY_ACTIONS, TRANSPORT = "server", "input_values", "actions", "signal_transport"
INPUT_KEY, VALIDATE = "input_key", "input_values_validate"
NO_SIGNAL = "NO_SIGNAL"
TRANSPORTS = ("CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", NO_SIGNAL, "ZAQAR_SIGNAL")

_Schema = properties.Schema


def _make_output_schema(description: str) -> attributes.Schema:
    return attributes.Schema(description, type=attributes.Schema.STRING, sealed=True)


class SoftwareDeployment(Resource):
    """A configuration that is to be applied to a server.

    Who applies it is up to the environment: a workflow that its section ``zonda: runners`` names
    for the resource gets the configuration and the values of its inputs; without one, whoever does
    it signals the result. With NO_SIGNAL nothing is waited for, unless there is a workflow.
    """

    support_status = SupportStatus(version="2014.1")
    start_policy: ClassVar[Literal["fail", "idempotent", "find"]] = "idempotent"
    #: The content of an empty configuration.
    empty: ClassVar[Any] = ""

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        CONFIG: make_text_schema("The id of the configuration.", update_allowed=True),
        SERVER: make_text_schema("The id of the server that is configured.", required=True),
        VALUES: _Schema(
            _Schema.MAP,
            "Values for the inputs of the configuration, and further ones, by name.",
            update_allowed=True,
        ),
        DEPLOY_ACTIONS: _Schema(
            _Schema.LIST,
            "The actions of this resource on which the configuration is applied.",
            default=DEFAULT_ACTIONS,
            update_allowed=True,
            constraints=[constraints.AllowedValues(list(ACTIONS))],
        ),
        NAME: make_text_schema(
            "A name for what is applied; who applies several may go by it.", update_allowed=True
        ),
        TRANSPORT: make_text_schema(
            "How the result is signalled. NO_SIGNAL: nobody waits for one; TEMP_URL_SIGNAL: by PUT "
            "to a signal URL; the others: by POST to it.",
            default="CFN_SIGNAL",
            constraints=[constraints.AllowedValues(list(TRANSPORTS))],
        ),
    }
    #: Sealed, as the outputs that configurations declare are with them: a script may repeat what
    #: it was told, and what that is may be hidden where the configuration stands.
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        STDOUT: _make_output_schema("What was written."),
        STDERR: _make_output_schema("What was written of errors."),
        STATUS_CODE: _make_output_schema("The exit code."),
    }

    # -- life cycle -----------------------------------------------------------------------------

    def handle_create(self) -> RunToken | None:
        """Apply the configuration, if CREATE is one of the actions."""
        return self._act("CREATE", self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> RunToken | None:
        """Apply the new configuration, if UPDATE is one of the actions."""
        return self._act("UPDATE", self.make_properties(json_snippet))

    def handle_delete(self) -> RunToken | None:
        """Apply the configuration, if DELETE is one of the actions and it exists."""
        return self._act("DELETE", self.properties)

    def handle_suspend(self) -> RunToken | None:
        """Apply the configuration, if SUSPEND is one of the actions."""
        return self._act("SUSPEND", self.properties)

    def handle_resume(self) -> RunToken | None:
        """Apply the configuration, if RESUME is one of the actions."""
        return self._act("RESUME", self.properties)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Keep the state; a deployment that has not acted yet has no id."""
        if resource_data.get("resource_id"):
            super().handle_adopt(resource_data)

    def check_create_complete(self, token: RunToken | None) -> bool:
        """Whether the result is known."""
        if token is None:
            return True
        return self._poll_run(token) if "request" in token else self._apply_signal(token)

    check_update_complete = check_create_complete
    check_delete_complete = check_create_complete
    check_suspend_complete = check_create_complete
    check_resume_complete = check_create_complete

    def handle_create_cancel(self, token: RunToken | None) -> None:
        """Ask the runner to end the run, where there is one."""
        if token and "request" in token:
            WorkflowRun(self, token).cancel()

    handle_update_cancel = handle_create_cancel
    handle_delete_cancel = handle_create_cancel
    handle_suspend_cancel = handle_create_cancel
    handle_resume_cancel = handle_create_cancel

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Whether an input that says ``replace_on_change`` has another value."""
        config = self._find_config(after)
        if config is None:
            return False
        known = json.loads(self.data().get("inputs") or "{}")
        return deployment_values.must_be_replaced(
            self._build_inputs("UPDATE", config, after), known
        )

    def handle_signal(self, details: Mapping[str, Any] | None = None) -> None:
        """Store a result for the operation that waits for it; ignore it at any other time."""
        operation = self.context.operation
        if operation is not None:
            kept = {"op": operation.id, "details": to_json(details or {})}
            self.data_set(make_entry_key(self), json.dumps(kept), redact=True)

    # -- what is applied ------------------------------------------------------------------------

    def _find_config(self, props: properties.Properties) -> Mapping[str, Any] | None:
        """The configuration; None where the named one does not exist."""
        reference = props[CONFIG]
        if not reference:
            return deployment_values.NOTHING
        found = self.context.find_resource(reference)
        known = getattr(found, "software_config", None)
        return None if known is None else {**deployment_values.NOTHING, **known()}

    def _build_inputs(
        self, action: str, config: Mapping[str, Any], props: properties.Properties
    ) -> list[deployment_values.Input]:
        stack = self.context.stack
        standard = {
            "deploy_server_id": (props[SERVER], "The server that is configured"),
            "deploy_action": (action, "The action that it is for"),
            "deploy_stack_id": (f"{stack.name}/{stack.id}", "The stack of the deployment"),
            "deploy_resource_name": (self.name, "The name of the deployment in its stack"),
            "deploy_signal_transport": (props[TRANSPORT], "How the result is to be signalled"),
        }
        url = self._find_signal_url(props)
        if url:
            verb = "PUT" if props[TRANSPORT] == "TEMP_URL_SIGNAL" else "POST"
            standard["deploy_signal_id"] = (url, "The URL that the result is signalled to")
            standard["deploy_signal_verb"] = (verb, "The method of that")
        return deployment_values.build_inputs(config, to_json(props[VALUES] or {}), standard)

    def _find_signal_url(self, props: properties.Properties) -> str | None:
        """The URL for the result; None where a workflow brings it, or nobody waits for one."""
        if props[TRANSPORT] == NO_SIGNAL or self.context.assigned_workflow is not None:
            return None
        return self.context.signal_url()

    def _build_deployment(
        self, action: str, config: Mapping[str, Any], props: properties.Properties
    ) -> dict[str, Any]:
        """The deployment as data, for the tool that applies it."""
        inputs = self._build_inputs(action, config, props)
        values = deployment_values.map_values(inputs)
        content = self._fill_inputs(config[CONFIG], values, props)
        return {
            "id": self.uuid,
            NAME: props[NAME] or self.physical_resource_name(),
            "action": action,
            SERVER: props[SERVER],
            GROUP: config[GROUP],
            CONFIG: self.empty if content is None else content,
            OPTIONS: config.get(OPTIONS) or {},
            INPUTS: inputs,
            VALUES: values,
            OUTPUTS: config[OUTPUTS],
        }

    def _fill_inputs(
        self, content: Any, values: Mapping[str, Any], props: properties.Properties
    ) -> Any:
        return content

    def _act(self, action: str, props: properties.Properties) -> RunToken | None:
        config = self._find_config(props)
        if config is None:
            if action == "DELETE":
                return None
            raise ResourceFailure(f"There is no software configuration {props[CONFIG]}.")
        if action not in deployment_values.find_actions(config, props[DEPLOY_ACTIONS]):
            return None
        made = self._build_deployment(action, config, props)
        if self.resource_id is None:
            self.resource_id_set(self.uuid)
        self.data_set("inputs", json.dumps(made[VALUES]), redact=True)
        # for agents that ask the service what a server has to apply
        shown = {**made, VALUES: to_json(props[VALUES] or {})}
        self.data_set("deployment", json.dumps(shown), redact=True)
        return self._begin(action, made, props)

    def _begin(
        self, action: str, made: Mapping[str, Any], props: properties.Properties
    ) -> RunToken | None:
        token: RunToken = {}
        workflow = self.context.assigned_workflow
        if workflow is not None:
            token = WorkflowRun(self, new_token(self, action, workflow, made)).start()
        elif props[TRANSPORT] == NO_SIGNAL:
            return None
        return {**token, OUTPUTS: made[OUTPUTS]}

    # -- what came of it ------------------------------------------------------------------------

    def _poll_run(self, token: RunToken) -> bool:
        execution = WorkflowRun(self, token)
        result = execution.poll()
        if result is None:
            return False
        if isinstance(result, Lost):
            raise to_error(result)
        if isinstance(result, Failed):
            self._store(deployment_values.read_outcome(result.output or {}, token[OUTPUTS])[0])
            raise to_error(result)
        self._apply_result(result.output or {}, token)
        execution.forget()
        return True

    def _apply_signal(self, token: RunToken) -> bool:
        operation, data = self.context.operation, self.data()
        for key in list_entries(data):
            kept = json.loads(data[key])
            if operation is not None and kept["op"] == operation.id:
                self._apply_result(kept["details"], token)
                return True
        self.context.progress("waits for a signal")
        return False

    def _apply_result(self, details: Mapping[str, Any], token: RunToken) -> None:
        outputs, reason = deployment_values.read_outcome(details, token[OUTPUTS])
        self._store(outputs)
        if reason:
            error = ResourceFailure(f"Deployment to server failed: {reason}")
            error.heat_type = "Error"
            raise error

    def _store(self, outputs: Mapping[str, Any]) -> None:
        self.data_set("outputs", json.dumps({**self._read_outputs(), **outputs}), redact=True)
        for key in list_entries(self.data()):
            self.data_delete(key)

    def _read_outputs(self) -> dict[str, Any]:
        known: dict[str, Any] = json.loads(self.data().get("outputs") or "{}")
        return known

    # -- attributes -----------------------------------------------------------------------------

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An output, below ``path``: a standard one, or one that the configuration declares."""
        known = self._read_outputs()
        if key in known:
            return select(known[key], path)
        if key not in self.attributes:
            config = self._find_config(self.properties) or deployment_values.NOTHING
            if all(each[NAME] != key for each in config[OUTPUTS]):
                raise InvalidTemplateAttribute(self.name, key)
        return None

    def _resolve_attribute(self, name: str) -> Any:
        return self._read_outputs().get(name)


class StructuredDeployment(SoftwareDeployment):
    """A deployment that fills ``{get_input: NAME}`` into the map of a StructuredConfig."""

    support_status = SupportStatus(version="2014.1")
    empty: ClassVar[Any] = {}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **SoftwareDeployment.properties_schema,
        INPUT_KEY: make_text_schema("The key that stands for an input.", default="get_input"),
        VALIDATE: make_text_schema(
            "Whether an input that has no value is a failure (STRICT) or null (LAX).",
            default="LAX",
            constraints=[constraints.AllowedValues(["LAX", "STRICT"])],
        ),
    }

    def _fill_inputs(
        self, content: Any, values: Mapping[str, Any], props: properties.Properties
    ) -> Any:
        return deployment_values.fill_inputs(
            content, props[INPUT_KEY], values, props[VALIDATE] == "STRICT"
        )
