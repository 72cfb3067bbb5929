"""Differences between live state and template, as texts that may be stored and shown.

Pure. For ``observing``; of hidden properties only the name is told, and what was seen in them is
masked wherever else it stands.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from zonda.hooks import redact, secret_texts, truncate_middle


def describe_differences(
    names: Collection[str],
    sent: Mapping[str, Any],
    live: Mapping[str, Any],
    hidden: Collection[str],
) -> list[str]:
    """One text for each of the properties ``names``, which differ."""
    texts = secret_texts(value[name] for name in hidden for value in (sent, live) if name in value)

    def show(value: Any) -> str:
        return truncate_middle(redact(json.dumps(value), texts))

    return [
        f"{name} (hidden)"
        if name in hidden
        else f"{name} (template {show(sent[name])}, there {show(live[name])})"
        for name in names
    ]
