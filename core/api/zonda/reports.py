"""The reads that load templates or ask plug-ins: values, plans, explanations, documents.

What reveals hidden values needs the operation ``outputs:reveal`` besides.
"""

from __future__ import annotations

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
from zonda.hooks.records import replace

from ..service.project import Project
from .actions import check_action
from .reads import Read

#: An action that makes a plan besides what else it does.
_PLANNED_BESIDES = frozenset({"RepairDrift"})


def _check_reveal(project: Project, wanted: bool) -> None:
    """Raise Forbidden where hidden values are asked for by one who may not see them."""
    if wanted:
        project.check_policy("reveal", "outputs:reveal")


def outputs(project: Project, stack: StackView, refresh: bool, reveal: bool) -> list[OutputView]:
    """The outputs of a stack."""
    _check_reveal(project, reveal)
    return project.values.outputs(stack.id, refresh=refresh, reveal=reveal)


def parameters(project: Project, stack: StackView) -> dict[str, Any]:
    """The parameters of a stack."""
    return project.values.parameters(stack.id)


def warnings(project: Project, stack: StackView) -> list[TemplateWarning]:
    """The warnings about a stack's template."""
    return project.list_warnings(stack)


def plan(project: Project, action: Action, keep: bool, outside: list[str]) -> PlanResult:
    """The preview of an action that makes a plan; ``outside``: files that the plan names."""
    name = type(action).__name__
    if ACTIONS[name].shape != PLAN and name not in _PLANNED_BESIDES:
        raise UsageError(f"The action {name} makes no plan that could be shown.")
    check_action(project, action)
    if isinstance(action, Templated):
        action = action.with_bundle(replace(action.bundle, outside=tuple(outside)))
    return project.plan(action, keep=keep)


def validate(
    project: Project, bundle: Bundle, ignore_unknown: bool, all_given: bool
) -> ValidationResult:
    """The declarations of a template without errors."""
    definition = project.templates.load(bundle, ignore_unknown=ignore_unknown, all_given=all_given)
    project.check_definition(definition)
    return ValidationResult.of(definition)


def explain_type(
    project: Project, bundle: Bundle, type_name: str, resource: str
) -> TypeExplanation:
    """The resolution of a type."""
    return project.templates.explain_type(bundle, type_name, resource)


def list_candidates(project: Project, bundle: Bundle) -> CatalogResult:
    """The candidates of environments."""
    return project.templates.list_candidates(bundle)


def list_parameters(project: Project, bundle: Bundle, given_too: bool) -> ParameterListing:
    """The parameters of a tree of templates."""
    return project.templates.list_parameters(bundle, given_too=given_too)


def list_types(project: Project) -> list[dict[str, str]]:
    """The resource types that the server has."""
    return project.reference.list_types()


def describe_type(project: Project, type_name: str) -> dict[str, Any]:
    """The description of a resource type."""
    return project.reference.describe_type(type_name)


def build_template(project: Project, type_name: str, example: bool) -> dict[str, Any]:
    """A template of a resource type."""
    return project.reference.build_template(type_name, example=example)


def list_functions(project: Project, version: str, conditions: bool) -> dict[str, str]:
    """The functions of a template version."""
    return project.reference.list_functions(version, conditions=conditions)


def build_schema(project: Project, version: str | None, patterns: list[str]) -> dict[str, Any]:
    """The JSON Schema of templates."""
    return project.reference.build_schema(version, patterns)


def list_plugins(project: Project) -> list[dict[str, Any]]:
    """The plug-ins of the server."""
    return project.reference.list_plugins()


def list_generations(project: Project, stack: StackView) -> list[Generation]:
    """The generations of a stack."""
    return project.inspector.list_generations(stack)


def read_past(project: Project, stack: StackView, generation: int) -> Past:
    """A stack at the end of a generation."""
    return project.inspector.read_past(stack, generation)


def show_input(project: Project, stack: StackView, generation: int) -> RedactedBundle:
    """The redacted input of a generation."""
    inspector = project.inspector
    return inspector.show_input(stack, inspector.read_history(stack).one(generation))


def why(
    project: Project, stack: StackView, resource: str | None, generation: int | None
) -> Explanation:
    """The explanation of a state."""
    return project.inspector.why(stack, resource, generation)


def find_place(project: Project, template_id: str, at: Path) -> Place | None:
    """The place of a part of a stored template."""
    try:
        project.find_stack(project.reader.template(template_id).stack_id)
    except NotFound:
        raise NotFound("Template", template_id) from None
    return project.inspector.find_place(template_id, at)


def list_innermost_failures(
    project: Project, stack: StackView, since: int, names: list[str]
) -> dict[str, list[Failure]]:
    """The failures below resources."""
    return project.inspector.list_innermost_failures(stack, since, names)


def build_graph(project: Project, stack: StackView, depth: int) -> tuple[Graph, str]:
    """The graph of a stack."""
    return project.inspector.build_graph(stack, depth)


def build_template_graph(project: Project, bundle: Bundle, name: str) -> Graph:
    """The graph of a template."""
    return project.inspector.build_template_graph(bundle, name)


def differences(
    project: Project, stack: StackView, first: int | None, second: int | None
) -> tuple[ActionView, ActionView, Differences]:
    """The differences between two generations."""
    return project.inspector.differences(stack, first, second)


def export(project: Project, stack: StackView, with_secrets: bool) -> Export:
    """The document of a stack."""
    _check_reveal(project, with_secrets)
    return project.exporter.export(stack.id, with_secrets=with_secrets)


def snapshots(project: Project, stack: StackView) -> list[dict[str, Any]]:
    """The snapshots of a stack."""
    return project.exporter.snapshots(stack.id)


def snapshot(project: Project, stack: StackView, key: str, with_secrets: bool) -> dict[str, Any]:
    """One snapshot with its data."""
    _check_reveal(project, with_secrets)
    return project.exporter.snapshot(stack.id, key, with_secrets=with_secrets)


def sources(project: Project, stack: StackView, with_secrets: bool) -> Sources:
    """The template, environment and files of a stack."""
    _check_reveal(project, with_secrets)
    return project.exporter.read_sources(stack.id, with_secrets=with_secrets)


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
    "reference.build_schema": Read(build_schema, is_heavy=True),
    "reference.list_plugins": Read(list_plugins, is_heavy=True, rule="admin"),
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
