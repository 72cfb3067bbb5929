"""The catalog of templates: found in folders, and summarized by their capabilities.

Called by ``app`` for ``zonda capabilities``. ``find_matching`` and ``summarize`` take texts by
their names; ``list_files`` and ``load_text`` look at a disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath

from zonda.core.plugins.manager import Plugins
from zonda.core.template.capabilities.requirements import Requirement, as_text, find_faults
from zonda.core.template.capabilities.section import (
    RESOURCE_TYPE,
    Declared,
    TemplateCapabilities,
    load_capabilities,
)
from zonda.core.template.capabilities.selection import Candidate
from zonda.core.template.source.bundle import Bundle, Limits
from zonda.core.template.types.registry import Registry, is_template
from zonda.hooks.errors import TemplateError, UsageError
from zonda.hooks.records import dataclass

from . import environments

_SUFFIXES = (".yaml", ".yml", ".template")
_UNREADABLE = "ZON205"


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A template and its declared capabilities. ``faults``: of that section, with places."""

    path: str
    capabilities: Declared
    problem: str
    faults: tuple[TemplateError, ...]


def read_entry(path: str, text: str, limits: Limits) -> CatalogEntry:
    """Read the declared capabilities of one text."""
    found: TemplateCapabilities = load_capabilities(text, path, limits.max_template_bytes)
    return CatalogEntry(path, found.capabilities, found.problem, found.locate_faults())


def parse_requirement(text: str) -> Requirement:
    """Parse ``key=value`` of the command line, the value as in ``requires``; raises UsageError."""
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UsageError(f"{text} is not of the form KEY=VALUE.")
    for fault in find_faults({key: value}):
        raise UsageError(fault.message, hint=fault.hint)
    return Requirement(key, (value,))


def find_matching(
    offers: Iterable[CatalogEntry], wanted: Sequence[Requirement]
) -> Iterator[CatalogEntry]:
    """Find the templates whose capabilities meet all requirements in ``wanted``."""
    for each in offers:
        declared = each.capabilities
        if all(one.key in declared and not one.refusal(declared[one.key]) for one in wanted):
            yield each


def summarize(
    offers: Iterable[CatalogEntry], lists: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Summarize the catalog: the values of each key, and the templates of each type.

    ``lists``: what an environment lists for a type, whether the templates say so or not.
    """
    made: dict[str, list[str]] = {}
    types: dict[str, list[str]] = {}
    for each in offers:
        for key, values in each.capabilities.items():
            for value in map(as_text, values):
                if key == RESOURCE_TYPE:
                    _add_value(types, value, each.path)
                else:
                    _add_value(made, key, value)
    for name, paths in lists.items():
        for path in paths:
            _add_value(types, name, path)
    return {**made, **types}


def _add_value(made: dict[str, list[str]], key: str, value: str) -> None:
    values = made.setdefault(key, [])
    if value not in values:
        values.append(value)


@dataclass(frozen=True, slots=True)
class CatalogResult:
    """The candidates that environments list, each once, and their names by type."""

    offers: tuple[CatalogEntry, ...]
    lists: Mapping[str, Sequence[str]]


def list_candidates(bundle: Bundle, plugins: Plugins, limits: Limits) -> CatalogResult:
    """List the candidates in a bundle's environments; raises ValidationErrors."""
    registry = environments.load_environments(bundle, plugins, limits).registry
    offers: dict[str, CatalogEntry] = {}
    lists: dict[str, list[str]] = {}
    for entry in registry.entries:
        for target in entry.target if isinstance(entry.target, list) else ():
            found = _make_candidate(target, registry)
            offers[target] = CatalogEntry(found.name, found.capabilities, found.problem, ())
            _add_value(lists, entry.name, found.name)
    return CatalogResult(tuple(offers.values()), lists)


def _make_candidate(target: str, registry: Registry) -> Candidate:
    if is_template(target):
        return registry.candidates.template(target)
    cls = registry.types.get(target)
    return registry.candidates.plugin(target, cls) if cls else registry.candidates.nothing(target)


def list_files(path: FilePath, *, deep: bool) -> Iterator[FilePath]:
    """List the files of a path: itself, or the templates in a folder (by their suffix).

    ``deep``: in its folders, too. Hidden folders and links to folders are passed over.
    """
    if not path.is_dir():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        names = sorted(name for name in files if name.endswith(_SUFFIXES))
        yield from (FilePath(os.path.normpath(os.path.join(folder, name))) for name in names)


def load_text(path: FilePath, limits: Limits) -> str | None:
    """Load the text of a file; None for one that is too long, or no text. Raises UsageError."""
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
