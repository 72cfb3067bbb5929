"""Callbacks of the ``http`` contract: addresses that nobody can guess, and what was told there.

The runner makes an address (in any process of a home) and looks at what was told; the bundled
service listens. They share a folder and nothing else, so that either may be killed at any time::

    secret            makes the addresses; made by the first runner that needs one
    <sha256>.json     the answer object, and until when the address is good
    <sha256>.over     the run has ended otherwise; what comes now is too late
    forgot            when what nobody needs any more was dropped last

An address is a code over the run's key and its deadline, so it is the same on every send, and
nothing has to be kept for it before somebody calls. Where callbacks are signed, the section whose
keys sign them is part of it, so that no setting has to be asked when an address is heard. It is no
part of the files' names: what is told is found whatever has become of the settings since.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import os
import threading
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ..atomic_files import read_json, sync_folder, write_json, write_new
from .states import FINAL

SECRET_BYTES = 32
#: What an address begins with, below the base URL.
PATH = "/v1/callbacks/"
_SECRET, _OVER, _ANSWER, _FORGOT = "secret", ".over", ".json", "forgot"
_DAY = 86400.0
#: Stands before the content of an address whose callbacks are signed; no key begins so.
_SIGNED = "signed="


class CallbackStatus(Enum):
    """What became of an answer that was told."""

    STORED = "stored"
    REPEATED = "repeated"
    OVER = "over"
    UNKNOWN = "unknown"


class Callbacks:
    """What one folder keeps. Many threads may call; one process at a time listens.

    ``signer``: the section whose keys sign what is told at the addresses made here, if they do.
    """

    def __init__(self, folder: Path, signer: str = "") -> None:
        self._folder = folder
        self._before = f"{_SIGNED}{quote(signer, safe='')};" if signer else ""
        self._lock = threading.Lock()
        self._kept: bytes = b""

    # -- for the runner -----------------------------------------------------------------------

    def address(self, key: str, expires: int, chance: Callable[[], bytes]) -> str:
        """The last part of the address for ``key``; ``chance`` gives a secret where none is."""
        secret = self._secret() or self._make_secret(chance)
        return _opaque(secret, f"{self._before}{key}.{expires}")

    def told(self, key: str, expires: int) -> dict[str, Any] | None:
        """The answer object that was told for ``key``; None where nothing was."""
        name = self._name_of(key, expires)
        kept = read_json(self._folder / f"{name}{_ANSWER}") if name else None
        return kept["answer"] if kept else None

    def end(self, key: str, expires: int, now: float) -> None:
        """Whatever is told for ``key`` from now on is too late."""
        name = self._name_of(key, expires)
        if name and not (self._folder / f"{name}{_ANSWER}").exists():
            write_json(self._folder / f"{name}{_OVER}", {"expires": expires}, durable=False)
            with self._lock:
                self._forget_sometimes(now)

    # -- for the service ----------------------------------------------------------------------

    def signer(self, opaque: str) -> str | None:
        """The section whose keys sign what is told there; '': none, None: no such address."""
        secret = self._secret()
        content = _content(secret, opaque) if secret else None
        if content is None:
            return None
        before = content.partition(";")[0]
        return unquote(before.removeprefix(_SIGNED)) if before.startswith(_SIGNED) else ""

    def tell(self, opaque: str, answer: Mapping[str, Any], now: float) -> CallbackStatus:
        """Keep ``answer``; durable when this returns STORED. The first final state stays."""
        secret = self._secret()
        content = _content(secret, opaque) if secret else None
        if content is None:
            return CallbackStatus.UNKNOWN
        expires = int(content.rpartition(".")[2])
        if now > expires:
            return CallbackStatus.OVER
        name = _name(secret, _unsigned(content))
        with self._lock:
            known = read_json(self._folder / f"{name}{_ANSWER}")
            if known is not None and known["answer"].get("state") in FINAL:
                return CallbackStatus.REPEATED
            if (self._folder / f"{name}{_OVER}").exists():
                return CallbackStatus.OVER
            kept = {"expires": expires, "answer": dict(answer)}
            write_json(self._folder / f"{name}{_ANSWER}", kept)
            self._forget_sometimes(now)
        return CallbackStatus.STORED

    def forget(self, now: float) -> None:
        """Drop what was told a day after the address has expired."""
        if not self._folder.is_dir():
            return
        write_json(self._folder / _FORGOT, {"at": now}, durable=False)
        for path in [*self._folder.glob(f"*{_ANSWER}"), *self._folder.glob(f"*{_OVER}")]:
            kept = read_json(path)
            if kept is not None and kept.get("expires", now) + _DAY < now:
                path.unlink(missing_ok=True)

    def _forget_sometimes(self, now: float) -> None:
        """Once an hour, whoever comes first: many commands end before they have had one."""
        last = read_json(self._folder / _FORGOT)
        if last is None or not 0 <= now - last["at"] <= _DAY / 24:
            self.forget(now)

    # -- the secret ---------------------------------------------------------------------------

    def _secret(self) -> bytes:
        if not self._kept:
            with contextlib.suppress(FileNotFoundError):
                self._kept = (self._folder / _SECRET).read_bytes()
        return self._kept

    def _make_secret(self, chance: Callable[[], bytes]) -> bytes:
        """Two processes may want one at once: both get that of the first."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._folder / f".{_SECRET}.{os.getpid()}.{threading.get_ident()}"
        new.unlink(missing_ok=True)
        write_new(new, chance())
        with contextlib.suppress(FileExistsError):
            os.link(new, self._folder / _SECRET)
        new.unlink()
        sync_folder(self._folder)
        return self._secret()

    def _name_of(self, key: str, expires: int) -> str:
        secret = self._secret()
        return _name(secret, f"{key}.{expires}") if secret else ""


def _name(secret: bytes, content: str) -> str:
    """The file's name: whoever reads the folder's names has no address."""
    return hashlib.sha256(_opaque(secret, content).encode()).hexdigest()


def _unsigned(content: str) -> str:
    """What an address was made of, without who signs."""
    return content.partition(";")[2] if content.startswith(_SIGNED) else content


def _opaque(secret: bytes, content: str) -> str:
    code = hmac.new(secret, content.encode(), hashlib.sha256).digest()
    return f"{_text(code)}.{_text(content.encode())}"


def _content(secret: bytes, opaque: str) -> str | None:
    """What an address of ours was made of; None for one that is not ours."""
    try:
        content = _bytes(opaque.partition(".")[2]).decode()
    except (ValueError, binascii.Error):
        return None
    ours = _opaque(secret, content).encode()
    return content if hmac.compare_digest(ours, opaque.encode("utf-8", "replace")) else None


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
