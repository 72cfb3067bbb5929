"""``--pre-create`` and ``--pre-update``: breakpoints without an environment file of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import load_document
from zonda.hooks import records
from zonda.hooks.errors import TemplateError, UsageError

from ..arguments import Declaration, argument

_REGISTRY, _RESOURCES, _HOOKS = "resource_registry", "resources", "hooks"


def declare(hook: str) -> Declaration:
    """Declare the option of one hook."""
    return argument(
        f"--{hook}",
        metavar="RESOURCE",
        action="append",
        default=[],
        help="wait there until 'zonda stack hook clear'; a name or a pattern with *",
    )


def add_hooks(bundle: Bundle, names: Iterable[str], hook: str) -> Bundle:
    """Add to the bundle an environment that sets ``hook`` for resources.

    An environment's entries for resources hide those of the ones before, so that it repeats them.
    A name like ``nested/web`` is meant for a resource of a nested stack.
    """
    names = list(names)
    if not names:
        return bundle
    resources = _read_resource_entries(bundle)
    for name in names:
        level = resources
        for part in name.split("/"):
            level = level.setdefault(part, {})
            if not isinstance(level, dict):
                raise UsageError(f"--{hook} {name} cannot be set beside what {part} says.")
        known = level.get(_HOOKS) or []
        level[_HOOKS] = [*(known if isinstance(known, list) else [known]), hook]
    file = f"--{hook}"
    text = json.dumps({_REGISTRY: {_RESOURCES: resources}})
    links = {key: value for each in bundle.links.values() for key, value in each.items()}
    return records.replace(
        bundle,
        environment_files=(*bundle.environment_files, (file, text)),
        links={**bundle.links, file: links} if links else bundle.links,
    )


def _read_resource_entries(bundle: Bundle) -> dict[str, Any]:
    """Read the environments' entries for single resources; later ones hide earlier ones."""
    found: dict[str, Any] = {}
    for file, text in bundle.environment_files:
        try:
            data = load_document(text, file).data
        except TemplateError:
            continue  # it is told with its place when the bundle is loaded
        registry = data.get(_REGISTRY) if isinstance(data, dict) else None
        said = registry.get(_RESOURCES) if isinstance(registry, dict) else None
        if isinstance(said, dict):
            found = json.loads(json.dumps(said))
    return found
