"""Why an instance was updated or replaced, as it is kept with it and told by ``zonda stack why``.

Written when the operation begins; only the names of properties are kept, never their values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace


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


def asked_for_by_plugin(text: str) -> str:
    """The text of an update whose handler has asked for a replacement instead."""
    found = read(text) or Cause("replace")
    return as_text(Cause("replace", "plugin", found.changed, found.changed))


def read(text: str) -> Cause | None:
    """What ``as_text`` wrote; None where nothing was."""
    if not text:
        return None
    found = Cause(**json.loads(text))
    return replace(found, about=tuple(found.about), changed=tuple(found.changed))
