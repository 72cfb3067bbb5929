"""``zonda template parameters``: all parameters of a template and its nested templates."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from zonda.core.introspection.parameters import Parameter, ParameterListing

from ..arguments import argument, takes
from ..console import errors, formats
from ..options import template
from ..session import Session

_COLUMNS = ("Parameter", "Type", "Mandatory", "Default", "Value", "From", "Declared", "Used By")
_SHOWN = 2


@takes(
    template.add_required_arguments,
    argument("--missing", action="store_true", help="only what still has no value"),
    argument(
        "--all",
        action="store_true",
        help="also what templates give to those nested in them",
    ),
    formats.add_arguments,
)
def parameters(session: Session, arguments: argparse.Namespace) -> None:
    """List one row per parameter of each template."""
    bundle = template.collect_bundle(session, arguments, required=True)
    found = session.app.templates.list_parameters(bundle, given_too=arguments.all)
    rows = [each for each in found.parameters if each.missing or not arguments.missing]
    screen = session.screen
    for note in found.open:
        screen.say(f"not looked into: {note}")
    if arguments.format in ("json", "yaml") and not arguments.column:
        formats.write_data(screen.out, arguments.format, _as_data(found, rows))
    else:
        cells = [_build_row(each) for each in rows]
        session.show_rows(arguments, _COLUMNS, cells)


def _build_row(each: Parameter) -> tuple[Any, ...]:
    origin = each.origin or "(missing)"
    if each.origin_place is not None:
        origin += f" {each.origin_place}"
    used = each.resources[:_SHOWN]
    more = len(each.resources) - len(used)
    return (
        each.name,
        each.schema.type,
        "yes" if each.mandatory else "no",
        each.default,
        each.value,
        origin,
        str(each.place or each.template),
        ", ".join(used) + (f", {more} more" if more else ""),
    )


def _as_data(found: ParameterListing, rows: list[Parameter]) -> dict[str, Any]:
    return {
        "parameters": [dict(_build_fields(each)) for each in rows],
        "templates": found.templates,
        "not_looked_into": list(found.open),
    }


def _build_fields(each: Parameter) -> Iterator[tuple[str, Any]]:
    schema = each.schema
    yield from (("name", each.name), ("type", schema.type))
    yield from (("label", schema.label), ("description", schema.description or ""))
    yield from (("mandatory", each.mandatory), ("missing", each.missing))
    yield from (("default", each.default), ("value", each.value))
    yield from (
        ("from", each.origin or None),
        ("from_place", each.origin_place and errors.position_as_data(each.origin_place)),
    )
    yield from (("hidden", each.hidden), ("immutable", schema.immutable))
    yield "constraints", list(each.constraints)
    yield from (
        ("tags", list(schema.tags)),
        ("declared", each.place and errors.position_as_data(each.place)),
    )
    yield from (("template", each.template), ("give_in", each.give_in))
    yield "resources", each.resources
