"""What CHECK observed and what the template says, in words that may be stored and shown.

Pure. For ``observing``; of hidden properties only the name is told, and what was seen in them is
masked wherever else it stands.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from zonda.hooks.execution import plain
from zonda.hooks.secret_texts import masked, secret_texts
from zonda.hooks.wording import shortened


def in_words(
    wanted: Mapping[str, Any], live: Mapping[str, Any], hidden: Collection[str]
) -> list[str]:
    """One text for each property that is set and was observed to be otherwise."""
    names = [
        name
        for name in sorted(live)
        if wanted.get(name) is not None and plain(wanted[name]) != plain(live[name])
    ]
    texts = secret_texts(
        value[name] for name in hidden for value in (wanted, live) if name in value
    )

    def shown(value: Any) -> str:
        return shortened(masked(json.dumps(value), texts))

    return [
        f"{name} (hidden)"
        if name in hidden
        else f"{name} (template {shown(wanted[name])}, there {shown(live[name])})"
        for name in names
    ]
