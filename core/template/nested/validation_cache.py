"""Cache keys of validation: hashes over all that the check of a nested template depends on.

Called by ``TemplateTree`` and ``validation``. The engine keeps the marks of what was found well,
so that the next update need not look at it again. Hence everything counts that could change the
verdict: what the stack is made from, the files that it reaches and the defaults that these get
(``signatures``), the registry and what environments require, what is simulated, the limits, whose
code the plug-ins are and what they are lent. Marks are made from secrets, too: only keyed hashes
of them are kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from typing import Any

from zonda import __version__
from zonda.core.plugins.manager import Plugins
from zonda.hooks.lazy import GeneratedClass, find_file, get_place, get_unloaded
from zonda.hooks.records import asdict
from zonda.hooks.text.json_encoder import make_encoder

from ..definition.child_spec import ChildSpec
from ..definition.fingerprint import format_canonical
from ..definition.loader import LoadContext
from ..environment.environment import Environment
from .signatures import hash_texts


def _encode_opaque(value: Any) -> dict[str, str]:
    """Encode an object that is no data, such as an unknown value, as a map unlike any text."""
    return {"": repr(value)}


_encode = make_encoder(sort_keys=True, default=_encode_opaque)


def build_spec_key(spec: ChildSpec, unknown: Collection[str], *, by_name: bool = False) -> str:
    """Build a key that tells apart the specs of nested stacks of one tree.

    At whatever place of one depth, unless names decide what is made of it (``by_name``).
    """
    told = spec.to_json()
    names = told.pop("names")
    said = [told, sorted(unknown), names if by_name else len(names)]
    try:
        text = _encode(said)
    except TypeError:  # keys of several types
        text = format_canonical(said)
    return hash_texts([text])


def build_context_key(around: LoadContext, environment: Environment) -> str:
    """Build a key of everything that every check of a tree depends on."""
    said = [
        __version__,
        sys.version,
        asdict(around.limits),
        environment.registry,
        environment.requires,
        environment.own,
        sorted(environment.encrypted),
        around.bundle.types,
        around.bundle.simulated,
    ]
    return hash_texts(
        [format_canonical(said), around.setup, *_list_plugin_versions(around.plugins)]
    )


def _list_plugin_versions(plugins: Plugins) -> Iterator[str]:
    """List the plug-ins with their versions, and the files that their classes stand in.

    A version alone would not do: plain files have none, and who writes a plug-in leaves it alone.
    """
    for origin in plugins.manager.origins() if plugins.manager is not None else ():
        yield (
            f"{origin.plugin} {origin.distribution} {origin.version} "
            f"{_format_file_state(origin.plugin)}"
        )
    generated = {
        (each.module, each.version)
        for each in get_unloaded(plugins.resource_types).values()
        if isinstance(each, GeneratedClass)
    }
    for module, version in sorted(generated):
        yield f"{module} {version}"
    left_out = {module for module, _ in generated}
    brought = [
        (name, ".".join(get_place(each)), find_file(each))
        for known in (plugins.resource_types, plugins.constraints)
        for name, each in get_unloaded(known).items()
        if get_place(each)[0] not in left_out
    ]
    for name, place, file in sorted(brought):
        yield f"{name} {place} {file}"
    for file in sorted({file for _, _, file in brought}):
        yield f"{file} {_format_file_state(file)}"


def _format_file_state(file: str) -> str:
    try:
        found = os.stat(file)
    except OSError:  # no file, or none any more
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"
