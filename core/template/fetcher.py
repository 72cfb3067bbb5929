"""From files on disk to a bundle: the template, its environments and all that they refer to.

Called by the command line, before anything is parsed. ``get_file`` and file-valued types are
looked up relative to the file that names them and become entries of ``Bundle.files`` under the
key as written, so that the engine, wherever it runs, needs no disk. Nothing is fetched from the
network here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import unquote, urlsplit

from zonda.hooks.errors import Path, TemplateError, UsageError, ValidationErrors

from .bundle import Bundle
from .faults import FILE_MISSING
from .registry import HOOKS, RESOURCES, RESTRICTED, is_template
from .registry import SECTION as REGISTRY
from .source import Document, load_document

_GET_FILE = "get_file"

#: The code of a named file that cannot be read.
UNREADABLE_FILE = "ZON205"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What may be read. Sizes in bytes; ``roots``: folders to stay in, none means anywhere."""

    file_bytes: int = 1_048_576
    total_bytes: int = 8_388_608
    template_bytes: int = 524_288
    roots: tuple[FilePath, ...] = ()


@dataclass(slots=True)
class _Collector:
    """The files so far, by key, and where each came from."""

    limits: FetchLimits
    files: dict[str, str] = field(default_factory=dict)
    errors: list[TemplateError] = field(default_factory=list)
    origins: dict[str, FilePath] = field(default_factory=dict)
    total: int = 0

    def add(self, key: str, at: Path, document: Document, folder: FilePath) -> None:
        """Read the file behind ``key``, which ``document`` names at ``at``."""
        try:
            path = self._local(key, folder)
            known = self.origins.setdefault(key, path)
            if known != path:
                raise _Unreadable(f"{key} means two files: {known} and {path}")
            if key not in self.files:
                self.files[key] = self._read(path, key)
        except _Unreadable as error:
            self.errors.append(
                TemplateError(
                    f"{error}",
                    at=at,
                    place=document.place(at),
                    code=FILE_MISSING,
                    heat_type="ValueError",
                    hint="Files are looked for beside the file that names them.",
                )
            )

    def _local(self, key: str, folder: FilePath) -> FilePath:
        """The file that ``key`` means; raises _Unreadable for what is not on this machine."""
        parts = urlsplit(key)
        if parts.scheme in ("http", "https"):
            raise _Unreadable(f"{key} is on the network: download it and name the file")
        path = FilePath(unquote(parts.path)) if parts.scheme == "file" else FilePath(key)
        try:
            found = (folder / path).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise _Unreadable(f"{key} is no name of a file ({error})") from error
        roots = self.limits.roots
        if roots and not any(found.is_relative_to(root.resolve()) for root in roots):
            raise _Unreadable(f"{key} lies outside of {', '.join(map(str, roots))}")
        return found

    def _read(self, path: FilePath, key: str) -> str:
        try:
            if not path.is_file():
                raise _Unreadable(f"{key}: there is no file {path}")
            with path.open("rb") as stream:
                content = stream.read(self.limits.file_bytes + 1)
        except OSError as error:
            raise _Unreadable(f"{key}: {path} cannot be read ({error.strerror})") from error
        self.total += len(content)
        if len(content) > self.limits.file_bytes or self.total > self.limits.total_bytes:
            raise _Unreadable(f"{key}: too large ({self.limits.file_bytes} bytes a file)")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            # As Heat's client does: what is no text travels as base64.
            return base64.encodebytes(content).decode("ascii")


class _Unreadable(Exception):
    """A file that cannot be taken along."""


def bundle_from_files(
    template: FilePath,
    environments: Sequence[FilePath] = (),
    parameters: Mapping[str, Any] | None = None,
    *,
    limits: FetchLimits | None = None,
) -> Bundle:
    """The bundle of a template file, with environment files merged in order.

    ``parameters`` win over the environments. Raises UsageError where one of the named files cannot
    be read, and ValidationErrors (each with a place) where one that they refer to cannot.
    """
    limits = limits or FetchLimits()
    collector = _Collector(limits)
    text = read_text(template)
    _collect(text, template, _template_files, collector)
    environment_files = []
    for environment in environments:
        content = read_text(environment)
        _collect(content, environment, _registry_files, collector)
        environment_files.append((str(environment), content))
    if collector.errors:
        for error in collector.errors:
            error.stage = "parse"
        raise ValidationErrors(collector.errors)
    return Bundle(
        template=text,
        template_file=str(template),
        environment_files=tuple(environment_files),
        parameters=dict(parameters or {}),
        parameters_win=True,
        files=collector.files,
    )


def read_text(path: FilePath) -> str:
    """The text of a file that the user named; raises UsageError."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", code=UNREADABLE_FILE
        ) from error
    except UnicodeDecodeError as error:
        text = f"{path} is not text in UTF-8 (byte {error.start})"
        raise UsageError(text, code=UNREADABLE_FILE) from error


def _collect(text: str, file: FilePath, references: Any, collector: _Collector) -> None:
    """Take along what a template or an environment refers to."""
    try:
        document = load_document(text, str(file), max_bytes=collector.limits.template_bytes)
    except TemplateError:
        # Whoever loads the bundle says what is wrong with the text, together with all else.
        return
    for key, at in references(document.data):
        collector.add(key, at, document, file.parent)


def _template_files(data: Any) -> Iterator[tuple[str, Path]]:
    """Arguments of ``get_file``, and the types of resources that are files."""
    yield from _get_files(data, (), set())
    resources = data.get("resources") if isinstance(data, Mapping) else None
    for name, entry in resources.items() if isinstance(resources, Mapping) else ():
        type_ = entry.get("type") if isinstance(entry, Mapping) else None
        if isinstance(type_, str) and is_template(type_):
            yield type_, ("resources", name, "type")


def _get_files(tree: Any, path: Path, seen: set[int]) -> Iterator[tuple[str, Path]]:
    if not isinstance(tree, dict | list) or id(tree) in seen:
        return
    seen.add(id(tree))
    if isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _get_files(item, (*path, index), seen)
        return
    for key, item in tree.items():
        if key == _GET_FILE and len(tree) == 1 and isinstance(item, str):
            yield item, (*path, key)
        else:
            yield from _get_files(item, (*path, key), seen)


def _registry_files(data: Any) -> Iterator[tuple[str, Path]]:
    """Values of the registry that are files."""
    registry = data.get(REGISTRY) if isinstance(data, Mapping) else None
    if not isinstance(registry, Mapping):
        return
    yield from _values(registry, (REGISTRY,))
    resources = registry.get(RESOURCES)
    for name, lines in resources.items() if isinstance(resources, Mapping) else ():
        if isinstance(lines, Mapping):
            yield from _values(lines, (REGISTRY, RESOURCES, name))


def _values(lines: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Path]]:
    for name, value in lines.items():
        if name in (RESOURCES, HOOKS, RESTRICTED):
            continue
        for target in value if isinstance(value, list) else [value]:
            if isinstance(target, str) and is_template(target):
                yield target, (*path, name)
