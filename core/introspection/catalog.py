"""What templates offer: found in folders, and summed up.

Called by ``app`` for ``zonda capabilities``. ``find`` and ``summary`` take texts by their names;
``read`` is what looks at a disk, with ``walk``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from zonda.core.plugins.manager import Plugins
from zonda.core.template.capabilities.requirements import Requirement, as_text, faults
from zonda.core.template.capabilities.section import RESOURCE_TYPE, Annotated, Declared, annotated
from zonda.core.template.capabilities.selection import Candidate
from zonda.core.template.source.bundle import Bundle, Limits
from zonda.core.template.types.registry import Registry, is_template
from zonda.hooks.errors import TemplateError, UsageError

from . import environments

_SUFFIXES = (".yaml", ".yml", ".template")
_UNREADABLE = "ZON205"


@dataclass(frozen=True, slots=True)
class Offer:
    """A template and what it declares. ``faults``: of its section, with places."""

    path: str
    capabilities: Declared
    problem: str
    faults: tuple[TemplateError, ...]


def offer(path: str, text: str, limits: Limits) -> Offer:
    """What one text declares."""
    found: Annotated = annotated(text, path, limits.max_template_bytes)
    return Offer(path, found.capabilities, found.problem, found.placed_faults())


def requirement(text: str) -> Requirement:
    """``key=value`` of the command line, the value as in ``requires``; raises UsageError."""
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UsageError(f"{text} is not of the form KEY=VALUE.")
    for fault in faults({key: value}):
        raise UsageError(fault.message, hint=fault.hint)
    return Requirement(key, (value,))


def find(offers: Iterable[Offer], wanted: Sequence[Requirement]) -> Iterator[Offer]:
    """The templates that declare a value that fits for each of ``wanted``."""
    for each in offers:
        declared = each.capabilities
        if all(one.key in declared and not one.refusal(declared[one.key]) for one in wanted):
            yield each


def summary(offers: Iterable[Offer], lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What can be asked for: the values of each key, and the templates of each type.

    ``lists``: what an environment lists for a type, whether the templates say so or not.
    """
    made: dict[str, list[str]] = {}
    types: dict[str, list[str]] = {}
    for each in offers:
        for key, values in each.capabilities.items():
            for value in map(as_text, values):
                if key == RESOURCE_TYPE:
                    _add(types, value, each.path)
                else:
                    _add(made, key, value)
    for name, paths in lists.items():
        for path in paths:
            _add(types, name, path)
    return {**made, **types}


def _add(made: dict[str, list[str]], key: str, value: str) -> None:
    values = made.setdefault(key, [])
    if value not in values:
        values.append(value)


@dataclass(frozen=True, slots=True)
class CatalogResult:
    """What environments list: every candidate once, and their names by type."""

    offers: tuple[Offer, ...]
    lists: Mapping[str, Sequence[str]]


def listed(bundle: Bundle, plugins: Plugins, limits: Limits) -> CatalogResult:
    """The candidates of the lists in a bundle's environments; raises ValidationErrors."""
    registry = environments.read(bundle, plugins, limits).registry
    offers: dict[str, Offer] = {}
    lists: dict[str, list[str]] = {}
    for entry in registry.entries:
        for target in entry.target if isinstance(entry.target, list) else ():
            found = _candidate(target, registry)
            offers[target] = Offer(found.name, found.capabilities, found.problem, ())
            _add(lists, entry.name, found.name)
    return CatalogResult(tuple(offers.values()), lists)


def _candidate(target: str, registry: Registry) -> Candidate:
    if is_template(target):
        return registry.candidates.template(target)
    cls = registry.types.get(target)
    return registry.candidates.plugin(target, cls) if cls else registry.candidates.nothing(target)


def walk(path: FilePath, *, deep: bool) -> Iterator[FilePath]:
    """The files that a path stands for: itself, or what looks like templates in a folder.

    ``deep``: in its folders, too. Hidden folders and links to folders are passed over.
    """
    if not path.is_dir():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        names = sorted(name for name in files if name.endswith(_SUFFIXES))
        yield from (FilePath(os.path.normpath(os.path.join(folder, name))) for name in names)


def read(path: FilePath, limits: Limits) -> str | None:
    """The text of a file; None for what is too long, or no text. Raises UsageError."""
    try:
        if not path.is_file():
            raise UsageError(f"{path} cannot be read: it is no file", code=_UNREADABLE)
        with path.open("rb") as stream:
            content = stream.read(limits.max_template_bytes + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", code=_UNREADABLE) from error
    if len(content) > limits.max_template_bytes:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
