"""Links from the names of files in a template to the files that a browser has sent.

A browser sends a file by its bare name, and those of a folder by their paths from that folder on;
where the template lies it does not say. So a name is looked for beside the document that has it,
and then by the end of its path. Called by the form of a template; nothing is read from a disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urlsplit

from zonda.core.template.files.file_references import (
    Reference,
    find_registry_files,
    find_template_files,
    find_value_files,
)
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import Document, load_document
from zonda.core.template.source.versions import KEYS
from zonda.hooks import records
from zonda.hooks.errors import TemplateError, ValidationErrors

_HINT = "Choose the folder that has the template and these files."
#: The beginning of a path that leads out of every folder that was sent.
_ABOVE = re.compile(r"^(?:/|\.\./)+")
_Find = Callable[[Any], Iterator[Reference]]


def link_files(bundle: Bundle) -> Bundle:
    """Link a bundle's documents to its files; raises ValidationErrors for what is ambiguous.

    Files of a folder that nothing names are left out. Without a template all are kept, for the one
    that the stack has.
    """
    linker = _Linker(bundle.files)
    linker.follow(bundle.template, bundle.template_file, find_template_files)
    for file, text in bundle.environment_files:
        linker.follow(text, file, find_registry_files)
    if linker.faults:
        raise ValidationErrors(linker.faults)
    files = {
        name: text
        for name, text in bundle.files.items()
        if "/" not in name or name in linker.folders or not bundle.template.strip()
    }
    return records.replace(bundle, files=files, links=linker.links)


class _Linker:
    """The links of one bundle. ``folders``: of the files that are named, by their names."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self.links: dict[str, dict[str, str]] = {}
        self.folders: dict[str, str] = {}
        self.faults: list[TemplateError] = []
        #: The path that was meant by the file that was sent without one, or with a part of it.
        self._meant: dict[str, str] = {}

    def follow(self, text: str, file: str, references: _Find) -> None:
        """Link a document, and the documents that it names."""
        waiting = [(text, file, self._find_folder(text), references)]
        while waiting:
            text, file, folder, references = waiting.pop()
            try:
                document = load_document(text, file)
            except TemplateError:
                continue  # Whoever loads the bundle says what is wrong with it.
            for each in (*references(document.data), *find_value_files(document.data)):
                name = self._find_file(each, folder, document)
                if name is None:
                    continue
                if name != each.key:
                    self.links.setdefault(file, {})[each.key] = name
                text = self._files[name]
                is_new = name not in self.folders
                self.folders[name] = dirname(max(name, self._meant.get(name, ""), key=len))
                if is_new and (each.template or any(word in text for word in KEYS)):
                    waiting.append((text, name, self.folders[name], find_template_files))

    def _find_folder(self, text: str) -> str:
        """Find the folder of a document among the folders that were sent, '' for none."""
        same = {dirname(name) for name, other in self._files.items() if other == text}
        folders = same - {""}
        return folders.pop() if len(folders) == 1 else ""

    def _find_file(self, reference: Reference, folder: str, document: Document) -> str | None:
        """Find the file that a document means; reports more than one as a fault."""
        key = reference.key
        parts = urlsplit(join(reference.base, key))
        if parts.scheme in ("http", "https"):
            return key if key in self._files else None
        path = unquote(parts.path) if parts.scheme == "file" else join(reference.base, key)
        wanted = normpath(join(folder, path))
        names = [name for name in (wanted, key) if name in self._files][:1]
        names = names or self._match_ends(_ABOVE.sub("", wanted), has_folder=bool(folder))
        if len(names) == 1 and self._is_meant(names[0], wanted):
            return names[0]
        if names and not reference.optional:
            which = " and ".join(names)
            message = f"{key} could mean {which}"
            if len(names) == 1:
                message = f"{which} could mean {self._meant[which]} and {wanted}"
            place = document.place(reference.at)
            self.faults.append(TemplateError(message, at=reference.at, place=place, hint=_HINT))
        return None

    def _match_ends(self, wanted: str, *, has_folder: bool) -> list[str]:
        """List the files whose path ends as wanted, or of whose path only the end was sent."""
        longer = [name for name in self._files if name.endswith(f"/{wanted}")]
        if longer and not has_folder:
            return longer
        return [name for name in self._files if f"/{wanted}".endswith(f"/{name}")]

    def _is_meant(self, name: str, wanted: str) -> bool:
        """Whether a file that has come without its whole path is meant by one path only."""
        return len(name) > len(wanted) or self._meant.setdefault(name, wanted) == wanted
