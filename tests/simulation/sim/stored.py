"""The templates of the simulation, as they are stored."""

from __future__ import annotations

import json
from typing import Any

from zonda.core.store.read.reader import Reader

from .nested_template import of_child


def stored(reader: Reader, template_id: str) -> dict[str, Any]:
    """The template behind an id; of a nested stack what it was made from."""
    view = reader.template(template_id)
    body = view.body
    if view.base_id is None:
        known: dict[str, Any] = json.loads(body["template"])
        return known
    base = stored(reader, view.base_id)
    return of_child(body["spec"], base["files"])
