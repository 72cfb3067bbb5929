"""Plays one case: creation, then its steps; gives the answers in the form of FORMAT.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.compare import Names
from harness.world import World
from zonda.core.engine import actions
from zonda.core.engine.model.work_item import WorkItem
from zonda.core.engine.plugins.values import RowValues
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import TemplateError, ZondaError

STACK_NAME = "oracle_stack"
SECTIONS = ("metadata", "deletion_policy", "update_policy", "external_id")
SIMPLE = {
    "delete": actions.DeleteStack,
    "suspend": actions.SuspendStack,
    "resume": actions.ResumeStack,
    "check": actions.CheckStack,
}
#: (action, status) of a resource after a step -> outcome
OUTCOMES = {("CREATE", "COMPLETE"): "created", ("UPDATE", "COMPLETE"): "updated"}


@dataclass
class Answer:
    """What became of a case: ``error`` if it could not be created, else ``given``."""

    error: dict[str, Any] | None = None
    given: dict[str, Any] = field(default_factory=dict)
    names: Names = field(default_factory=Names)


def play(case: Mapping[str, Any]) -> Answer:
    """The answer to a case."""
    world = World(case.get("mistral") or {})
    try:
        return _Player(world, case).play()
    finally:
        world.close()


class _Player:
    def __init__(self, world: World, case: Mapping[str, Any]) -> None:
        self.world = world
        self.case = case
        self.reader = world.reader
        self.stack_id = ""
        self.steps: list[dict[str, Any]] = []

    def play(self) -> Answer:
        name = self.case.get("stack_name", STACK_NAME)
        try:
            view = self.world.engine.run(actions.CreateStack(name, _bundle(self.case)))
        except ZondaError as error:
            return Answer(error=_shown(error))
        self.stack_id = view.id
        if view.status == "FAILED" and "expect_error" in self.case:
            text = view.status_reason
            return Answer(error={"type": "StackCreateFailed", "message": text, "stage": "create"})
        self.steps.append(self._step("create", view, {}, {}))
        for step in self.case.get("steps") or []:
            self._do(step)
        return Answer(given=self._given(), names=self._names())

    # -- steps ------------------------------------------------------------------------------

    def _do(self, step: Mapping[str, Any]) -> None:
        before, references = self._rows(), self._references()
        last = self.reader.last_event()
        refused: dict[str, Any] | None = None
        try:
            self.world.engine.run(self._action(step))
        except ZondaError as error:
            refused = _shown(error)
        view = self.reader.stack(self.stack_id)
        found = self._step(step["action"], view, before, references, last)
        if refused is not None:
            found["error"] = {key: refused[key] for key in ("type", "message")}
        if "resource" in step:
            found["resource"] = step["resource"]
        self.steps.append(found)

    def _action(self, step: Mapping[str, Any]) -> actions.Action:
        kind = step["action"]
        if kind in SIMPLE:
            return SIMPLE[kind](self.stack_id)
        if kind == "signal":
            return actions.SignalResource(self.stack_id, step["resource"], step.get("details", {}))
        return actions.UpdateStack(
            self.stack_id,
            _bundle(step, self.case.get("files")),
            existing=bool(step.get("existing")),
            rollback=step.get("rollback"),
        )

    def _step(
        self,
        action: str,
        view: StackView,
        before: Mapping[str, ResourceRow],
        references: Mapping[str, Any],
        last: int = 0,
    ) -> dict[str, Any]:
        after = self._rows()
        touched = {
            event.resource_id: (event.action, event.status)
            for event in self.reader.events(self.stack_id, after=last, limit=100_000)
            if (event.action, event.status) != ("SIGNAL", "FAILED")  # Heat has no such event
        }
        outcome = {}
        for name in sorted({*before, *after}):
            outcome[name] = _outcome(before.get(name), after.get(name), touched)
        now = self._references()
        same = [
            name
            for name, row in sorted(after.items())
            if name in before and row.reference and now.get(name) == references.get(name)
        ]
        return {
            "action": action,
            "state": view.state,
            "reason": view.status_reason,
            "outcome": outcome,
            "same_reference": same,
        }

    # -- what is there afterwards -------------------------------------------------------------

    def _rows(self) -> dict[str, ResourceRow]:
        rows = self.reader.resource_rows(self.stack_id)
        return {row.name: row for row in rows if row.want == "PRESENT" or row.action == "DELETE"}

    def _values(self) -> RowValues:
        engine, rows = self.world.engine, self._rows().values()
        stack = self.reader.stack_row(self.stack_id)

        def build(row: ResourceRow) -> Any:
            data = self.reader.read_sealed_data(row.id)
            return engine.services.instances.make(WorkItem(row, stack, data))

        return RowValues(rows, self.world.store.sealer, build)

    def _references(self) -> dict[str, Any]:
        values = self._values()
        return {name: values.reference(name) for name in self._rows()}

    def _names(self) -> Names:
        view = self.reader.stack(self.stack_id)
        return Names(view.id, view.project, self._references())

    def _given(self) -> dict[str, Any]:
        view = self.reader.stack(self.stack_id)
        calls = self.world.lender.mistral.calls
        given: dict[str, Any] = {"steps": self.steps, "mistral_calls": calls, "outputs": {}}
        if view.action == "DELETE":  # Heat shows no outputs of a stack that is being deleted
            return given
        assert view.template_id is not None
        template = view.good_template_id or view.template_id
        definition: Any = self.world.engine.services.definitions.get(template)
        given["parameters"] = {
            name: definition.parameters.get_raw(name) for name in definition.schemas
        }
        given["hidden_parameters"] = sorted(definition.parameters.hidden)
        given["conditions"] = {
            name: value if isinstance(value, bool) else {"__error__": _shown(value)["message"]}
            for name, value in definition.conditions().items()
        }
        scope = definition.scope(self._values())
        rows = self._rows()
        given["resources"] = {
            name: self._resource(node, rows.get(name), scope)
            for name, node in definition.resources.items()
        }
        given["order"] = {
            name: sorted(node.requires) for name, node in definition.resources.items()
        }
        errors: dict[str, Any] = {}
        for name, output in definition.outputs.items():
            try:
                given["outputs"][name] = output.resolve(scope)
            except TemplateError as error:
                errors[name] = _shown(error)
        if errors:
            given["output_errors"] = errors
        return given

    def _resource(self, node: Any, row: ResourceRow | None, scope: Any) -> dict[str, Any]:
        definition = node.resolve(scope)
        stored = None
        if row is not None and not node.external_id:
            stored = self.world.store.sealer.load(row.properties or row.op_properties)
        if stored is None:
            properties = node.cls(node.name, definition, None).properties
            stored = (
                dict(definition.properties) if node.external_id else properties.get_stored_values()
            )
        found = {"type": node.type, "properties": stored}
        for section in SECTIONS:
            if section in node.raw:
                found[section] = getattr(definition, section)
        if node.external_id:
            found["deletion_policy"] = definition.deletion_policy
        return found


def _bundle(said: Mapping[str, Any], files: Mapping[str, str] | None = None) -> Bundle:
    environment = said.get("environment")
    environments: tuple[tuple[str, str], ...] = ()
    if isinstance(environment, list):
        environments = tuple((f"env{at}.yaml", text) for at, text in enumerate(environment))
        environment = None
    return Bundle(
        template=said.get("template", ""),
        environment=environment,
        environment_files=environments,
        parameters=said.get("params") or {},
        files=said.get("files", files) or {},
    )


def _outcome(
    before: ResourceRow | None, after: ResourceRow | None, touched: Mapping[Any, tuple[str, str]]
) -> str:
    """The outcome of a step for a resource; ``touched``: its last event in the step.

    A restricted update fails by its event alone: the resource keeps the state that it had.
    """
    if after is None:
        assert before is not None
        return "deleted" if before.id in touched else "removed"
    state = (after.action, after.status)
    if after.action == "INIT":
        return "untouched"
    if before is not None and before.id != after.id and state == ("CREATE", "COMPLETE"):
        return "replaced"
    if before is not None and after.id not in touched:
        return "unchanged"
    action, status = touched.get(after.id, state)
    if action == "SIGNAL":
        return "signal_complete"
    if status == "FAILED":
        return f"{action}_FAILED".lower()
    return OUTCOMES.get(state, f"{after.action}_{after.status}".lower())


def _shown(error: ZondaError) -> dict[str, Any]:
    return {
        "type": error.heat_type,
        "message": str(error),
        "stage": getattr(error, "stage", "validate"),
    }
