"""``zonda template validate``, ``template version list`` and ``template function list``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import zonda
from zonda.core.template.source.versions import CFN_DATES, DATES, KEY, NAMES
from zonda.hooks.errors import (
    TemplateError,
    TemplateWarning,
    ValidationErrors,
    ZondaError,
)

from ..arguments import argument, takes
from ..console import errors as problems
from ..console import formats, sanitize
from ..console.console import Screen
from ..options import template
from ..session import Session

SARIF = "sarif"


@takes(
    argument("file", metavar="FILE", nargs="?", help="the template, also given with -t"),
    template.add_arguments,
    argument(
        "--ignore-unknown-types",
        action="store_true",
        help="only warn of resource types and custom constraints that are not installed",
    ),
    lambda parser: formats.add_arguments(parser, SARIF, formats.SHELL),
)
def validate(session: Session, arguments: argparse.Namespace) -> int:
    """Show every error and warning with its place, or the declarations of the template."""
    arguments.template = arguments.template or arguments.file
    screen = session.screen
    try:
        bundle = template.collect_bundle(session, arguments, required=True)
        checked = session.app.templates.validate(
            bundle, ignore_unknown=arguments.ignore_unknown_types
        )
    except TemplateError as error:
        if arguments.format not in ("json", "yaml", SARIF):
            raise
        warnings = error.warnings if isinstance(error, ValidationErrors) else ()
        _faults_as_data(screen, arguments.format, problems.list_errors(error), warnings)
        return problems.INVALID
    if arguments.format == SARIF:
        _faults_as_data(screen, SARIF, (), checked.warnings)
        return 0
    fields: dict[str, Any] = {
        "valid": True,
        "description": checked.description,
        "parameters": checked.parameters,
        "resources": checked.resources,
        "outputs": checked.outputs,
    }
    if arguments.format in ("json", "yaml"):
        fields["errors"] = []
        fields["warnings"] = [problems.warning_as_data(each) for each in checked.warnings]
    else:
        for warning in checked.warnings:
            screen.say(problems.warning_as_text(screen, warning))
    session.show_fields(arguments, fields)
    return 0


def _faults_as_data(
    screen: Screen, form: str, errors: Sequence[ZondaError], warnings: Sequence[TemplateWarning]
) -> None:
    if form == SARIF:
        from zonda.core.diagnostics import sarif  # with the pages of all codes

        formats.write_data(screen.out, "json", sarif.build_log(errors, warnings, zonda.__version__))
        return
    found = {
        "valid": False,
        "errors": [problems.as_data(each) for each in errors],
        "warnings": [problems.warning_as_data(each) for each in warnings],
    }
    formats.write_data(screen.out, form, found)


@takes(formats.add_arguments)
def versions(session: Session, arguments: argparse.Namespace) -> None:
    """List one row per version, with its other name."""
    named = {date: name for name, date in NAMES.items()}
    rows = [(f"{KEY}.{date}", "hot", named.get(date, "")) for date in DATES]
    rows += [(f"{key}.{date}", "cfn", "") for key, date in CFN_DATES.items()]
    session.show_rows(arguments, ("Version", "Type", "Aliases"), rows)


@takes(
    argument("version", metavar="VERSION", help="e.g. 2018-08-31 or rocky"),
    argument(
        "--with-conditions",
        "--with_conditions",
        action="store_true",
        help="also what conditions may call",
    ),
    formats.add_arguments,
)
def functions(session: Session, arguments: argparse.Namespace) -> None:
    """List the functions of one template version."""
    found = session.app.reference.list_functions(
        arguments.version, conditions=arguments.with_conditions
    )
    rows = [(name, sanitize.strip_markup(text)) for name, text in found.items()]
    session.show_rows(arguments, ("Functions", "Description"), rows)
