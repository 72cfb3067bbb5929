"""``zonda template schema``: the template language for editors, with the installed types."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from inspect import getdoc
from typing import Any

from zonda.core.reference.json_schema import build_template_schema
from zonda.core.template.source.versions import DATES, NAMES
from zonda.hooks.errors import NotFound

from ..arguments import argument, takes
from ..session import Session


@takes(
    argument(
        "--version",
        metavar="VERSION",
        help="e.g. 2018-08-31 or rocky (default: a schema for templates of any version)",
    ),
)
def schema(session: Session, arguments: argparse.Namespace) -> None:
    """Print a JSON Schema on standard output."""
    dates = DATES if arguments.version is None else (_find_version_date(arguments.version),)
    functions: dict[str, str] = {}
    conditions: dict[str, str] = {}
    for date in dates:
        table = session.local.function_table(date)
        known = {name: cls for name, cls in table.functions.items() if name not in table.removed}
        functions |= _describe_functions(known)
        conditions |= _describe_functions(
            {
                name: cls
                for name, cls in table.conditions.items()
                if name not in table.functions or known.get(name) is cls
            }
        )
    names = [name for name, date in NAMES.items() if date in dates]
    types = session.local.plugins.resource_types
    made = build_template_schema((*dates, *names), functions, conditions, types)
    session.screen.out.write(json.dumps(made, indent=2, default=str) + "\n")


def _find_version_date(version: str) -> str:
    date = NAMES.get(version, version)
    if date not in DATES:
        known = ", ".join((*DATES, *NAMES))
        raise NotFound("template version", version, hint=f"The versions are {known}.")
    return date


def _describe_functions(functions: Mapping[str, type[Any]]) -> dict[str, str]:
    return {name: (getdoc(cls) or "").split("\n")[0] for name, cls in functions.items()}
