"""The live state of an adopted resource, compared with its definition. In the pool."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from zonda.core.template.sensitivity.labels import has_hidden_part
from zonda.hooks.errors import NotReady
from zonda.hooks.resources.live_state import Comparison, OpaqueState, compare_live_state
from zonda.hooks.resources.resource import Resource

from .reasons import OPEN


def describe_differences(instance: Resource, marks: Mapping[str, str]) -> str:
    """A sentence on the differences; '' for a type that cannot tell its live state.

    ``marks``: which properties are secret. Raises ``errors.NotFound`` where nothing is there.
    """
    try:
        live = instance.get_live_state()
    except NotReady:
        return ""  # that takes its time: a drift check has it, an adoption has not
    if live is None:
        return ""
    if isinstance(live, OpaqueState):
        is_so = "is as the template says" if live.in_sync else "differs from the template"
        return f"adopted; it {is_so}"
    found = compare_live_state(instance.properties, live)
    if found.is_blind:
        return "adopted; its type tells nothing of what the template says"
    schemas = instance.properties_schema
    hidden = {name for name in found.differing if has_hidden_part(schemas[name])}
    hidden |= {name for name, mark in marks.items() if mark != OPEN}
    told = [_format_difference(name, found, hidden) for name in found.differing]
    if not told:
        return "adopted; it is as the template says"
    return f"adopted; it differs from the template: {', '.join(told)}"


def _format_difference(name: str, found: Comparison, hidden: Collection[str]) -> str:
    if name in hidden:
        return f"{name} (hidden)"
    sent, there = json.dumps(found.sent[name]), json.dumps(found.live[name])
    return f"{name} (template {sent}, there {there})"
