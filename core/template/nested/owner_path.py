"""Map a path in a generated template back to the entry of the resource that generates it.

Called by ``nested_checks``: a generated template has no text, so its faults are shown where the
resource that generates it says the same word.
"""

from __future__ import annotations

from typing import Any

from zonda.hooks.errors import Path

from ..syntax.resource import ResourceNode


def find_owner_path(at: Path, node: ResourceNode) -> Path:
    """Find the path in the owner's document for the path ``at`` in its generated template."""
    inside = (*node.path, "properties")
    given = node.raw.get("properties")
    if at[:1] == ("resources",) and len(at) > 3 and at[2] == "properties":
        found = _find_key(given, at[3], inside)
        return (*found, *at[4:]) if found is not None else inside
    if at[:1] == ("resources",) and at[2:3] == ("type",):
        return _find_key(given, "type", inside) or inside
    return inside if isinstance(given, dict) else node.path


def _find_key(tree: Any, key: Any, path: Path) -> Path | None:
    """Find the path of the first ``key`` of a map anywhere below."""
    if isinstance(tree, dict):
        if key in tree:
            return (*path, key)
        items = tree.items()
    elif isinstance(tree, list):
        items = enumerate(tree)  # type: ignore[assignment]
    else:
        return None
    found = (_find_key(item, key, (*path, step)) for step, item in items)
    return next((each for each in found if each is not None), None)
