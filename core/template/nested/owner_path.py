"""Where in a resource's own entry that stands which a generated template made a fault of.

Called by ``nested_checks``: a generated template has no text, so its faults are shown where the
resource that generates it says the same word.
"""

from __future__ import annotations

from typing import Any

from zonda.hooks.errors import Path

from ..syntax.resource import ResourceNode


def spot(at: Path, node: ResourceNode) -> Path:
    """The path in the owner's document of what stands at ``at`` in what it generates."""
    inside = (*node.path, "properties")
    given = node.raw.get("properties")
    if at[:1] == ("resources",) and len(at) > 3 and at[2] == "properties":
        found = _key(given, at[3], inside)
        return (*found, *at[4:]) if found is not None else inside
    if at[:1] == ("resources",) and at[2:3] == ("type",):
        return _key(given, "type", inside) or inside
    return inside if isinstance(given, dict) else node.path


def _key(tree: Any, key: Any, path: Path) -> Path | None:
    """The path to the first ``key`` of a map anywhere below."""
    if isinstance(tree, dict):
        if key in tree:
            return (*path, key)
        items = tree.items()
    elif isinstance(tree, list):
        items = enumerate(tree)  # type: ignore[assignment]
    else:
        return None
    found = (_key(item, key, (*path, step)) for step, item in items)
    return next((each for each in found if each is not None), None)
