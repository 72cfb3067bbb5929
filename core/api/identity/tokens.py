"""Mode ``tokens``: a file of the operator says whose a token is.

``tokens.toml`` in the home, for its owner alone, has a table ``[[token]]`` for each: ``hash``
(``sha256:`` and 64 digits), ``user``, ``project``, ``roles``, and maybe ``expires``. It is read
again when it has changed; a file with a fault leaves the tokens that were known.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import threading
import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from zonda.hooks.context import Clock
from zonda.hooks.errors import NotFound, UsageError
from zonda.hooks.records import dataclass

from .callers import Caller

log = logging.getLogger(__name__)

_HASH = re.compile(r"sha256:[0-9a-f]{64}")
#: The beginning of a table of a token, after which it belongs to that.
_TABLE = re.compile(r"(?m)^(?=[ \t]*\[\[[ \t]*token[ \t]*\]\])")
_BEARER = "bearer "
_KEYS = frozenset({"hash", "user", "project", "roles", "expires"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A table of the file."""

    hash: str
    caller: Caller


class Tokens:
    """The tokens of one file. Many threads ask at once."""

    challenge = "Bearer"

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._seen = _read_mark(path)
        self._entries = load_tokens(path)

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        """The caller of ``X-Auth-Token`` or of a bearer token."""
        token = read_token(headers)
        entry = self.find_entry(hash_token(token)) if token else None
        return None if entry is None else entry.caller

    def find_entry(self, hashed: str) -> Entry | None:
        """The entry of a hash, unless its time is over."""
        entry = self._list_entries().get(hashed)
        if entry is None or not hmac.compare_digest(entry.hash, hashed):
            return None
        expires = entry.caller.expires
        return None if expires is not None and expires <= self._clock.now() else entry

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Yes: the file is read again only where it has changed."""
        return True

    def find_trouble(self) -> str:
        """Nothing: the tokens that were read last count."""
        return ""

    def _list_entries(self) -> Mapping[str, Entry]:
        mark = _read_mark(self._path)
        with self._lock:
            if mark != self._seen:
                self._seen = mark
                try:
                    self._entries = load_tokens(self._path)
                except UsageError as error:
                    log.error("The tokens stay what they were: %s", error)
            return self._entries


def read_token(headers: Mapping[str, str]) -> str:
    """The token of ``X-Auth-Token`` or of a bearer; '' without one."""
    token, proof = headers.get("x-auth-token", ""), headers.get("authorization", "")
    is_bearer = not token and proof.lower().startswith(_BEARER)
    return proof[len(_BEARER) :].strip() if is_bearer else token


def hash_token(token: str) -> str:
    """The form in which a token stands in the file."""
    return f"sha256:{hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def add_token(path: Path, token: str, row: Mapping[str, str]) -> None:
    """Add a token to a file, which is made if need be; ``row``: its other keys, as TOML values.

    Raises UsageError for a file with a fault, which is left alone.
    """
    load_tokens(path)
    lines = [f'hash = "{hash_token(token)}"', *(f"{key} = {row[key]}" for key in row)]
    text = "\n[[token]]\n" + "\n".join(lines) + "\n"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(handle, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token of the file. ``id``: the beginning of its hash."""

    id: str
    caller: Caller


def list_tokens(path: Path) -> list[ListedToken]:
    """The tokens of a file, in their order; raises UsageError with the first fault."""
    return [ListedToken(_make_id(each.hash), each.caller) for each in load_tokens(path).values()]


def remove_token(path: Path, token_id: str) -> Caller:
    """Take a token out of a file; all else in it stays. Raises UsageError and NotFound."""
    fits = [each for each in load_tokens(path).values() if _make_id(each.hash) == token_id]
    if not fits:
        raise NotFound("Token", token_id, hint="'zonda token list' shows the ids.")
    parts = _TABLE.split(path.read_text(encoding="utf-8"))
    kept = [part for part in parts if fits[0].hash not in part]
    draft = path.with_name(f"{path.name}.new")
    try:
        owner = path.stat()
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            if owner.st_uid != os.geteuid():  # root's file would be closed to the server
                os.fchown(handle, owner.st_uid, owner.st_gid)
            file.write("".join(kept))
        load_tokens(draft)
        os.replace(draft, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
    return fits[0].caller


def _make_id(hashed: str) -> str:
    return hashed.removeprefix("sha256:")[:12]


def load_tokens(path: Path) -> dict[str, Entry]:
    """The entries of a file by their hashes; raises UsageError with the first fault."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if mode & 0o077:
        raise UsageError(f"{path} is open to other users.", hint=f"chmod 600 {path}")
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    rows = document.get("token", [])
    if set(document) - {"token"} or not isinstance(rows, list):
        raise UsageError(f"{path} has tables [[token]] and nothing else.")
    entries = [_read_entry(path, number, row) for number, row in enumerate(rows, 1)]
    return {entry.hash: entry for entry in entries}


def _read_entry(path: Path, number: int, row: Any) -> Entry:
    def refuse(message: str) -> UsageError:
        return UsageError(f"{path}: token {number}: {message}")

    if not isinstance(row, dict) or set(row) - _KEYS:
        raise refuse(f"its keys are {', '.join(sorted(_KEYS))}.")
    for key in ("hash", "user", "project"):
        if not isinstance(row.get(key), str) or not row[key]:
            raise refuse(f"{key} must be a text.")
    if not _HASH.fullmatch(row["hash"]):
        raise refuse("hash must be sha256: and 64 hexadecimal digits.")
    roles, expires = row.get("roles", ["member"]), row.get("expires")
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        raise refuse("roles must be a list of texts.")
    if expires is not None and (not isinstance(expires, datetime) or expires.tzinfo is None):
        raise refuse("expires must be a time with a zone, e.g. 2030-01-01T00:00:00Z.")
    user, project = row["user"], row["project"]
    ends = None if expires is None else expires.timestamp()
    caller = Caller(user, user, project, project, frozenset(roles), expires=ends)
    return Entry(row["hash"], caller)


def _read_mark(path: Path) -> tuple[int, ...]:
    """A value that changes with the file."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino)
