"""Plans in words: signs, verbs and counts of a plan's document (docs/reference/plan-json.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.text.sanitize import escape_control_chars

LATER = "(known after apply)"
#: action -> (sign, colour, words)
ACTIONS = {
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
MAY = {
    "create": "may be created",
    "delete": "may be deleted",
    "update": "may be updated in place",
    "replace": "may be replaced",
    "fail": "may fail",
    "refuse": "may fail",
}
CHANGES = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
#: The lists of a selection.
SELECTED = {
    "targets": "targets",
    "excludes": "excluded",
    "added": "with them, by what they require",
    "left_alone": "left as they are",
}
#: The numbers of a summary, in the order of the output.
COUNTED = {
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


def describe_resource(resource: Mapping[str, Any]) -> tuple[str, str, str]:
    """Describe what will happen to a resource: its sign, the colour and the words."""
    sign, colour, words = ACTIONS[resource["action"]]
    may = resource["may_become"]
    if may:
        words = " and ".join(filter(None, (words, MAY[may])))
        sign = sign.strip() or "?"
    return sign, colour, words


def list_counts(document: Mapping[str, Any]) -> list[str]:
    """List how many resources there are of each kind: ``2 to create``."""
    counted = document["summary"]
    return [f"{counted[key]} {words}" for key, words in COUNTED.items() if counted.get(key)]


def list_nested_parameters(
    nested: Mapping[str, Any], owner: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """List the changes of a nested stack's parameters, without those that its owner has shown."""
    known = {change["path"][1] for change in owner["changes"] if change["path"][0] == "properties"}
    for change in nested["parameters"]:
        if owner["action"] != "create" and change["path"][0] not in known:
            yield change


def has_instance(resource: Mapping[str, Any]) -> bool:
    """Whether the physical id tells what the name does not: the instance leaves, or has a twin."""
    kinds = {reason["kind"] for reason in resource["reasons"]}
    return bool(resource["physical_id"] and kinds & {"left over", "back", "retain", "external"})


def format_path(items: list[Any]) -> str:
    """Format ``properties.hosts[0].name``; an ambiguous key is put in brackets."""
    shown = ""
    for item in items:
        if isinstance(item, str) and item and item.isprintable() and not set(item) & set(". []\"'"):
            shown += f".{item}" if shown else item
        else:
            shown += f"[{escape_control_chars(json.dumps(item, ensure_ascii=False, default=str))}]"
    return shown
