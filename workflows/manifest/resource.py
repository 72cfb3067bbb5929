"""The class of a type that a manifest declares.

Made by ``manifest_reader``, once for each text. To everybody else it is a type like any other; what
the manifest leaves out (SUSPEND, CHECK, ...) its class does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from zonda.hooks import (
    Resource,
    ResourceFailure,
    RunToken,
    TemplateError,
    UsageError,
    attributes,
    properties,
    resource,
    to_json,
    truncate_middle,
)
from zonda.hooks.runners import Failed, Succeeded

from ..http_contract.states import TEXT
from ..resources.base import ResumePart, SuspendPart, WorkflowResource
from ..resources.drift_check import DriftCheckMixin
from ..resources.workflow_call import WorkflowCall
from . import mapping
from .model import Manifest

_RECORDED = "manifest"


class ManifestResource(DriftCheckMixin):
    """A resource of a type that a manifest declares."""

    manifest: ClassVar[Manifest]

    @classmethod
    def check_backend(cls) -> Any:
        """The back end for a check of the type."""
        from .simulator import World  # needed by nobody else

        return World(cls.manifest, cls.attributes_schema)

    # -- validation -------------------------------------------------------------------------

    def validate(self) -> None:
        """Ask the runners about the workflows, and whether secrets may be named."""
        for name, action in self.manifest.actions.items():
            try:
                runner, known_as = self.context.runner(action.reference)
                runner.check(known_as)
                for secret in mapping.list_secrets([action.input, action.params]):
                    self.context.check_secret(secret)
            except (UsageError, ResourceFailure) as error:
                raise TemplateError(
                    f"{name} of {self.manifest.source.name} cannot be carried out: {error.message}",
                    path=("resources", self.name, "type"),
                    hint=error.hint,
                ) from error

    # -- life cycle -------------------------------------------------------------------------

    def handle_delete(self) -> RunToken | None:
        """Start DELETE. What it names may have been allowed when the thing was made."""
        said = self.manifest.actions.get("DELETE")
        try:
            for secret in mapping.list_secrets([said.input, said.params] if said else []):
                self.context.check_secret(secret)
        except UsageError as error:
            raise ResourceFailure(
                f"{error.message} The runner was not asked: allow it, then delete it again.",
                hint=error.hint,
            ) from error
        return super().handle_delete()

    def handle_update(
        self,
        json_snippet: resource.ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> RunToken | None:
        """Start UPDATE where a property or what is sent has changed, or something is owed."""
        after = self.make_properties(json_snippet)
        elsewhere = set(tmpl_diff) - {"properties"}
        is_of_another_text = self._read_record().get(_RECORDED) != self.manifest.source.digest
        if prop_diff or not elsewhere or self._has_to_run() or is_of_another_text:
            return self._begin("UPDATE", after)
        return None

    def always_update(self) -> bool:
        """Whether UPDATE runs on the next update, changes or not: asked for, or owed."""
        return "UPDATE" in self.manifest.actions and self._has_to_run()

    def needs_update(self, after: Resource, changed: bool) -> bool:
        """Whether an update has work to do; also where a changed manifest sends something else."""
        if super().needs_update(after, changed) or type(self) is type(after):
            return changed or after.always_update()
        old, new = self._build_update(self), self._build_update(after)
        return old is not None and new is not None and old != new

    @staticmethod
    def _build_update(one: Resource) -> Any:
        run = (
            one._build_call("UPDATE", one.properties) if isinstance(one, ManifestResource) else None
        )
        return None if run is None else to_json([run.inputs, run.params])

    def _has_to_run(self) -> bool:
        return self.manifest.always_update or self._update_is_open() or self._has_difference()

    # -- what is sent and kept --------------------------------------------------------------

    def _build_call(self, action: str, props: properties.Properties) -> WorkflowCall | None:
        said = self.manifest.actions.get(action)
        if said is None:
            return None
        values = {key: to_json(props.convert(key)) for key in props}
        sources = self._build_sources(values)
        parts: dict[str, Any] = {}
        secrets = []
        given = {key: value for key, value in values.items() if value is not None}
        for place, written in (("inputs", said.input), ("params", said.params)):
            sources.secrets = []
            parts[place] = given if written is None else mapping.evaluate(written, sources)
            secrets += [(place, at, name) for at, name in sources.secrets]
        return WorkflowCall(
            said.reference,
            **parts,
            timeout=said.timeout,
            on_timeout=said.on_timeout,
            retries=said.retries,
            delay=said.delay,
            secrets=secrets,
        )

    def _build_sources(self, values: Mapping[str, Any]) -> mapping.Sources:
        stack = self.context.stack
        info = {
            "id": self.uuid,
            "name": self.name,
            "physical_id": self.resource_id,
            "type": self.type(),
            "unique_name": self.physical_resource_name(),
            "stack_id": stack.id,
            "stack_name": stack.name,
            "project": stack.project,
        }
        return mapping.Sources(values, self._read_record().get("outputs") or {}, info)

    def _list_secret_names(self, token: RunToken) -> Collection[str]:
        """The secrets of every action: an output may repeat any of them."""
        found = set(super()._list_secret_names(token))
        for action in self.manifest.actions.values():
            found.update(mapping.list_secrets([action.input, action.params]))
        return found

    def _select_output(self, action: str, output: Mapping[str, Any]) -> Mapping[str, Any]:
        said = self.manifest.actions[action]
        if said.output is None:
            return output
        kept = mapping.evaluate(said.output, mapping.Sources(outputs=output))
        return dict(kept)

    def _apply_result(self, token: RunToken, result: Succeeded | Failed) -> None:
        output = result.output or {}
        if isinstance(result, Succeeded) and output.keys() == {TEXT}:
            self._check_outputs_read(token["action"], str(output[TEXT]))
        super()._apply_result(token, result)

    def _check_outputs_read(self, action: str, text: str) -> None:
        """Raise ResourceFailure where outputs are read and the workflow gave text instead."""
        said, known = self.manifest.actions[action], self._read_record().get("outputs") or {}
        promised = mapping.list_outputs([said.output])
        if said.output is None and action in ("CREATE", "UPDATE"):
            read = mapping.list_outputs([*self.manifest.attributes.values()])
            promised = (name for name in read if name not in known)
        names = sorted({*promised})
        if names and TEXT not in names:
            raise ResourceFailure(
                f"{action} gave no {', '.join(names)}, but text: {truncate_middle(text)}",
                hint="Have its workflow print one JSON object with the outputs.",
            )

    def _merge_output(self, token: RunToken, output: Mapping[str, Any]) -> None:
        super()._merge_output(token, output)
        if token["action"] in ("CREATE", "UPDATE"):
            self._store_record({**self._read_record(), _RECORDED: self.manifest.source.digest})

    def _takes_new_id(self) -> bool:
        return self.manifest.allow_id_change

    def _deletes_old_id(self) -> bool:
        return True

    def _resolve_attribute(self, name: str) -> Any:
        values = {key: self.properties.convert(key) for key in self.properties}
        return mapping.evaluate(self.manifest.attributes.get(name), self._build_sources(values))

    # -- CHECK ------------------------------------------------------------------------------

    def _build_live_state(self, output: Mapping[str, Any]) -> Mapping[str, Any]:
        observes = self.manifest.observes
        found = mapping.evaluate(observes, mapping.Sources(outputs=output))
        live = {name: value for name, value in found.items() if value is not None}
        if observes and not live:
            names = ", ".join(observes)
            raise ResourceFailure(f"CHECK told nothing of what it observes: {names}.")
        if not observes and output.get("exists") is not True:
            raise ResourceFailure("CHECK told nothing: its output has no exists.")
        return live

    def _interpret_check(self, result: Any) -> Mapping[str, Any]:
        if self.manifest.exists is not None:
            output = dict(result.output or {})
            output["exists"] = mapping.evaluate(
                self.manifest.exists, mapping.Sources(outputs=output)
            )
            result = type(result)(output, result.resource_id)
        return super()._interpret_check(result)


class _CheckPart(DriftCheckMixin):
    repairs_in_place: ClassVar[bool] = True

    handle_check = DriftCheckMixin._handle_check
    check_check_complete = DriftCheckMixin._check_check_complete
    handle_check_cancel = WorkflowResource.handle_create_cancel


class _UnobservedResource(ManifestResource):
    """A type without CHECK, which has no live state."""

    get_live_state = Resource.get_live_state


_PARTS: Mapping[str, type[WorkflowResource]] = {
    "SUSPEND": SuspendPart,
    "RESUME": ResumePart,
    "CHECK": _CheckPart,
}


def make_class(
    manifest: Manifest,
    properties_schema: Mapping[str, properties.Schema],
    attributes_schema: Mapping[str, attributes.Schema],
    capabilities: Mapping[str, Any],
    example: Mapping[str, Any],
) -> type[Resource]:
    """The class of one type. Its name has the text's digest: another text is another class."""
    parts = [part for action, part in _PARTS.items() if action in manifest.actions]
    base = ManifestResource if "CHECK" in manifest.actions else _UnobservedResource
    source = manifest.source
    fields: dict[str, Any] = {
        "__doc__": _make_encodable(manifest.description)
        or f"A resource that {source.file} declares.",
        "__module__": __name__,
        "__qualname__": f"{ManifestResource.__name__}[{source.name} {source.digest}]",
        "manifest": manifest,
        "declared_by": source,
        "properties_schema": dict(properties_schema),
        "attributes_schema": dict(attributes_schema),
        "capabilities": dict(capabilities),
        "exposes_properties": {
            name: sorted({*mapping.list_properties(value)})
            for name, value in manifest.attributes.items()
        },
        "example": dict(example),
    }
    return type(source.name.rpartition("::")[2], (*parts, base), fields)


def _make_encodable(text: str) -> str:
    """``text`` without characters that cannot be encoded."""
    return text.encode("utf-8", "replace").decode()
