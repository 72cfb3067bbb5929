"""Secrets that are named and not given: read by the process that sends them, kept nowhere.

``env:NAME`` is a variable of the process, ``file:PATH`` the content of a file without the blanks
and line ends behind it. Called by ``app_lender`` for the types of plug-ins.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

from zonda.hooks.errors import UsageError

from . import settings_values
from .settings import variable

KINDS = ("env", "file")
#: A file that is larger holds no secret that anybody would send along.
_MOST_BYTES = 65_536


def resolve(reference: str, home: Path, allowed: str) -> str:
    """The secret behind ``reference``; raises UsageError, which does not hold it.

    ``home``: what a file is relative to. ``allowed``: patterns of references, between commas; those
    of files stand for where a way really leads, so that neither ``..`` nor a link gets out.
    """
    kind, _, name = reference.partition(":")
    patterns = [each.strip() for each in allowed.split(",")]
    if kind == "file" and name:
        path = _real(home, name)
        _check(reference, "*" in patterns or any(_covers(each, path, home) for each in patterns))
        return _of_file(path, reference)
    _check(reference, any(fnmatchcase(reference, pattern) for pattern in patterns))
    if kind == "env" and name:
        return _of_variable(name)
    raise UsageError(
        f"{reference} names no secret{settings_values.near(kind, KINDS)}.",
        hint="Write env:NAME or file:PATH.",
    )


def _check(reference: str, is_allowed: bool) -> None:
    if not is_allowed:
        raise UsageError(
            f"The secret {reference} may not be read here.",
            hint="The setting secret_sources says which may.",
        )


def _real(home: Path, name: str) -> Path:
    try:
        return (home / Path(name).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, no such user, a zero
        raise UsageError(f"The secret file:{name} cannot be read: it is no path.") from error


def _covers(pattern: str, path: Path, home: Path) -> bool:
    """Whether ``file:PATTERN`` covers a path: part by part, ``*`` alone and ``/**`` all below."""
    kind, _, wanted = pattern.partition(":")
    if kind != "file" or not wanted:
        return False
    if wanted == "*":
        return True
    base = Path(*map(escape, home.resolve().parts)) / Path(wanted).expanduser()
    parts = base.parts
    if parts[-1] == "**":
        parts = parts[:-1]
        return len(path.parts) > len(parts) and _fits(parts, path.parts)
    return len(path.parts) == len(parts) and _fits(parts, path.parts)


def _fits(patterns: Sequence[str], parts: Sequence[str]) -> bool:
    return all(fnmatchcase(part, each) for each, part in zip(patterns, parts, strict=False))


def _of_variable(name: str) -> str:
    value = variable(name)
    if not value:
        raise UsageError(
            f"The secret env:{name} is not there: the variable {name} is not set.",
            hint="Set it for the process that runs the engine.",
        )
    return value


def _of_file(path: Path, reference: str) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise UsageError(f"The secret {reference} is too large ({_MOST_BYTES} bytes at most).")
        return content.decode().rstrip()
    except OSError as error:
        raise UsageError(
            f"The secret {reference} cannot be read: {error.strerror}.",
            hint="A relative path is looked for below ZONDA_HOME.",
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The secret {reference} is not UTF-8 text.") from error
