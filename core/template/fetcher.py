"""From files on disk to a bundle: the template, its environments and all that they refer to.

Called by the command line, before anything is parsed. What the texts refer to is taken along by
``attachments``, so that the engine, wherever it runs, needs neither disk nor network.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from zonda.hooks.errors import UsageError, ValidationErrors

from .attachments import Attachments, FetchLimits, url_of
from .bundle import Bundle
from .file_names import registry_files, template_files
from .source import Document

__all__ = ["STDIN", "FetchLimits", "bundle_from_files", "read_text"]

#: The name that stands for standard input.
STDIN = "-"
#: Where the files of this process are that were open when it began.
_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")
#: The code of a named file that cannot be read.
UNREADABLE_FILE = "ZON205"


def bundle_from_files(
    template: FilePath | None,
    environments: Sequence[FilePath] = (),
    parameters: Mapping[str, Any] | None = None,
    *,
    limits: FetchLimits | None = None,
) -> Bundle:
    """The bundle of a template file, with environment files merged in order.

    Without a template there are the environments only. ``parameters`` win over the environments.
    Raises UsageError where one of the named files cannot be read, and ValidationErrors (each with a
    place) where one that they refer to cannot.
    """
    attachments = Attachments(limits or FetchLimits())
    text = ""
    if template is not None:
        text = read_text(template)
        attachments.follow(text, str(template), url_of(template), template_files)
        given = Document("", str(template), {})
        attachments.note_values({"parameters": parameters}, given, str(template), url_of(template))
    environment_files = []
    for environment in environments:
        content = read_text(environment)
        attachments.follow(content, str(environment), url_of(environment), registry_files)
        environment_files.append((str(environment), content))
    attachments.follow_values()
    if attachments.errors:
        for error in attachments.errors:
            error.stage = "parse"
        raise ValidationErrors(attachments.errors)
    return Bundle(
        template=text,
        template_file=Bundle.template_file if template is None else str(template),
        environment_files=tuple(environment_files),
        parameters=dict(parameters or {}),
        parameters_win=True,
        files=attachments.files,
        links=attachments.links,
        documents=attachments.documents,
    )


def read_text(path: FilePath) -> str:
    """The text of a file that the user named, of standard input for ``-``; raises UsageError.

    What is no plain file is refused: opening a pipe may never end. One that is open already, as
    a shell's ``<(command)`` is, ends with its command.
    """
    try:
        if str(path) == STDIN:
            return _standard_input()
        if not (stat.S_ISREG(path.stat().st_mode) or _is_open_pipe(path)):
            raise UsageError(
                f"{path} cannot be read: it is {_kind(path)}",
                code=UNREADABLE_FILE,
                hint="Name a file, or give - to read standard input.",
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", code=UNREADABLE_FILE
        ) from error
    except UnicodeDecodeError as error:
        text = f"{path} is not text in UTF-8 (byte {error.start})"
        raise UsageError(text, code=UNREADABLE_FILE) from error


def _standard_input() -> str:
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("Standard input cannot be read: it is closed", code=UNREADABLE_FILE)
    return sys.stdin.buffer.read().decode("utf-8")


def _is_open_pipe(path: FilePath) -> bool:
    return str(path.parent) in _DESCRIPTORS and path.is_fifo()


def _kind(path: FilePath) -> str:
    if path.is_dir():
        return "a folder"
    return "a pipe" if path.is_fifo() else "no plain file"
