"""Marks of checks: one short text for all that the check of a nested template depends on.

Called by ``TemplateTree`` for ``nested_checks``. The engine keeps the marks of what was found well,
so that the next update need not look at it again. Hence everything counts that could change the
verdict: what the stack is made from, the files that it reaches and the defaults that these get
(``signatures``), the registry and what environments require, the limits, whose code the plug-ins
are and what they are lent. Marks are made from secrets, too: only keyed hashes of them are kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from dataclasses import astuple
from typing import Any

from zonda import __version__
from zonda.core.plugins.manager import Plugins
from zonda.hooks.lazy import file_of, place_of, unloaded
from zonda.hooks.text.json_encoder import encoder

from ..definition.child_spec import ChildSpec
from ..definition.fingerprint import canonical
from ..definition.loader import LoadContext
from ..environment.environment import Environment
from .signatures import digest_of


def _opaque(value: Any) -> dict[str, str]:
    """What is no data, like a value that is not known: as a map, so that no text means the same."""
    return {"": repr(value)}


_encode = encoder(sort_keys=True, default=_opaque)


def of_spec(spec: ChildSpec, unknown: Collection[str], *, by_name: bool = False) -> str:
    """Tells apart what nested stacks of one tree are made from.

    At whatever place of one depth, unless names decide what is made of it (``by_name``).
    """
    told = spec.to_json()
    names = told.pop("names")
    said = [told, sorted(unknown), names if by_name else len(names)]
    try:
        text = _encode(said)
    except TypeError:  # keys of several types
        text = canonical(said)
    return digest_of([text])


def of_surroundings(around: LoadContext, environment: Environment) -> str:
    """Changes with whatever every check of a tree depends on."""
    said = [
        __version__,
        sys.version,
        astuple(around.limits),
        environment.registry,
        environment.requires,
        environment.own,
        sorted(environment.encrypted),
        around.bundle.types,
    ]
    return digest_of([canonical(said), around.setup, *_code_of(around.plugins)])


def _code_of(plugins: Plugins) -> Iterator[str]:
    """Which plug-ins there are, of which versions; and the files that their classes stand in.

    A version alone would not do: plain files have none, and who writes a plug-in leaves it alone.
    """
    for origin in plugins.manager.origins() if plugins.manager is not None else ():
        yield f"{origin.plugin} {origin.distribution} {origin.version} {_state(origin.plugin)}"
    brought = [
        (name, ".".join(place_of(each)), file_of(each))
        for known in (plugins.resource_types, plugins.constraints)
        for name, each in unloaded(known).items()
    ]
    for name, place, file in sorted(brought):
        yield f"{name} {place} {file}"
    for file in sorted({file for _, _, file in brought}):
        yield f"{file} {_state(file)}"


def _state(file: str) -> str:
    try:
        found = os.stat(file)
    except OSError:  # no file, or none any more
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"
