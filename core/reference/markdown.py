"""The reference page of a resource type, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from zonda.hooks import support
from zonda.hooks.context import ResourceContext
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import Constraint
from zonda.hooks.schema.properties import Schema
from zonda.hooks.schema.support import SupportStatus

from .description import list_abilities, read_description
from .examples import build_example


def format_page(
    name: str, cls: type[Resource], context: ResourceContext | None = None, origin: str = ""
) -> str:
    """Format the whole page, with an example template that validates."""
    parts = [f"# {name}", read_description(cls) or "No description.", *_format_facts(cls, origin)]
    if cls.properties_schema:
        parts += ["## Properties", _format_properties(cls.properties_schema)]
    if cls.update_policy_schema:
        parts += ["## Update policy", _format_policy(cls.update_policy_schema)]
    if cls.attributes_schema:
        parts += ["## Attributes", _format_attributes(cls)]
    text = yaml.safe_dump(build_example(name, cls, context), sort_keys=False, allow_unicode=True)
    parts += ["## Example", f"```yaml\n{text}```"]
    return "\n\n".join(parts) + "\n"


def format_index(types: Mapping[str, str]) -> str:
    """Format the index page: the names of types and their summaries."""
    rows = [
        f"| [{name}]({format_file_name(name)}) | {_format_cell(text)} |"
        for name, text in types.items()
    ]
    return "\n".join(["# Resource types", "", "| type | what it is |", "|---|---|", *rows]) + "\n"


def format_file_name(name: str) -> str:
    """Format the file name of a type's page: ``OS::Heat::Value`` -> ``OS-Heat-Value.md``."""
    return name.replace("::", "-").replace("/", "-") + ".md"


def _format_facts(cls: type[Resource], origin: str) -> Iterator[str]:
    said = _format_status(cls.support_status)
    if said:
        yield said
    can = list_abilities(cls)
    if can:
        yield f"Besides create and delete it can: {', '.join(can)}."
    if origin:
        yield f"Brought by {origin}."


def _format_status(status: SupportStatus) -> str:
    words = "" if status.status == support.SUPPORTED else f"{status.status.capitalize()}"
    since = f"since {status.version}" if status.version else ""
    text = " ".join(filter(None, (words or ("Available" if since else ""), since)))
    message = f" {status.message}" if status.message else ""
    return f"{text}.{message}" if text else message.strip()


def _format_properties(schemata: Mapping[str, Schema]) -> str:
    head = ["| name | type | what it is | when it changes |", "|---|---|---|---|"]
    return "\n".join([*head, *_format_rows(schemata, "")])


def _format_policy(schemata: Mapping[str, Schema]) -> str:
    head = ["| name | type | what it is |", "|---|---|---|"]
    rows = (row.rpartition(" |  |")[0] + " |" for row in _format_rows(schemata, "", inner=True))
    return "\n".join([*head, *rows])


def _format_rows(schemata: Mapping[str, Schema], prefix: str, inner: bool = False) -> Iterator[str]:
    for key, schema in schemata.items():
        name = f"{prefix}{key}"
        change = "" if inner else _format_change(schema)
        yield f"| `{name}` | {_format_type(schema)} | {_format_description(schema)} | {change} |"
        inside = schema.items.fields if schema.items is not None else schema.fields
        marks = f"{name}[]." if schema.items is not None else f"{name}."
        yield from _format_rows(inside, marks, inner=True)


def _format_type(schema: Schema) -> str:
    kind = schema.type.lower()
    if schema.items is not None:
        kind += f" of {schema.items.type.lower()}s"
    return kind + (", required" if schema.required and schema.default is None else "")


def _format_change(schema: Schema) -> str:
    if schema.immutable:
        return "refused"
    return "updated in place" if schema.update_allowed else "replaced"


def _format_description(schema: Schema) -> str:
    parts = [schema.description or "", _format_status(schema.support_status)]
    if schema.default is not None and not schema.hidden:
        parts.append(f"Default: `{json.dumps(schema.default_value(), default=str)}`.")
    parts += [_format_rule(each) for each in schema.constraints]
    if schema.hidden:
        parts.append("Never shown.")
    return _format_cell(" ".join(filter(None, parts)))


def _format_rule(constraint: Constraint) -> str:
    shown: dict[str, Any] = constraint.to_dict()
    rule = shown[constraint.keyword]
    if isinstance(rule, dict):
        rule = ", ".join(f"{key} {value}" for key, value in rule.items())
    elif isinstance(rule, list):
        rule = ", ".join(f"`{json.dumps(each, default=str)}`" for each in rule)
    else:
        rule = f"`{rule}`"
    words = f" ({constraint.description})" if constraint.description else ""
    return f"{constraint.keyword.replace('_', ' ').capitalize()}: {rule}{words}."


def _format_attributes(cls: type[Resource]) -> str:
    head = ["| name | type | what it is |", "|---|---|---|"]
    rows = [
        f"| `{key}` | {(schema.type or 'any').lower()} | "
        + _format_cell(
            " ".join(filter(None, (schema.description, _format_status(schema.support_status))))
        )
        + " |"
        for key, schema in sorted(cls.attributes_schema.items())
    ]
    return "\n".join([*head, *rows])


def _format_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
