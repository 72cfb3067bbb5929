"""Secrets by reference: read by the process that sends them, stored nowhere.

``env:NAME`` is a variable of the process, ``file:PATH`` the content of a file without the blanks
and line ends behind it. Called by ``resource_services`` for the types of plug-ins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

from zonda.hooks.errors import UsageError
from zonda.hooks.records import fields
from zonda.hooks.text.suggestions import format_suggestion

from .settings import read_variable
from .table import FILE_NAME, Settings, get_variable

KINDS = ("env", "file")
#: Variables that are settings: the key that seals the database, for one.
_SETTINGS = {get_variable(row.name) for row in fields(Settings)} - {""}
#: A reference that, as a pattern in a line of a settings file, stands for itself alone.
_PLAIN = r"(env|file):[\w./~+@=-]+"
#: Not files of anybody: what the machine tells of its processes, zonda's key among it, and devices.
_OF_THE_MACHINE = ("/proc", "/sys", "/dev")
#: Below this are files like others.
_MEMORY = "/dev/shm"
_VARIABLE = "ZONDA_SECRET_SOURCES"
#: A file that is larger holds no secret that anybody would send along.
_MOST_BYTES = 65_536


def resolve_reference(reference: str, home: Path, allowed: str, own: Sequence[Path] = ()) -> str:
    """Read the secret that ``reference`` names; raises UsageError, which does not hold it.

    ``home``: what a file is relative to. ``allowed``: patterns of references, between commas; those
    of files stand for where a way really leads, so that neither ``..`` nor a link gets out.
    ``own``: files and folders that are nobody's secret, whatever is allowed.
    """
    way = check_reference(reference, home, allowed, own)
    name = reference.partition(":")[2]
    return _read_variable(name) if way is None else _read_file(way.real, reference)


def check_reference(
    reference: str, home: Path, allowed: str, own: Sequence[Path] = ()
) -> _SecretPath | None:
    """Raise UsageError unless the secret may be read; it need not exist.

    Gives the way to a file, None for a variable.
    """
    kind, _, name = reference.partition(":")
    patterns = [each.strip() for each in allowed.split(",")]
    if kind == "file" and name:
        way = _SecretPath.of(home, name)
        _check_kind(reference, way.real)
        _check_own(reference, any(way.real.is_relative_to(each.resolve()) for each in own))
        if not _covers_any(patterns, way, home):
            raise _make_denied_error(reference, home, allowed)
        return way
    _check_own(reference, kind == "env" and name in _SETTINGS)
    if not any(fnmatchcase(reference, pattern) for pattern in patterns):
        raise _make_denied_error(reference, home, allowed)
    if kind != "env" or not name:
        raise UsageError(
            f"{reference} names no secret{format_suggestion(kind, KINDS)}.",
            hint="Write env:NAME or file:PATH.",
        )
    return None


def matches_reference(reference: str, home: Path, patterns: Sequence[str]) -> bool:
    """Whether one of ``patterns``, as in ``resolve_reference``, stands for ``reference``."""
    kind, _, name = reference.partition(":")
    if kind == "file" and name:
        return _covers_any(patterns, _SecretPath.of(home, name), home)
    return any(fnmatchcase(reference, pattern) for pattern in patterns)


def list_own_files(settings: Settings) -> list[Path]:
    """List zonda's own files: settings, key, database, the records of runner services."""
    home, known = settings.home, settings.database_url
    url = known.removeprefix("sqlite:///")
    is_file = url != known
    # who opens the file may take what stands behind a question mark for a part of its name, or not
    named = [url, url.partition("?")[0]] if is_file else []
    beside = [Path(each + end) for each in named for end in ("", "-wal", "-shm", "-journal")]
    folder = Path(url).parent if is_file else home
    key = Path(settings.key_file).expanduser() if settings.key_file else folder / "zonda.key"
    kept = [home / name for name in ("zonda.toml", "runner.json", "runner", "runners")]
    return [*kept, *beside, key]


def _make_denied_error(reference: str, home: Path, allowed: str) -> UsageError:
    """Make the error of a secret that is not allowed. It says how to allow just that one;

    Templates come from anybody: what would allow more than it seems to is not spelt out.
    """
    where = "the setting secret_sources says which may"
    if not re.fullmatch(_PLAIN, reference):
        return UsageError(f"The secret {reference} may not be read here: {where}.")
    known = [each.strip() for each in allowed.split(",") if each.strip()]
    wanted = ",".join([*known, reference])
    if read_variable(_VARIABLE):  # it counts before the file
        how = f'give the process that runs the engine the variable {_VARIABLE}="{wanted}"'
        how += f" ({_VARIABLE} is set: what stands in {FILE_NAME} does not count)"
    else:
        how = f'write secret_sources = "{wanted}" into {home / FILE_NAME}, or give the process '
        how += f"that runs the engine the variable {_VARIABLE}"
    return UsageError(
        f"The secret {reference} may not be read here: {where}, and {reference} is to be added.",
        hint=f"If that is to be: {how}.",
    )


def _check_kind(reference: str, real: Path) -> None:
    if any(map(real.is_relative_to, _OF_THE_MACHINE)) and not real.is_relative_to(_MEMORY):
        raise UsageError(
            f"The secret {reference} cannot be read: that is no file that holds a secret.",
            hint="What is below /proc, /sys and /dev is never read.",
        )


def _check_own(reference: str, is_own: bool) -> None:
    if is_own:
        raise UsageError(
            f"The secret {reference} is zonda's own, and told to nobody.",
            hint="Put what workflows are to have into a file or a variable of its own.",
        )


class _SecretPath(NamedTuple):
    """A path as it is written, and its real path behind links."""

    written: Path
    real: Path

    @classmethod
    def of(cls, home: Path, name: str) -> _SecretPath:
        try:
            written = home.resolve() / Path(name).expanduser()
            return cls(written, written.resolve())
        except (OSError, RuntimeError, ValueError) as error:  # a circle of links, no user, a zero
            raise UsageError(f"The secret file:{name} cannot be read: it is no path.") from error


def _covers_any(patterns: Sequence[str], way: _SecretPath, home: Path) -> bool:
    return "*" in patterns or any(_covers(each, way, home) for each in patterns)


def _covers(pattern: str, way: _SecretPath, home: Path) -> bool:
    """Whether ``file:PATTERN`` covers a path: part by part, ``*`` alone and ``/**`` all below."""
    kind, _, wanted = pattern.partition(":")
    if kind != "file" or not wanted:
        return False
    if wanted == "*":
        return True
    try:
        parts = Path(wanted).expanduser().parts
        fixed = home.resolve().joinpath(*takewhile(_is_plain, parts))
        rest = list(dropwhile(_is_plain, parts))
        base = fixed.resolve()
    except (OSError, RuntimeError):
        return False
    if not way.real.is_relative_to(base):
        return False
    if _match_parts(rest, way.real.relative_to(base).parts):
        return True
    # Kubernetes mounts a secret as a link to a file of the same name, in a folder beside the link.
    if ".." in way.written.parts or not way.written.is_relative_to(fixed):
        return False
    is_named_so = way.written.name == way.real.name
    return is_named_so and _match_parts(rest, way.written.relative_to(fixed).parts)


def _is_plain(part: str) -> bool:
    return not any(sign in part for sign in "*?[")


def _match_parts(patterns: Sequence[str], parts: Sequence[str]) -> bool:
    if patterns and patterns[-1] == "**":
        count = len(patterns) - 1
        return len(parts) > count and _match_parts(patterns[:-1], parts[:count])
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def _read_variable(name: str) -> str:
    value = read_variable(name)
    if not value:
        raise UsageError(
            f"The secret env:{name} is not there: the variable {name} is not set.",
            hint="Set it for the process that runs the engine.",
        )
    return value


def _read_file(path: Path, reference: str) -> str:
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
