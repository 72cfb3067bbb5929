"""``zonda template explain-type``: which rule decides what a type means, and why others do not."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from zonda.core.introspection.type_resolution import Explanation, Rule
from zonda.core.template.capabilities.selection import Selection

from ..arguments import argument, takes
from ..console import errors, formats, sanitize
from ..options import template
from ..session import Session

_COLUMNS = ("Looked Up", "Rule", "Leads To", "Place", "Chosen", "Why")


@takes(
    argument("type", metavar="TYPE", help="a type, as a template would name it"),
    argument(
        "--resource", metavar="NAME", default="", help="the name of the resource that has the type"
    ),
    template.add_arguments,
    formats.add_arguments,
)
def explain_type(session: Session, arguments: argparse.Namespace) -> int:
    """Show one row per rule, and the resolved type; exit code 2 where there is none."""
    bundle = template.collect_bundle(session, arguments)
    found = session.app.templates.explain_type(bundle, arguments.type, arguments.resource)
    screen = session.screen
    if arguments.format in ("json", "yaml") and not arguments.column:
        formats.write_data(screen.out, arguments.format, as_data(found))
    elif found.rules or arguments.format != "table":
        rows = [_build_row(rule) for rule in found.rules]
        session.show_rows(arguments, _COLUMNS, rows)
    if arguments.format == "table" and not arguments.column:
        for line in _format_explanation(found):
            screen.show(line)
    if found.error is None:
        return 0
    return errors.say_error(screen, found.error)


def _build_row(rule: Rule) -> tuple[Any, ...]:
    pattern = rule.pattern if rule.resource is None else f"{rule.pattern} (for {rule.resource})"
    chosen = "yes" if rule.chosen else "no"
    target = "null" if rule.target is None else rule.target
    if isinstance(target, list):
        target = ", ".join(map(str, target))
    place = "" if rule.place is None else str(rule.place)
    return (rule.name, pattern, target, place or "(plug-in)", chosen, rule.why)


def _format_explanation(found: Explanation) -> Iterator[str]:
    for selection in found.selections:
        yield f"Candidates for {selection.type_name}:"
        yield from (f"  {line}" for line in selection.table())
        yield from (f"  (no candidate declares what {each} asks for)" for each in selection.idle)
    chain = " -> ".join(map(sanitize.sanitize_line, found.chain))
    if found.template:
        names = sanitize.sanitize_line(found.template), sanitize.sanitize_line(found.template_key)
        yield f"{chain} -> {names[0]} (template {names[1]})"
    elif found.cls_name:
        yield f"{chain} -> {found.cls_name} ({found.origin})"


def as_data(found: Explanation) -> dict[str, Any]:
    """Return an explanation as data for programs."""
    return {
        "type": found.type_name,
        "resource": found.resource or None,
        "chain": list(found.chain),
        "class": found.cls_name or None,
        "plugin": found.origin or None,
        "template": found.template or None,
        "template_file": found.template_key or None,
        "rules": [_rule_as_data(rule) for rule in found.rules],
        "candidates": [_selection_as_data(each) for each in found.selections],
        "errors": [] if found.error is None else [errors.as_data(found.error)],
    }


def _rule_as_data(rule: Rule) -> dict[str, Any]:
    return {
        "looked_up": rule.name,
        "rule": rule.pattern,
        "leads_to": rule.target,
        "resource": rule.resource,
        **errors.position_as_data(rule.place),
        "chosen": rule.chosen,
        "why": rule.why,
    }


def _selection_as_data(selection: Selection) -> dict[str, Any]:
    return {
        "type": selection.type_name,
        "requirements": list(selection.columns),
        "without_effect": list(selection.idle),
        "candidates": [
            {
                "name": verdict.candidate.name,
                "fits": verdict.fits,
                "result": verdict.result,
                "why": dict(zip(selection.columns, verdict.cells, strict=True)),
            }
            for verdict in selection.verdicts
        ],
    }
