"""``POST /validate``: the parameters of a template, and those of nested templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.introspection.template_tree import Tree, TreeNode
from zonda.core.template.definition.stack_definition import StackDefinition
from zonda.core.template.parameters.parameters import ParameterSchema
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import TemplateError, ValidationErrors

from ...http.calls import Answer, Call
from ...http.errors import BadRequest, format_message
from ..explanations import explain_template_error
from ..stacks import requests
from ..stacks.documents import HIDDEN
from ..values import get_bool, require_object

#: Heat's words for the types of parameters.
_TYPES = {
    "string": "String",
    "number": "Number",
    "comma_delimited_list": "CommaDelimitedList",
    "json": "Json",
    "boolean": "Boolean",
}
#: Names of types that are files.
_FILES = (".yaml", ".template")


def validate_template(call: Call) -> Answer:
    """The declarations of a template; a faulty one is a bad request."""
    with_nested = get_bool(call, "show_nested")
    bundle = requests.read_bundle(call, require_object(call.body), needs_template=True)
    try:
        definition = call.project.check_template(bundle)
    except TemplateError as error:
        raise _build_refusal(call, error) from error
    shown: dict[str, Any] = {
        "Description": str(definition.description or "No description"),
        "Parameters": _list_parameters(definition, None),
        "Environment": _build_environment(definition, bundle),
    }
    groups = definition.document.data.get("parameter_groups")
    if groups:
        shown["ParameterGroups"] = groups
    if with_nested:
        nested = _list_nested(call, definition)
        if nested:
            shown["NestedParameters"] = nested
    return Answer(200, shown)


def _build_refusal(call: Call, error: TemplateError) -> BadRequest:
    """The refusal of a faulty template, whatever is wrong with it."""
    region = call.project.service.settings.region_name
    known = explain_template_error(error, call.caller, region)
    return BadRequest(format_message(error) if known is None else str(known))


def _build_environment(definition: StackDefinition, bundle: Bundle) -> dict[str, Any]:
    """The merged environment, with the files that the template names as types."""
    given = definition.environment
    types = (node.type for node in definition.resources.values())
    files = {name: name for name in types if name.endswith(_FILES) and name in bundle.files}
    registry = {"resources": {}, **given.registry, **files}
    return {
        "event_sinks": [],
        "parameter_defaults": dict(given.defaults),
        "parameters": dict(given.parameters),
        "resource_registry": registry,
    }


def _list_nested(call: Call, definition: StackDefinition) -> dict[str, Any]:
    """The nested templates by the resources that own them, each with those below it."""
    tree = Tree(call.project.make_context)
    found: dict[tuple[str, ...], tuple[TreeNode, dict[str, Any]]] = {}
    shown: dict[str, Any] = {}
    for node in tree.walk(definition):
        if not node.names:
            found[()] = (node, {})
            continue
        above, entry = found[node.names[:-1]]
        name = node.names[-1]
        made = {
            "Type": above.definition.resources[name].type,
            "Description": str(node.definition.description or "No description"),
            "Parameters": _list_parameters(node.definition, node.given),
        }
        found[node.names] = (node, made)
        below = shown if len(node.names) == 1 else entry.setdefault("NestedParameters", {})
        below[name] = made
    if tree.errors:
        raise _build_refusal(call, ValidationErrors(tree.errors))
    return shown


def _list_parameters(definition: StackDefinition, given: Any) -> dict[str, Any]:
    values = definition.parameters
    return {
        name: _build_parameter(schema, _find_value(values, name, given), name in values.hidden)
        for name, schema in definition.schemas.items()
    }


def _find_value(values: Any, name: str, given: Any) -> Any:
    """The value that a parameter is given; None where its default counts."""
    is_given = name in given if given is not None else values.origin(name) != "default"
    return values.values.get(name) if is_given and name in values.values else None


def _build_parameter(schema: ParameterSchema, value: Any, is_hidden: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "Type": _TYPES.get(schema.type, schema.type),
        "Description": str(schema.description or ""),
        "NoEcho": "true" if schema.hidden else "false",
        "Label": schema.label or schema.name,
    }
    if schema.default is not None:  # the client has just sent it
        shown["Default"] = schema.default
    if value is not None:
        shown["Value"] = HIDDEN if is_hidden else value
    if schema.tags:
        shown["Tags"] = list(schema.tags)
    for constraint in schema.constraints:
        shown.update(_build_constraint(constraint.to_dict()))
    return shown


def _build_constraint(rule: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key, name in (("length", "Length"), ("range", "Value")):
        for end in ("min", "max"):
            if end in rule.get(key, {}):
                shown[f"{end.capitalize()}{name}"] = rule[key][end]
    for key, name in (
        ("allowed_values", "AllowedValues"),
        ("allowed_pattern", "AllowedPattern"),
        ("modulo", "Modulo"),
        ("custom_constraint", "CustomConstraint"),
        ("description", "ConstraintDescription"),
    ):
        if key in rule:
            shown[name] = rule[key]
    return shown
