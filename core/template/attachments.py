"""What templates and environments refer to: found, read once, and linked to whoever names it.

Called by ``fetcher``. A file is known by its URL (``file:`` or ``http(s):``), as with Heat's
client; ``links`` leads from what a document writes to that URL, so that the same words may mean
two files in two folders. The documents themselves stay as they were written.
"""

from __future__ import annotations

import base64
import os.path
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from zonda.hooks.errors import Path, TemplateError

from .bundle import shown
from .faults import FILE_MISSING
from .registry import HOOKS, RESOURCES, RESTRICTED, is_template
from .registry import SECTION as REGISTRY
from .source import Document, load_document

_GET_FILE = "get_file"
_TYPE = "type"
_BASE_URL = "base_url"
_REMOTE = ("http", "https")
_MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What may be read. Sizes in bytes; ``roots``: folders to stay in, none means anywhere.

    ``remote`` and ``private``: whether files may come by http(s), and from private addresses.
    ``seconds``: for one remote file.
    """

    file_bytes: int = 1_048_576
    total_bytes: int = 8_388_608
    template_bytes: int = 524_288
    roots: tuple[FilePath, ...] = ()
    remote: bool = False
    private: bool = False
    seconds: float = 30.0


class Unreadable(Exception):
    """A file that cannot be taken along."""


class Reference(NamedTuple):
    """A file's name in a document. ``base``: what it is relative to, if not the document."""

    key: str
    at: Path
    template: bool
    base: str = ""


@dataclass(slots=True)
class Attachments:
    """The files so far by URL, and for each document what its words mean."""

    limits: FetchLimits
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, dict[str, str]] = field(default_factory=dict)
    errors: list[TemplateError] = field(default_factory=list)
    _total: int = 0
    _moved: dict[str, str] = field(default_factory=dict)

    def follow(
        self, text: str, file: str, url: str, references: Callable[[Any], Iterator[Reference]]
    ) -> None:
        """Take along what ``text`` refers to, and what that refers to.

        ``file`` is the document's name in errors and in ``links``, ``url`` where it stands.
        """
        waiting = [(text, file, url, references)]
        while waiting:
            text, file, url, references = waiting.pop()
            try:
                document = load_document(text, shown(file), max_bytes=self.limits.template_bytes)
            except TemplateError:
                # Whoever loads the bundle says what is wrong with the text, with all else.
                continue
            for reference in references(document.data):
                added = self._add(reference, document, file, url)
                if added is not None and reference.template:
                    waiting.append((*added, template_files))

    def _add(
        self, reference: Reference, document: Document, file: str, url: str
    ) -> tuple[str, str, str] | None:
        """Link and read one file; text, name and URL if it is a new one."""
        try:
            base = _joined(url, reference.base) if reference.base else url
            target = _joined(base, reference.key)
            links = self.links.setdefault(file, {})
            if links.setdefault(reference.key, target) != target:
                raise Unreadable(f"{reference.key} means two files in {document.file}")
            if target in self.files:
                return None
            text = self._read(target, reference.key)
        except Unreadable as error:
            self._fault(str(error), reference, document)
            return None
        self.files[target] = text
        return text, target, self._moved.get(target, target)

    def _fault(self, message: str, reference: Reference, document: Document) -> None:
        self.errors.append(
            TemplateError(
                message,
                at=reference.at,
                place=document.place(reference.at),
                code=FILE_MISSING,
                heat_type="ValueError",
                hint="Files are looked for beside the file that names them.",
            )
        )

    def _read(self, target: str, key: str) -> str:
        if len(self.files) >= _MOST_FILES:
            raise Unreadable(f"{key}: more than {_MOST_FILES} files")
        remote = target.startswith(("http:", "https:"))
        content = self._remote(target, key) if remote else self._local(target, key)
        self._total += len(content)
        if len(content) > self.limits.file_bytes or self._total > self.limits.total_bytes:
            raise Unreadable(f"{key}: too large ({self.limits.file_bytes} bytes a file)")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            # As Heat's client does: what is no text travels as base64.
            return base64.encodebytes(content).decode("ascii")

    def _local(self, target: str, key: str) -> bytes:
        path = FilePath(unquote(urlsplit(target).path))
        try:
            real = path.resolve()
            roots = self.limits.roots
            if roots and not any(real.is_relative_to(root.resolve()) for root in roots):
                raise Unreadable(f"{key} lies outside of {', '.join(map(str, roots))}")
            if not real.is_file():
                raise Unreadable(f"{key}: there is no file {path}")
            with real.open("rb") as stream:
                return stream.read(self.limits.file_bytes + 1)
        except OSError as error:
            raise Unreadable(f"{key}: {path} cannot be read ({error.strerror})") from error
        except (ValueError, RuntimeError) as error:
            raise Unreadable(f"{key} is no name of a file ({error})") from error

    def _remote(self, target: str, key: str) -> bytes:
        if not self.limits.remote:
            raise Unreadable(
                f"{key} is on the network: allow that with --allow-remote, or download it"
            )
        from . import remote  # 100 ms that a template without remote files need not spend

        policy = remote.RemotePolicy(
            self.limits.file_bytes, self.limits.seconds, self.limits.private
        )
        try:
            found = remote.fetch(target, policy)
        except remote.Refused as error:
            raise Unreadable(f"{key} cannot be fetched: {error}") from error
        self._moved[target] = found.url
        return found.content


def url_of(path: FilePath) -> str:
    """The ``file:`` URL of a file, links in its path left as they are."""
    return FilePath(os.path.abspath(path)).as_uri()


def _joined(base: str, key: str) -> str:
    """The URL that ``key`` means in a document at ``base``; raises Unreadable."""
    try:
        scheme = urlsplit(key).scheme
        if scheme in _REMOTE:
            return key
        if urlsplit(base).scheme in _REMOTE:
            if scheme:
                raise Unreadable(f"{key}: a remote document cannot name {scheme} files")
            return urljoin(base, key)
        folder = unquote(urlsplit(base).path).rpartition("/")[0]
        path = unquote(urlsplit(key).path) if scheme == "file" else key
        joined = FilePath(os.path.normpath(os.path.join(folder or "/", path)))
        # A base ends with a slash where it is a folder, which joining would lose.
        return joined.as_uri() + ("/" if path.endswith("/") else "")
    except ValueError as error:
        raise Unreadable(f"{key} is no name of a file ({error})") from error


def template_files(data: Any) -> Iterator[Reference]:
    """Arguments of ``get_file``, and whatever has a type that is a file, at any depth."""
    yield from _template_files(data, (), set())


def _template_files(tree: Any, path: Path, seen: set[int]) -> Iterator[Reference]:
    if not isinstance(tree, dict | list) or id(tree) in seen:
        return
    seen.add(id(tree))
    for key, item in enumerate(tree) if isinstance(tree, list) else tree.items():
        here = (*path, key)
        if not isinstance(item, str):
            yield from _template_files(item, here, seen)
        elif key == _GET_FILE and len(tree) == 1:
            yield Reference(item, here, template=False)
        elif key == _TYPE and is_template(item):
            yield Reference(item, here, template=True)


def registry_files(data: Any) -> Iterator[Reference]:
    """Values of an environment's registry that are templates."""
    registry = data.get(REGISTRY) if isinstance(data, Mapping) else None
    if not isinstance(registry, Mapping):
        return
    base = _base(registry, "")
    yield from _values(registry, (REGISTRY,), base)
    resources = registry.get(RESOURCES)
    for name, lines in resources.items() if isinstance(resources, Mapping) else ():
        if isinstance(lines, Mapping):
            yield from _values(lines, (REGISTRY, RESOURCES, name), _base(lines, base))


def _base(lines: Mapping[str, Any], inherited: str) -> str:
    base = lines.get(_BASE_URL)
    return f"{base.rstrip('/')}/" if isinstance(base, str) and base else inherited


def _values(lines: Mapping[str, Any], path: Path, base: str) -> Iterator[Reference]:
    for name, value in lines.items():
        if name in (RESOURCES, HOOKS, RESTRICTED, _BASE_URL):
            continue
        for target in value if isinstance(value, list) else [value]:
            if isinstance(target, str) and is_template(target):
                yield Reference(target, (*path, name), template=True, base=base)
