"""Attached files: found from templates and environments, read once, and linked to documents.

Called by ``reader``. A file is known by its URL (``file:`` or ``http(s):``), as with Heat's
client; ``links`` leads from what a document writes to that URL, so that the same words may mean
two files in two folders. The documents themselves stay as they were written.
"""

from __future__ import annotations

import base64
import os.path
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from zonda.hooks.errors import TemplateError
from zonda.hooks.records import dataclass, field
from zonda.hooks.text.sanitize import escape_control_chars

from ..source.bundle import to_display_name
from ..source.diagnostics import FILE_MISSING, FILE_REFUSED
from ..source.document import Document, load_document
from ..source.versions import KEYS
from . import local_files
from .file_references import (
    Reference,
    find_template_files,
    find_value_files,
    is_dynamic,
    may_name_files,
)

_REMOTE = ("http", "https")
_MOST_FILES = 10_000
_HINTS = {
    FILE_MISSING: "Files are looked for beside the file that names them.",
    FILE_REFUSED: "Copy what is wanted of it into a file beside the template.",
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of reading. Sizes in bytes; ``roots``: folders to stay in, none means anywhere.

    ``own``: zonda's own files and folders, of which nothing is read. ``remote`` and ``private``:
    whether files may come by http(s), and from private addresses. ``seconds``: for one remote file.
    """

    file_bytes: int = 1_048_576
    total_bytes: int = 8_388_608
    template_bytes: int = 524_288
    roots: tuple[FilePath, ...] = ()
    own: tuple[FilePath, ...] = ()
    remote: bool = False
    private: bool = False
    seconds: float = 30.0


class Unreadable(Exception):
    """Raised for a file that cannot be attached. ``code``: of the fault."""

    def __init__(self, message: str, code: str = FILE_MISSING) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Attachments:
    """The attached files by URL, and for each document the links from its names to files."""

    limits: FetchLimits
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, dict[str, str]] = field(default_factory=dict)
    errors: list[TemplateError] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    _total: int = 0
    _moved: dict[str, str] = field(default_factory=dict)
    #: Names in values of parameters, with the document that says them and its URL; the documents
    #: that take names of templates from values; and what such names mean.
    _values: list[tuple[Reference, Document, str, str]] = field(default_factory=list)
    _dynamic: list[str] = field(default_factory=list)
    _valued: dict[str, str] = field(default_factory=dict)

    def follow(
        self, text: str, file: str, url: str, references: Callable[[Any], Iterator[Reference]]
    ) -> None:
        """Attach the files that ``text`` refers to, and those that these refer to.

        ``file`` is the document's name in errors and in ``links``, ``url`` where it stands.
        """
        waiting = [(text, file, url, references)]
        while waiting:
            text, file, url, references = waiting.pop()
            try:
                document = load_document(
                    text, to_display_name(file), max_bytes=self.limits.template_bytes
                )
            except TemplateError:
                # Whoever loads the bundle says what is wrong with the text, with all else.
                continue
            self.documents[file] = document
            if is_dynamic(document.data):
                self._dynamic.append(file)
            self.note_values(document.data, document, file, url)
            if references is find_template_files and not may_name_files(text):
                continue
            for reference in references(document.data):
                added = self._add(reference, document, file, url)
                if added is not None and (reference.template or _is_template(added[0])):
                    waiting.append((*added, find_template_files))

    def read_remote(self, url: str) -> tuple[str, str]:
        """The text at an address that the user named, and where it came from; Unreadable."""
        content = self._fetch_remote_file(url, url)
        try:
            return content.decode("utf-8"), self._moved[url]
        except UnicodeDecodeError as error:
            raise Unreadable(f"{url} is not text in UTF-8 (byte {error.start})") from error

    def note_values(self, data: Any, document: Document, file: str, url: str) -> None:
        """Record the names of templates among the values of parameters."""
        self._values += ((each, document, file, url) for each in find_value_files(data))

    def follow_values(self) -> None:
        """Attach the templates that values of parameters name, if any template needs them.

        A value may mean something else: what is not there, or no template, is left out.
        """
        while self._dynamic and self._values:
            reference, document, file, url = self._values.pop()
            added = self._add(reference, document, file, url)
            self._check_value(reference, document, file)
            if added is not None:
                self.follow(*added, find_template_files)

    def _check_value(self, reference: Reference, document: Document, file: str) -> None:
        """Report a value that means two files."""
        key = reference.key
        target = self.links.get(file, {}).get(key)
        if target is None:
            return
        meant = {self._valued.setdefault(key, target), target}
        meant |= {self.links.get(each, {}).get(key, target) for each in self._dynamic}
        if len(meant) > 1:
            files = " and ".join(sorted(map(to_display_name, meant)))
            self._report_fault(f"{key} in a value could mean {files}", reference, document)

    def _add(
        self, reference: Reference, document: Document, file: str, url: str
    ) -> tuple[str, str, str] | None:
        """Link and read one file; text, name and URL if it is a new one."""
        try:
            base = _join_url(url, reference.base) if reference.base else url
            target = _join_url(base, reference.key)
            links = self.links.setdefault(file, {})
            if links.get(reference.key, target) != target:
                raise Unreadable(f"{reference.key} means two files in {document.file}")
            text = self.files.get(target)
            is_new = text is None
            if text is None:
                text = self._read_text(target, reference.key)
            if reference.optional and not _is_template(text):
                return None
        except Unreadable as error:
            if not reference.optional:
                self._report_fault(str(error), reference, document, error.code)
            return None
        links[reference.key] = target
        if not is_new:
            return None
        self.files[target] = text
        return text, target, self._moved.get(target, target)

    def _report_fault(
        self, message: str, reference: Reference, document: Document, code: str = FILE_MISSING
    ) -> None:
        self.errors.append(
            TemplateError(
                escape_control_chars(message),
                at=reference.at,
                place=document.place(reference.at),
                code=code,
                heat_type="ValueError",
                hint=_HINTS[code],
            )
        )

    def _read_text(self, target: str, key: str) -> str:
        if len(self.files) >= _MOST_FILES:
            raise Unreadable(f"{key}: more than {_MOST_FILES} files")
        remote = target.startswith(("http:", "https:"))
        content = (
            self._fetch_remote_file(target, key) if remote else self._read_local_file(target, key)
        )
        self._total += len(content)
        if len(content) > self.limits.file_bytes or self._total > self.limits.total_bytes:
            raise Unreadable(f"{key}: too large ({self.limits.file_bytes} bytes a file)")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            # As Heat's client does: what is no text travels as base64.
            return base64.encodebytes(content).decode("ascii")

    def _read_local_file(self, target: str, key: str) -> bytes:
        limits = self.limits
        path = to_path(target)
        try:
            return local_files.read_file(path, limits.file_bytes + 1, limits.roots, limits.own)
        except local_files.Refused as error:
            raise Unreadable(f"{key}: {error}", FILE_REFUSED) from error
        except FileNotFoundError as error:
            raise Unreadable(f"{key}: there is no file {path}") from error
        except OSError as error:
            raise Unreadable(f"{key}: {path} cannot be read ({error.strerror})") from error
        except (ValueError, RuntimeError) as error:
            raise Unreadable(f"{key} is no name of a file ({error})") from error

    def _fetch_remote_file(self, target: str, key: str) -> bytes:
        if not self.limits.remote:
            raise Unreadable(
                f"{key} is on the network: allow that with --allow-remote, or download it"
            )
        from . import (
            http_fetch as remote,  # 100 ms that a template without remote files need not spend
        )

        policy = remote.RemotePolicy(
            self.limits.file_bytes, self.limits.seconds, self.limits.private
        )
        try:
            found = remote.fetch(target, policy)
        except remote.Refused as error:
            raise Unreadable(f"{key} cannot be fetched: {error}") from error
        self._moved[target] = found.url
        return found.content


def _is_template(text: str) -> bool:
    """Whether a text is a template, by the one word that every template has."""
    return any(word in text for word in KEYS)


def to_path(url: str) -> FilePath:
    """The file of a ``file:`` URL."""
    return FilePath(unquote(urlsplit(url).path))


def to_url(path: FilePath) -> str:
    """The ``file:`` URL of a file, links in its path left as they are."""
    return FilePath(os.path.abspath(path)).as_uri()


def _join_url(base: str, key: str) -> str:
    """Join ``key`` to the URL of its document; raises Unreadable."""
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
