"""Checks of the sections that are for ``zonda serve``: policy, quotas, projects.

Called by ``settings`` where the file has one of them. The names of operations are those of the
interfaces, which ``zonda serve`` compares when it starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zonda.hooks.text.suggestions import format_suggestion

from .rules import parse_rule

#: The settings of this module.
SECTIONS = ("policy", "quotas", "projects")
#: The table of ``[policy]`` for types of resources: pattern to rule.
RESOURCE_TYPES = "resource_types"
#: The section of the projects that have none of their own.
ALL_PROJECTS = "*"
RUNNERS = "runners"
SECRET_SOURCES = "secret_sources"
#: The quotas of a project, with their defaults; None: any number.
QUOTAS: Mapping[str, float | None] = {
    "stacks": 512,
    "resources": None,
    "actions": None,
    "snapshots": None,
    "template_bytes": None,
    "requests": None,
    "streams": 20,
}
#: The lists of patterns that a project may have, beside quotas.
GRANTS = (RESOURCE_TYPES, RUNNERS, SECRET_SOURCES)
_MOST = 10**9
#: (section, entry, fault)
_Fault = tuple[tuple[str, ...], str, str]


def locate_server_faults(path: Path, text: str, document: Mapping[str, Any]) -> Iterator[str]:
    """Find the errors of these sections, with their places."""
    for name, check in (("policy", _check_policy), ("quotas", _check_quotas_section)):
        section = document.get(name)
        if isinstance(section, dict):
            yield from _place_faults(path, text, check((name,), section))
    projects = document.get("projects")
    for name, section in projects.items() if isinstance(projects, dict) else ():
        if isinstance(section, dict):
            yield from _place_faults(path, text, _check_project(("projects", name), section))
        else:
            line = find_entry_line(text, ("projects",), name)
            yield f"{path}:{line}: projects: {name} must be a section [projects.{name}]"


def find_entry_line(text: str, section: tuple[str, ...], entry: str) -> int:
    """Find the line of an entry of ``[SECTION]``, else that of the section; 1: unknown."""
    names = [rf"""["']?{re.escape(name)}["']?""" for name in section]
    dotted = r"\s*\.\s*".join(names)
    head = re.search(rf"(?m)^[ \t]*\[\s*{dotted}\s*\]", text)
    if head is None:
        return 1
    following = re.compile(r"(?m)^[ \t]*\[").search(text, head.end())
    last = following.start() if following else len(text)
    line = re.compile(rf"""(?m)^[ \t]*["']?{re.escape(entry)}["']?[ \t]*=""")
    place = line.search(text, head.end(), last) if entry else None
    return text.count("\n", 0, (place or head).end()) + 1


def _place_faults(path: Path, text: str, faults: Iterator[_Fault]) -> Iterator[str]:
    for section, entry, fault in faults:
        where = f"{path}:{find_entry_line(text, section, entry)}"
        yield f"{where}: [{'.'.join(section)}]: {entry} {fault}".replace("  ", " ")


def _check_policy(section: tuple[str, ...], entries: Mapping[str, Any]) -> Iterator[_Fault]:
    for operation, rule in entries.items():
        if operation == RESOURCE_TYPES and isinstance(rule, dict):
            yield from _check_policy((*section, operation), rule)
            continue
        if not isinstance(rule, str):
            yield section, operation, 'must be a rule, e.g. "role:admin or owner"'
            continue
        try:
            parse_rule(rule)
        except ValueError as error:
            yield section, operation, f"is no rule: {error}"


def _check_quotas_section(section: tuple[str, ...], entries: Mapping[str, Any]) -> Iterator[_Fault]:
    for name, value in entries.items():
        if name not in QUOTAS:
            yield section, name, f"is no quota{format_suggestion(name, QUOTAS)}"
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            yield section, name, "must be a number"
        elif not 0 <= value <= _MOST or (name != "requests" and value != int(value)):
            yield section, name, f"must be a whole number from 0 to {_MOST}"


def _check_project(section: tuple[str, ...], entries: Mapping[str, Any]) -> Iterator[_Fault]:
    for name, value in entries.items():
        if name == "quotas" and isinstance(value, dict):
            yield from _check_quotas_section((*section, name), value)
        elif name not in (*GRANTS, "quotas"):
            known = format_suggestion(name, (*GRANTS, "quotas"))
            yield section, name, f"is nothing that a project has{known}"
        elif not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            yield section, name, "must be a list of texts"
