"""Whether a template fits the type of a plug-in that it stands for, in Heat's words.

Called by ``nested_checks``. The rule that leads to the template is left out to find what the type
would be without it.
"""

from __future__ import annotations

from collections.abc import Iterator

from zonda.hooks.errors import TemplateError
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Schema

from ..definition.stack_definition import StackDefinition
from ..source.diagnostics import FACADE
from ..syntax.resource import ResourceNode
from ..types.registry import is_template

#: Every number of a template is a Number.
_AS_PARAMETER = {Schema.INTEGER: Schema.NUMBER}


def find_facade_faults(definition: StackDefinition, node: ResourceNode) -> Iterator[TemplateError]:
    """Find the mismatches, if the resource's type is one without the template, too."""
    facade = _find_facade(definition, node)
    if facade is None:
        return
    for message in _list_differences(node.type, facade, node.cls):
        yield TemplateError(message, at=(*node.path, "type"), code=FACADE)


def _find_facade(definition: StackDefinition, node: ResourceNode) -> type[Resource] | None:
    """The class that the type would have by itself, where a template stands for it."""
    if is_template(node.type) or not hasattr(node.cls, "source"):
        return None
    return definition.registry.types.get(node.type)


def _list_differences(
    type_: str, facade: type[Resource], provider: type[Resource]
) -> Iterator[str]:
    wanted, there = facade.properties_schema, provider.properties_schema
    for name, schema in wanted.items():
        if name not in there:
            if schema.required:
                yield f"Required property {name} for facade {type_} missing in provider"
            continue
        kind = _AS_PARAMETER.get(schema.type, schema.type)
        if kind not in (there[name].type, Schema.ANY):
            yield (
                f"Property {name} type mismatch between facade {type_} ({kind}) "
                f"and provider ({there[name].type})"
            )
    for name, schema in there.items():
        if schema.required and name not in wanted:
            yield f"Provider requires property {name} unknown in facade {type_}"
    for name in facade.attributes_schema:
        if name not in provider.attributes_schema:
            yield f"Attribute {name} for facade {type_} missing in provider"
