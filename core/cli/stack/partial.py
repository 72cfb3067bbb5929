"""Masked values of a stack's document, and their replacement by the command's arguments.

Called by ``stack adopt``. A document names what it has masked; a template, environments and
parameters on the command line may stand in for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.engine.model.documents import MASK
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import UsageError

#: The sections of an environment that set parameters.
_SECTIONS = ("parameters", "parameter_defaults")


def check_complete(file: str, document: Mapping[str, Any], given: Bundle) -> None:
    """Raise UsageError if anything that ``document`` masks is not given again."""
    missing = [path for path in map(str, document.get("masked") or ()) if path]
    known = {*given.parameters, *_list_parameters(given)}
    entries = set(_list_masked_paths(document))
    if given.template:
        missing = [path for path in missing if not path.startswith(("template.", "files."))]
    missing = [
        path
        for path in missing
        if not path.startswith("leftovers.")
        and (path in entries if path.startswith("resources.") else path.split(".")[-1] not in known)
    ]
    if missing:
        raise UsageError(
            f"In {file} hidden values are left out: {', '.join(missing)}.",
            hint="Export the stack again with --with-secrets. Where it is gone: -t gives the "
            "template again, -e and --parameter give parameters; what of a resource is not needed "
            "can be taken out of the file.",
        )


def remove_masks(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the masked values of an environment, which are given elsewhere."""
    found = dict(environment)
    for section in _SECTIONS:
        if isinstance(values := found.get(section), Mapping):
            found[section] = {key: value for key, value in values.items() if value != MASK}
    return found


def _list_masked_paths(document: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """List the paths that are still masked in resources, also in nested ones."""
    resources = document.get("resources")
    for name, entry in resources.items() if isinstance(resources, Mapping) else ():
        if not isinstance(entry, Mapping):
            continue
        place = f"{where}resources.{name}"
        data, metadata = (
            found if isinstance(found := entry.get(key), Mapping) else {}
            for key in ("resource_data", "metadata")
        )
        yield from (f"{place}.resource_data.{key}" for key in data if data[key] == MASK)
        if MASK in metadata.values():
            yield f"{place}.metadata"
        yield from _list_masked_paths(entry, f"{place}.")


def _list_parameters(given: Bundle) -> Iterator[str]:
    """List the parameters that environments name."""
    for file, _ in given.environment_files:
        document = given.documents.get(file)  # none where it cannot be read, which is told later
        found = None if document is None else document.data
        for section in _SECTIONS:
            values = found.get(section) if isinstance(found, Mapping) else None
            yield from map(str, values if isinstance(values, Mapping) else ())
