"""What is adopted, compared with what its type says it really is. Called in the pool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import NotReady
from zonda.hooks.live_state import AsAWhole
from zonda.hooks.resource import Resource

from .reasons import OPEN


def compared(instance: Resource, marks: Mapping[str, str]) -> str:
    """A sentence on what differs from the definition; '' for a type that cannot tell.

    ``marks``: which properties are secret. Raises ``errors.NotFound`` where nothing is there.
    """
    try:
        live = instance.get_live_state()
    except NotReady:
        return ""  # that takes its time: a drift check has it, an adoption has not
    if live is None:
        return ""
    if isinstance(live, AsAWhole) and not live.in_sync:
        return "adopted; it differs from the template"
    wanted = instance.properties.stored()
    told = [
        _told(name, wanted[name], value, marks)
        for name, value in sorted(live.items())
        if wanted.get(name) is not None and wanted[name] != value
    ]
    if not told:
        return "adopted; it is as the template says"
    return f"adopted; it differs from the template: {', '.join(told)}"


def _told(name: str, wanted: Any, value: Any, marks: Mapping[str, str]) -> str:
    if marks.get(name, OPEN) != OPEN:
        return f"{name} (hidden)"
    return f"{name} (template {json.dumps(wanted)}, there {json.dumps(value)})"
