"""The properties of ``OS::Mistral::Workflow`` as a workflow in Mistral's language, and back. Pure.

``written`` makes the text that Mistral is sent; ``observed`` reads what Mistral has into the words
of the properties, taking a property as it is written wherever both mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from .workflow_schema import (
    DESCRIPTION,
    INPUT,
    JOIN,
    ONCE_POLICIES,
    OUTPUT,
    POLICIES,
    TAGS,
    TASK_DEFAULTS,
    TASKS,
    TYPE,
)

_AS_THEY_ARE = (TYPE, DESCRIPTION, TAGS, OUTPUT)
Stored = Mapping[str, Any]


def format_definition(name: str, stored: Stored) -> str:
    """The text for a workflow of that name. ``stored``: the properties, null where not given."""
    whole = {"version": "2.0", name: build_workflow(stored)}
    return yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=1000)


def build_workflow(stored: Stored) -> dict[str, Any]:
    """The workflow as Mistral's language has it."""
    found = {key: stored[key] for key in _AS_THEY_ARE if stored.get(key)}
    if stored.get(INPUT):
        found[INPUT] = list(stored[INPUT])
    defaults = _to_dashed(stored.get(TASK_DEFAULTS) or {}, keep_empty=False)
    if defaults:
        found["task-defaults"] = defaults
    found[TASKS] = {str(one.get("name")): build_task(one) for one in stored.get(TASKS) or ()}
    return found


def build_task(stored: Stored) -> dict[str, Any]:
    """One task in Mistral's language, ``policies`` among the rest."""
    policies = stored.get(POLICIES) or {}
    moved = {key: value for key, value in policies.items() if key in ONCE_POLICIES}
    own = {key: value for key, value in stored.items() if value is not None}
    found = _to_dashed({**moved, **own}, keep_empty=True)
    found.pop("name", None)
    found.pop(POLICIES, None)
    join = found.get(JOIN)
    if isinstance(join, str) and join.isdecimal():
        found[JOIN] = int(join)
    return found


def _to_dashed(stored: Stored, *, keep_empty: bool) -> dict[str, Any]:
    return {
        key.replace("_", "-"): value
        for key, value in stored.items()
        if value is not None and (keep_empty or value)
    }


def is_same_workflow(name: str, text: str, other: str) -> bool:
    """Whether two texts define the same workflow of that name."""
    return find_workflow(name, text) == find_workflow(name, other) != {}


def find_workflow(name: str, text: str) -> dict[str, Any]:
    """The workflow of that name in a text; empty where there is none."""
    try:
        whole = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    found = whole.get(name) if isinstance(whole, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else {}


def read_properties(name: str, text: str, stored: Stored) -> dict[str, Any]:
    """The properties that a definition at Mistral shows, by their names and in their types."""
    live, wanted = find_workflow(name, text), build_workflow(stored)
    found: dict[str, Any] = {
        TYPE: live.get(TYPE, "direct"),
        TASKS: _read_tasks(live.get(TASKS) or {}, stored.get(TASKS) or ()),
    }
    for key in (DESCRIPTION, TAGS, OUTPUT):
        found[key] = stored.get(key) if live.get(key) == wanted.get(key) else live.get(key)
    found[INPUT] = _read_inputs(live.get(INPUT) or (), stored.get(INPUT))
    defaults = live.get("task-defaults") or {}
    equal = defaults == (wanted.get("task-defaults") or {})
    found[TASK_DEFAULTS] = stored.get(TASK_DEFAULTS) if equal else _to_underscored(defaults)
    return found


def _read_inputs(live: Sequence[Any], stored: Stored | None) -> Any:
    """Inputs by name, with their values of the properties: Mistral has none."""
    names = [next(iter(one)) if isinstance(one, Mapping) and one else one for one in live]
    known = stored or {}
    if set(names) == set(known):
        return stored
    return {str(name): known.get(name) for name in names}


def _read_tasks(live: Stored, stored: Sequence[Stored]) -> list[dict[str, Any]]:
    """The tasks in the order of the properties; those that these do not have come last."""
    found = []
    known = {str(one.get("name")): one for one in stored}
    for name in [*(name for name in known if name in live), *(n for n in live if n not in known)]:
        same_task = name in known and build_task(known[name]) == live[name]
        found.append(
            dict(known[name]) if same_task else _read_task(name, live[name], known.get(name))
        )
    return found


def _read_task(name: str, live: Any, stored: Stored | None) -> dict[str, Any]:
    fields = _to_underscored(live if isinstance(live, Mapping) else {})
    return {**dict.fromkeys(stored or ()), "name": name, **fields}


def _to_underscored(live: Stored) -> dict[str, Any]:
    return {str(key).replace("-", "_"): value for key, value in live.items()}
