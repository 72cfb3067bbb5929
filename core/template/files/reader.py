"""Load a bundle from disk: the template, its environments and all files that they refer to.

Called by the command line, before anything is parsed. What the texts refer to is taken along by
``attachments``, so that the engine, wherever it runs, needs neither disk nor network.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from zonda.hooks.errors import TemplateError, UsageError, ValidationErrors
from zonda.hooks.records import replace

from ..source.bundle import VARIABLE, Bundle
from ..source.document import Document
from . import local_files
from .attachments import Attachments, FetchLimits, Unreadable, to_path, to_url
from .file_references import find_registry_files, find_template_files

__all__ = ["STDIN", "FetchLimits", "Source", "is_remote", "load_bundle", "read_text"]

#: A file, or (as text) an address of one.
Source = FilePath | str

#: The name that stands for standard input.
STDIN = "-"
#: The folders of the open files of this process.
_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")
#: The code of a named file that cannot be read.
UNREADABLE_FILE = "ZON205"


def is_remote(name: str) -> bool:
    """Whether ``name`` is an http(s) address, and no file."""
    return name.lower().startswith(("http://", "https://"))


def load_bundle(
    template: Source | None,
    environments: Sequence[Source] = (),
    parameters: Mapping[str, Any] | None = None,
    *,
    variables: Mapping[str, str] | None = None,
    limits: FetchLimits | None = None,
    missing: list[TemplateError] | None = None,
) -> Bundle:
    """Load the bundle of a template file, with environment files merged in order.

    Without a template there are the environments only. ``parameters`` win over the environments,
    and these over ``variables``: values of parameters that the template may not have.
    Raises UsageError where one of the named files cannot be read, and ValidationErrors (each with a
    place) where one that they refer to cannot; with ``missing`` these are added there instead.
    """
    limits = limits or FetchLimits()
    roots, own = (tuple(each.resolve() for each in some) for some in (limits.roots, limits.own))
    attachments = Attachments(replace(limits, roots=roots, own=own))
    text = ""
    if template is not None:
        text, url = _read_source(template, attachments)
        attachments.follow(text, str(template), url, find_template_files)
        given = Document("", str(template), {})
        attachments.note_values({"parameters": parameters}, given, str(template), url)
    environment_files = _build_variable_environments(variables or {}, attachments, str(template))
    for environment in environments:
        content, url = _read_source(environment, attachments)
        attachments.follow(content, str(environment), url, find_registry_files)
        environment_files.append((str(environment), content))
    attachments.follow_values()
    if attachments.errors:
        for error in attachments.errors:
            error.stage = "parse"
        if missing is None:
            raise ValidationErrors(attachments.errors)
        missing += attachments.errors
    return Bundle(
        template=text,
        template_file=Bundle.template_file if template is None else str(template),
        environment_files=tuple(environment_files),
        parameters=dict(parameters or {}),
        parameters_win=True,
        files=attachments.files,
        links=attachments.links,
        documents=attachments.documents,
        outside=() if template is None else tuple(_list_outside_files(template, attachments.files)),
    )


def _list_outside_files(template: Source, files: Collection[str]) -> Iterator[str]:
    """List the real paths of the files that are outside of the template's folder."""
    if isinstance(template, FilePath):
        inside = str(template.parent.resolve())
    else:
        inside = template.rpartition("/")[0]
    for url in files:
        file = str(to_path(url).resolve()) if url.startswith("file:") else url
        if not file.startswith(f"{inside.rstrip('/')}/"):
            yield file


def _build_variable_environments(
    variables: Mapping[str, str], attachments: Attachments, template: str
) -> list[tuple[str, str]]:
    """Build an environment for each variable that is for a parameter of the template."""
    document = attachments.documents.get(template)
    declared = _list_declared_parameters(document.data) if document is not None else ()
    found = []
    for name in (name for name in variables if name in declared):
        file, text = f"{VARIABLE}{name}", json.dumps({"parameters": {name: variables[name]}})
        attachments.follow(text, file, to_url(FilePath(file)), find_registry_files)
        found.append((file, text))
    return found


def _list_declared_parameters(template: Any) -> Collection[str]:
    if not isinstance(template, Mapping):  # whoever loads the bundle says what is wrong with it
        return ()
    sections = (template.get(key) for key in ("parameters", "Parameters"))
    return {name for section in sections if isinstance(section, Mapping) for name in section}


def _read_source(source: Source, attachments: Attachments) -> tuple[str, str]:
    """Read a file or an address that the user named: its text and its URL."""
    if isinstance(source, FilePath):
        return read_text(source), to_url(source)
    if "@" in source.partition("//")[2].partition("/")[0]:
        raise UsageError(
            "An address with a name or a password in it would be stored, and shown to everybody.",
            code=UNREADABLE_FILE,
            hint="Download the file, or name an address without it.",
        )
    try:
        return attachments.read_remote(source)
    except Unreadable as error:
        raise UsageError(f"{error}.", code=UNREADABLE_FILE) from error


def read_text(path: FilePath) -> str:
    """Read a file that the user named, or standard input for ``-``; raises UsageError.

    What is no plain file is refused: opening a pipe may never end. One that is open already, as
    a shell's ``<(command)`` is, ends with its command.
    """
    try:
        if str(path) == STDIN:
            return _read_standard_input()
        if str(path.parent) in _DESCRIPTORS and path.is_fifo():
            return path.read_text(encoding="utf-8")
        with local_files.open_file(path) as stream:
            return stream.read().decode("utf-8")
    except local_files.Refused as error:
        raise UsageError(
            f"{path} cannot be read: {error}",
            code=UNREADABLE_FILE,
            hint="Name a file, or give - to read standard input.",
        ) from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", code=UNREADABLE_FILE
        ) from error
    except UnicodeDecodeError as error:
        text = f"{path} is not text in UTF-8 (byte {error.start})"
        raise UsageError(text, code=UNREADABLE_FILE) from error


def _read_standard_input() -> str:
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("Standard input cannot be read: it is closed", code=UNREADABLE_FILE)
    return sys.stdin.buffer.read().decode("utf-8")
