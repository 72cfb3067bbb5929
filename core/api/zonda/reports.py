"""The reads that load templates or ask plug-ins: values, plans, explanations, documents.

What reveals hidden values needs the operation ``outputs:reveal`` besides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zonda.core.app.planning import PlanResult
from zonda.core.app.templates import ValidationResult
from zonda.core.engine.actions import Action
from zonda.core.engine.actions.base import Templated
from zonda.core.engine.actions.table import ACTIONS, PLAN
from zonda.core.introspection.catalog import CatalogResult
from zonda.core.introspection.parameters import ParameterListing
from zonda.core.introspection.type_resolution import Explanation as TypeExplanation
from zonda.core.reports.differences import Differences
from zonda.core.reports.export import Export, Sources
from zonda.core.reports.failures import Failure
from zonda.core.reports.generations import Generation
from zonda.core.reports.graph import Graph
from zonda.core.reports.past import Past
from zonda.core.reports.why import Explanation
from zonda.core.store.read.views import ActionView, OutputView, StackView
from zonda.core.template.redaction import RedactedBundle
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import NotFound, Path, Place, TemplateWarning, UsageError

from .actions import check_action
from .desk import Desk
from .reads import Read

#: An action that makes a plan besides what else it does.
_PLANNED_BESIDES = frozenset({"RepairDrift"})


def _check_reveal(desk: Desk, wanted: bool) -> None:
    """Raise Forbidden where hidden values are asked for by one who may not see them."""
    if wanted:
        desk.project.check_policy("reveal", "outputs:reveal")


def outputs(desk: Desk, stack: StackView, refresh: bool, reveal: bool) -> list[OutputView]:
    """The outputs of a stack."""
    _check_reveal(desk, reveal)
    return desk.stacks.make_values().outputs(stack.id, refresh=refresh, reveal=reveal)


def parameters(desk: Desk, stack: StackView) -> dict[str, Any]:
    """The parameters of a stack."""
    return desk.stacks.make_values().parameters(stack.id)


def warnings(desk: Desk, stack: StackView) -> list[TemplateWarning]:
    """The warnings about a stack's template."""
    return desk.stacks.list_warnings(stack)


def plan(desk: Desk, action: Action, keep: bool, outside: list[str]) -> PlanResult:
    """The preview of an action that makes a plan; ``outside``: files that the plan names."""
    name = type(action).__name__
    if ACTIONS[name].shape != PLAN and name not in _PLANNED_BESIDES:
        raise UsageError(f"The action {name} makes no plan that could be shown.")
    check_action(desk.project, action)
    if isinstance(action, Templated):
        action = action.with_bundle(replace(action.bundle, outside=tuple(outside)))
    return desk.stacks.plan(action, keep=keep)


def validate(desk: Desk, bundle: Bundle, ignore_unknown: bool, all_given: bool) -> ValidationResult:
    """The declarations of a template without errors."""
    return desk.templates.validate(bundle, ignore_unknown=ignore_unknown, all_given=all_given)


def explain_type(desk: Desk, bundle: Bundle, type_name: str, resource: str) -> TypeExplanation:
    """The resolution of a type."""
    return desk.templates.explain_type(bundle, type_name, resource)


def list_candidates(desk: Desk, bundle: Bundle) -> CatalogResult:
    """The candidates of environments."""
    return desk.templates.list_candidates(bundle)


def list_parameters(desk: Desk, bundle: Bundle, given_too: bool) -> ParameterListing:
    """The parameters of a tree of templates."""
    return desk.templates.list_parameters(bundle, given_too=given_too)


def list_types(desk: Desk) -> list[dict[str, str]]:
    """The resource types that the server has."""
    return desk.reference.list_types()


def describe_type(desk: Desk, type_name: str) -> dict[str, Any]:
    """The description of a resource type."""
    return desk.reference.describe_type(type_name)


def build_template(desk: Desk, type_name: str, example: bool) -> dict[str, Any]:
    """A template of a resource type."""
    return desk.reference.build_template(type_name, example=example)


def list_functions(desk: Desk, version: str, conditions: bool) -> dict[str, str]:
    """The functions of a template version."""
    return desk.reference.list_functions(version, conditions=conditions)


def list_generations(desk: Desk, stack: StackView) -> list[Generation]:
    """The generations of a stack."""
    return desk.inspector.list_generations(stack)


def read_past(desk: Desk, stack: StackView, generation: int) -> Past:
    """A stack at the end of a generation."""
    return desk.inspector.read_past(stack, generation)


def show_input(desk: Desk, stack: StackView, generation: int) -> RedactedBundle:
    """The redacted input of a generation."""
    inspector = desk.inspector
    return inspector.show_input(stack, inspector.read_history(stack).one(generation))


def why(desk: Desk, stack: StackView, resource: str | None, generation: int | None) -> Explanation:
    """The explanation of a state."""
    return desk.inspector.why(stack, resource, generation)


def find_place(desk: Desk, template_id: str, at: Path) -> Place | None:
    """The place of a part of a stored template."""
    try:
        desk.find_stack(desk.reader.template(template_id).stack_id)
    except NotFound:
        raise NotFound("Template", template_id) from None
    return desk.inspector.find_place(template_id, at)


def list_innermost_failures(
    desk: Desk, stack: StackView, since: int, names: list[str]
) -> dict[str, list[Failure]]:
    """The failures below resources."""
    return desk.inspector.list_innermost_failures(stack, since, names)


def build_graph(desk: Desk, stack: StackView, depth: int) -> tuple[Graph, str]:
    """The graph of a stack."""
    return desk.inspector.build_graph(stack, depth)


def build_template_graph(desk: Desk, bundle: Bundle, name: str) -> Graph:
    """The graph of a template."""
    return desk.inspector.build_template_graph(bundle, name)


def differences(
    desk: Desk, stack: StackView, first: int | None, second: int | None
) -> tuple[ActionView, ActionView, Differences]:
    """The differences between two generations."""
    return desk.inspector.differences(stack, first, second)


def export(desk: Desk, stack: StackView, with_secrets: bool) -> Export:
    """The document of a stack."""
    _check_reveal(desk, with_secrets)
    return desk.exporter.export(stack.id, with_secrets=with_secrets)


def snapshots(desk: Desk, stack: StackView) -> list[dict[str, Any]]:
    """The snapshots of a stack."""
    return desk.exporter.snapshots(stack.id)


def snapshot(desk: Desk, stack: StackView, key: str, with_secrets: bool) -> dict[str, Any]:
    """One snapshot with its data."""
    _check_reveal(desk, with_secrets)
    return desk.exporter.snapshot(stack.id, key, with_secrets=with_secrets)


def sources(desk: Desk, stack: StackView, with_secrets: bool) -> Sources:
    """The template, environment and files of a stack."""
    _check_reveal(desk, with_secrets)
    return desk.exporter.read_sources(stack.id, with_secrets=with_secrets)


REPORTS = {
    "stacks.outputs": Read(outputs, is_heavy=True),
    "stacks.parameters": Read(parameters, is_heavy=True),
    "stacks.list_warnings": Read(warnings, is_heavy=True),
    "stacks.plan": Read(plan, is_heavy=True),
    "templates.validate": Read(validate, is_heavy=True),
    "templates.explain_type": Read(explain_type, is_heavy=True),
    "templates.list_candidates": Read(list_candidates, is_heavy=True),
    "templates.list_parameters": Read(list_parameters, is_heavy=True),
    "reference.list_types": Read(list_types, is_heavy=True),
    "reference.describe_type": Read(describe_type, is_heavy=True),
    "reference.build_template": Read(build_template, is_heavy=True),
    "reference.list_functions": Read(list_functions, is_heavy=True),
    "inspector.list_generations": Read(list_generations),
    "inspector.read_past": Read(read_past),
    "inspector.show_input": Read(show_input, is_heavy=True),
    "inspector.why": Read(why, is_heavy=True),
    "inspector.find_place": Read(find_place, is_heavy=True),
    "inspector.list_innermost_failures": Read(list_innermost_failures),
    "inspector.build_graph": Read(build_graph, is_heavy=True),
    "inspector.build_template_graph": Read(build_template_graph, is_heavy=True),
    "inspector.differences": Read(differences, is_heavy=True),
    "exporter.export": Read(export, is_heavy=True),
    "exporter.snapshots": Read(snapshots),
    "exporter.snapshot": Read(snapshot, is_heavy=True),
    "exporter.read_sources": Read(sources, is_heavy=True),
}
