"""A plan as a tree for people. Called with the document of a plan (docs/reference/plan-json.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import formats, sanitize
from .console import Screen, marked

LONGEST = 160
_LATER = "(known after apply)"

#: action -> (sign, colour, words)
_ACTIONS = {
    "create": ("+", "green", "will be created"),
    "check": ("+", "green", "will be taken note of"),
    "update": ("~", "yellow", "will be updated in place"),
    "replace": ("-/+", "red", "will be replaced"),
    "delete": ("-", "red", "will be deleted"),
    "leave": ("-", "yellow", "leaves the stack"),
    "keep": (" ", "yellow", "would go, and stays for now"),
    "fail": ("!", "red", "will fail"),
    "blocked": ("!", "red", "will not be reached"),
    "none": (" ", "yellow", ""),
}
_MAY = {
    "create": "may be created",
    "delete": "may be deleted",
    "update": "may be updated in place",
    "replace": "may be replaced",
    "fail": "may fail",
    "refuse": "may fail",
}
_CHANGES = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


def show(screen: Screen, form: str | None, document: Mapping[str, Any]) -> None:
    """A plan as data (``json``, ``yaml``), or as a tree for people."""
    if form in ("json", "yaml"):
        formats.data(screen.out, form, document)
    else:
        for line in lines(document):
            screen.draw(line)


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The lines, coloured by marks (``Screen.draw``)."""
    yield _title(document["stack"])
    for note in document["notes"]:
        yield marked(f"  {sanitize.line(note)}", "yellow")
    yield from _selection(document["selection"])
    yield from _moved(document["moved"])
    yield from _section("Settings", document["settings"])
    yield from _section("Parameters", document["parameters"])
    if document["files_outside"]:
        yield ""
        yield "  Files from outside of the template's folder"
        yield from (f"      {sanitize.line(file)}" for file in document["files_outside"])
    for resource in document["resources"]:
        yield ""
        yield from _resource(resource, "  ")
    yield from _section("Outputs", document["outputs"])
    yield ""
    yield _summary(document)


def _title(stack: Mapping[str, Any]) -> str:
    name, action = sanitize.line(stack["name"]), stack["action"] or "nothing"
    state = "new" if stack["state"] is None else f"now {stack['state']}"
    return marked(f"Stack {name}: {action}", "bold") + f" ({state})"


def _moved(moves: list[Mapping[str, str]]) -> Iterator[str]:
    if moves:
        yield ""
    for move in moves:
        name, old = sanitize.line(move["name"]), sanitize.line(move["from"])
        yield f"  {marked(f'= {name}', 'yellow')}  moved from {old}"


def _selection(selection: Mapping[str, Any] | None) -> Iterator[str]:
    if selection is None:
        return
    for what in ("targets", "excludes", "added", "left_alone"):
        if selection[what]:
            names = ", ".join(map(sanitize.line, selection[what]))
            yield f"  {_SELECTED[what]}: {names}"


_SELECTED = {
    "targets": "targets",
    "excludes": "excluded",
    "added": "with them, by what they require",
    "left_alone": "left as they are",
}


def _resource(resource: Mapping[str, Any], margin: str) -> Iterator[str]:
    sign, colour, words = _ACTIONS[resource["action"]]
    may = resource["may_become"]
    if may:
        words = " and ".join(filter(None, (words, _MAY[may])))
        sign = sign.strip() or "?"
    name, kind = sanitize.line(resource["name"]), sanitize.line(resource["type"])
    yield f"{margin}{marked(f'{sign} {name}', colour)}  {kind}  {words}{_instance(resource)}"
    below = margin + "    "
    for reason in resource["reasons"]:
        text = sanitize.line(reason["text"])
        yield f"{below}because {'perhaps ' if reason['perhaps'] else ''}{text}"
    for change in resource["changes"]:
        yield f"{below}{_change(change)}"
    for nested in resource["nested"]:
        yield from _nested(nested, resource, below)


def _nested(nested: Mapping[str, Any], owner: Mapping[str, Any], margin: str) -> Iterator[str]:
    """What happens in a nested stack, below its owner; what that has said is not repeated."""
    said = {change["path"][1] for change in owner["changes"] if change["path"][0] == "properties"}
    for change in nested["parameters"]:
        if owner["action"] != "create" and change["path"][0] not in said:
            yield f"{margin}parameter {_change(change)}"
    if nested["known_after_apply"]:
        yield f"{margin}{marked('what happens in it is known after apply', 'yellow')}"
    for resource in nested["resources"]:
        yield from _resource(resource, margin)


def _instance(resource: Mapping[str, Any]) -> str:
    """Which one it is, where the name alone does not say so or it will not be asked again."""
    kinds = {reason["kind"] for reason in resource["reasons"]}
    shown = resource["physical_id"] and kinds & {"left over", "back", "retain", "external"}
    return f" (id {sanitize.line(resource['physical_id'])})" if shown else ""


def _section(title: str, changes: list[Mapping[str, Any]]) -> Iterator[str]:
    if changes:
        yield ""
        yield f"  {title}"
    for change in changes:
        yield f"      {_change(change)}"


def _change(change: Mapping[str, Any]) -> str:
    sign, colour = _CHANGES[change["kind"]]
    shown = f"{marked(sign, colour)} {path(change['path'])}: {_values(change)}"
    if change.get("forces") == "replace":
        return shown + marked("  forces a replacement", "red")
    return shown + (marked("  cannot be changed", "red") if change.get("forces") else "")


def _values(change: Mapping[str, Any]) -> str:
    if "hidden" in change:
        return f"({change['hidden']})"
    before = _text(change["before"]) if "before" in change else ""
    if change["kind"] == "removed":
        return before
    after = _LATER if change.get("known_after_apply") else _text(change["after"])
    return f"{before} -> {after}" if before else after


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 12]}... ({len(text)} characters)"
    return sanitize.line(text)


def path(items: list[Any]) -> str:
    """``properties.hosts[0].name``; a key that would be misread stands in brackets."""
    shown = ""
    for item in items:
        if isinstance(item, str) and item and item.isprintable() and not set(item) & set(". []\"'"):
            shown += f".{item}" if shown else item
        else:
            shown += f"[{sanitize.line(json.dumps(item, ensure_ascii=False, default=str))}]"
    return shown


_COUNTED = {
    "create": "to create",
    "check": "to take note of",
    "update": "to update",
    "replace": "to replace",
    "delete": "to delete",
    "leave": "to leave behind",
    "keep": "kept for now",
    "fail": "will fail",
    "blocked": "not reached",
    "may create": "may be created",
    "may update": "may be updated",
    "may replace": "may be replaced",
    "may delete": "may be deleted",
    "may fail": "may fail",
    "may refuse": "may fail",
    "outside": "not selected",
    "unchanged": "unchanged",
}


def _summary(document: Mapping[str, Any]) -> str:
    counted = document["summary"]
    parts = [f"{counted[key]} {words}" for key, words in _COUNTED.items() if counted.get(key)]
    if not document["does_something"]:
        return marked("Nothing to do", "green") + (f": {', '.join(parts)}." if parts else ".")
    return f"{marked('Plan', 'bold')}: {', '.join(parts) or 'nothing but this'}."
