"""The cause of an update or a replacement, as it is stored and shown by ``zonda stack why``.

Written when the operation begins; only the names of properties are kept, never their values.
"""

from __future__ import annotations

import json

from zonda.hooks.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Cause:
    """``decision``: update or replace. ``about``: the properties that forced it; see Comparison."""

    decision: str
    why: str = ""
    about: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def as_text(cause: Cause) -> str:
    """The text for column ``cause``."""
    values: dict[str, object] = {"decision": cause.decision}
    for name in ("why", "about", "changed"):
        if value := getattr(cause, name):
            values[name] = value
    return json.dumps(values)


def format_plugin_cause(text: str) -> str:
    """The text of an update whose handler has asked for a replacement instead."""
    found = parse_cause(text) or Cause("replace")
    return as_text(Cause("replace", "plugin", found.changed, found.changed))


def parse_cause(text: str) -> Cause | None:
    """The cause of a text of ``as_text``; None where there is none."""
    if not text:
        return None
    found = Cause(**json.loads(text))
    return replace(found, about=tuple(found.about), changed=tuple(found.changed))
