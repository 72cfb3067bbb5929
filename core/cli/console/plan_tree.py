"""A plan as a tree of text, made from its document (docs/reference/plan-json.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.reports.texts import plan

from . import formats, sanitize
from .console import Screen, mark_colour

LONGEST = 160


def show_plan(screen: Screen, form: str | None, document: Mapping[str, Any]) -> None:
    """Show a plan as data (``json``, ``yaml``), or as a tree of text."""
    if form in ("json", "yaml"):
        formats.write_data(screen.out, form, document)
    else:
        for line in format_plan(document):
            screen.draw(line)


def format_plan(document: Mapping[str, Any]) -> Iterator[str]:
    """Format the lines, coloured by marks (``Screen.draw``)."""
    yield _format_title(document["stack"])
    for note in document["notes"]:
        yield mark_colour(f"  {sanitize.sanitize_line(note)}", "yellow")
    yield from _format_selection(document["selection"])
    yield from _format_moves(document["moved"])
    yield from _format_section("Settings", document["settings"])
    yield from _format_section("Parameters", document["parameters"])
    if document["files_outside"]:
        yield ""
        yield "  Files from outside of the template's folder"
        yield from (f"      {sanitize.sanitize_line(file)}" for file in document["files_outside"])
    for resource in document["resources"]:
        yield ""
        yield from _format_resource(resource, "  ")
    yield from _format_section("Outputs", document["outputs"])
    yield ""
    yield _format_summary(document)


def _format_title(stack: Mapping[str, Any]) -> str:
    name, action = sanitize.sanitize_line(stack["name"]), stack["action"] or "nothing"
    state = "new" if stack["state"] is None else f"now {stack['state']}"
    return mark_colour(f"Stack {name}: {action}", "bold") + f" ({state})"


def _format_moves(moves: list[Mapping[str, str]]) -> Iterator[str]:
    if moves:
        yield ""
    for move in moves:
        name, old = sanitize.sanitize_line(move["name"]), sanitize.sanitize_line(move["from"])
        yield f"  {mark_colour(f'= {name}', 'yellow')}  moved from {old}"


def _format_selection(selection: Mapping[str, Any] | None) -> Iterator[str]:
    if selection is None:
        return
    for what in ("targets", "excludes", "added", "left_alone"):
        if selection[what]:
            names = ", ".join(map(sanitize.sanitize_line, selection[what]))
            yield f"  {plan.SELECTED[what]}: {names}"


def _format_resource(resource: Mapping[str, Any], margin: str) -> Iterator[str]:
    sign, colour, words = plan.describe_resource(resource)
    name, kind = sanitize.sanitize_line(resource["name"]), sanitize.sanitize_line(resource["type"])
    yield (
        f"{margin}{mark_colour(f'{sign} {name}', colour)}  {kind}  "
        f"{words}{_format_instance(resource)}"
    )
    below = margin + "    "
    for reason in resource["reasons"]:
        text = sanitize.sanitize_line(reason["text"])
        yield f"{below}because {'perhaps ' if reason['perhaps'] else ''}{text}"
    for change in resource["changes"]:
        yield f"{below}{_format_change(change)}"
    for nested in resource["nested"]:
        yield from _format_nested(nested, resource, below)


def _format_nested(
    nested: Mapping[str, Any], owner: Mapping[str, Any], margin: str
) -> Iterator[str]:
    """Format the changes of a nested stack, without those that its owner has shown."""
    for change in plan.list_nested_parameters(nested, owner):
        yield f"{margin}parameter {_format_change(change)}"
    if nested["known_after_apply"]:
        yield f"{margin}{mark_colour('what happens in it is known after apply', 'yellow')}"
    for resource in nested["resources"]:
        yield from _format_resource(resource, margin)


def _format_instance(resource: Mapping[str, Any]) -> str:
    """Format the instance's id where the name is ambiguous or the instance leaves."""
    if not plan.has_instance(resource):
        return ""
    return f" (id {sanitize.sanitize_line(resource['physical_id'])})"


def _format_section(title: str, changes: list[Mapping[str, Any]]) -> Iterator[str]:
    if changes:
        yield ""
        yield f"  {title}"
    for change in changes:
        yield f"      {_format_change(change)}"


def _format_change(change: Mapping[str, Any]) -> str:
    sign, colour = plan.CHANGES[change["kind"]]
    path = plan.format_path(change["path"])
    shown = f"{mark_colour(sign, colour)} {path}: {_format_values(change)}"
    if change.get("forces") == "replace":
        return shown + mark_colour("  forces a replacement", "red")
    return shown + (mark_colour("  cannot be changed", "red") if change.get("forces") else "")


def _format_values(change: Mapping[str, Any]) -> str:
    if "hidden" in change:
        return f"({change['hidden']})"
    before = _format_text(change["before"]) if "before" in change else ""
    if change["kind"] == "removed":
        return before
    after = plan.LATER if change.get("known_after_apply") else _format_text(change["after"])
    return f"{before} -> {after}" if before else after


def _format_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 12]}... ({len(text)} characters)"
    return sanitize.sanitize_line(text)


def _format_summary(document: Mapping[str, Any]) -> str:
    parts = plan.list_counts(document)
    if not document["does_something"]:
        return mark_colour("Nothing to do", "green") + (f": {', '.join(parts)}." if parts else ".")
    return f"{mark_colour('Plan', 'bold')}: {', '.join(parts) or 'nothing but this'}."
