"""``zonda template validate``, ``template version list`` and ``template function list``."""

from __future__ import annotations

import argparse
from typing import Any

from zonda.core.template.versions import DATES, NAMES
from zonda.hooks.errors import NotFound, TemplateError

from . import bundles, output, problems
from .session import Session


def validate_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``template validate``."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="the template, also given with -t")
    bundles.add_arguments(parser, required=False)
    parser.add_argument(
        "--ignore-unknown-types",
        action="store_true",
        help="only warn of resource types and custom constraints that are not installed",
    )
    output.add_arguments(parser)


def validate(session: Session, arguments: argparse.Namespace) -> int:
    """Every fault with its place, or what the template declares."""
    arguments.template = arguments.template or arguments.file
    bundle = bundles.collect(session, arguments, required=True)
    screen = session.screen
    try:
        checked = session.app.validate(bundle, ignore_unknown=arguments.ignore_unknown_types)
    except TemplateError as error:
        if arguments.format not in ("json", "yaml"):
            raise
        found = [problems.as_data(one) for one in problems.each(error)]
        output.data(screen.out, arguments.format, {"valid": False, "errors": found})
        return problems.INVALID
    for warning in checked.warnings:
        screen.say(f"{screen.coloured('warning', 'yellow')}: {warning}")
    fields: dict[str, Any] = {
        "valid": True,
        "description": checked.description,
        "parameters": checked.parameters,
        "resources": checked.resources,
        "outputs": checked.outputs,
    }
    if checked.warnings:
        fields["warnings"] = list(checked.warnings)
    output.fields(screen.out, arguments, fields, screen.width)
    return 0


def versions_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``template version list``."""
    output.add_arguments(parser)


def versions(session: Session, arguments: argparse.Namespace) -> int:
    """One row per version, with the other name that it goes by."""
    named = {date: name for name, date in NAMES.items()}
    rows = [(f"heat_template_version.{date}", "hot", named.get(date, "")) for date in DATES]
    screen = session.screen
    output.rows(screen.out, arguments, ("Version", "Type", "Aliases"), rows, screen.width)
    return 0


def functions_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``template function list``."""
    parser.add_argument("version", metavar="VERSION", help="e.g. 2018-08-31 or rocky")
    parser.add_argument(
        "--with-conditions",
        "--with_conditions",
        action="store_true",
        help="also what conditions may call",
    )
    output.add_arguments(parser)


def functions(session: Session, arguments: argparse.Namespace) -> int:
    """The functions that templates of one version may call."""
    name = arguments.version.removeprefix("heat_template_version.")
    date = NAMES.get(name, name)
    if date not in DATES:
        known = ", ".join((*DATES, *NAMES))
        raise NotFound("template version", arguments.version, hint=f"The versions are {known}.")
    found = session.app.function_table(date)
    called = dict(found.functions)
    if arguments.with_conditions:
        called.update(found.conditions)
    rows = [(name, _first_line(called[name])) for name in sorted(set(called) - found.removed)]
    screen = session.screen
    output.rows(screen.out, arguments, ("Functions", "Description"), rows, screen.width)
    return 0


def _first_line(cls: type[Any]) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0] if cls.__doc__ else ""
