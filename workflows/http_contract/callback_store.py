"""Callbacks of the ``http`` contract: their secret addresses, and the answers sent there.

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

from zonda.hooks.processes import read_json, sync_folder, write_json, write_new

from .states import FINAL

SECRET_BYTES = 32
#: The beginning of an address, below the base URL.
PATH = "/v1/callbacks/"
_SECRET, _OVER, _ANSWER, _FORGOT = "secret", ".over", ".json", "forgot"
_DAY = 86400.0
#: Stands before the content of an address whose callbacks are signed; no key begins so.
_SIGNED = "signed="


class CallbackStatus(Enum):
    """The result of storing an answer."""

    STORED = "stored"
    REPEATED = "repeated"
    OVER = "over"
    UNKNOWN = "unknown"


class Callbacks:
    """The callbacks in one folder. Many threads may call; one process at a time listens.

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
        secret = self._read_secret() or self._make_secret(chance)
        return _encode_address(secret, f"{self._before}{key}.{expires}")

    def read_answer(self, key: str, expires: int) -> dict[str, Any] | None:
        """The answer object that was stored for ``key``; None where there is none."""
        path = self.find_path(key, expires)
        kept = read_json(path) if path else None
        return kept["answer"] if kept else None

    def find_path(self, key: str, expires: int) -> Path | None:
        """The file that the answer for ``key`` will be stored in; None before any address."""
        name = self._get_name(key, expires)
        return self._folder / f"{name}{_ANSWER}" if name else None

    def end(self, key: str, expires: int, now: float) -> None:
        """Refuse callbacks for ``key`` from now on."""
        name = self._get_name(key, expires)
        if name and not (self._folder / f"{name}{_ANSWER}").exists():
            write_json(self._folder / f"{name}{_OVER}", {"expires": expires}, durable=False)
            with self._lock:
                self._forget_hourly(now)

    # -- for the service ----------------------------------------------------------------------

    def find_signer(self, opaque: str) -> str | None:
        """The section whose keys sign callbacks at an address; '': none, None: no such address."""
        secret = self._read_secret()
        content = _decode_address(secret, opaque) if secret else None
        if content is None:
            return None
        before = content.partition(";")[0]
        return unquote(before.removeprefix(_SIGNED)) if before.startswith(_SIGNED) else ""

    def tell(self, opaque: str, answer: Mapping[str, Any], now: float) -> CallbackStatus:
        """Store ``answer``; durable when this returns STORED. The first final state stays."""
        secret = self._read_secret()
        content = _decode_address(secret, opaque) if secret else None
        if content is None:
            return CallbackStatus.UNKNOWN
        expires = int(content.rpartition(".")[2])
        if now > expires:
            return CallbackStatus.OVER
        name = _hash_name(secret, _strip_signer(content))
        with self._lock:
            known = read_json(self._folder / f"{name}{_ANSWER}")
            if known is not None and known["answer"].get("state") in FINAL:
                return CallbackStatus.REPEATED
            if (self._folder / f"{name}{_OVER}").exists():
                return CallbackStatus.OVER
            kept = {"expires": expires, "answer": dict(answer)}
            write_json(self._folder / f"{name}{_ANSWER}", kept)
            self._forget_hourly(now)
        return CallbackStatus.STORED

    def forget(self, now: float) -> None:
        """Delete answers a day after their address has expired."""
        if not self._folder.is_dir():
            return
        write_json(self._folder / _FORGOT, {"at": now}, durable=False)
        for path in [*self._folder.glob(f"*{_ANSWER}"), *self._folder.glob(f"*{_OVER}")]:
            kept = read_json(path)
            if kept is not None and kept.get("expires", now) + _DAY < now:
                path.unlink(missing_ok=True)

    def _forget_hourly(self, now: float) -> None:
        """Delete old answers once an hour: many commands end before they have had one."""
        last = read_json(self._folder / _FORGOT)
        if last is None or not 0 <= now - last["at"] <= _DAY / 24:
            self.forget(now)

    # -- the secret ---------------------------------------------------------------------------

    def _read_secret(self) -> bytes:
        if not self._kept:
            with contextlib.suppress(FileNotFoundError):
                self._kept = (self._folder / _SECRET).read_bytes()
        return self._kept

    def _make_secret(self, chance: Callable[[], bytes]) -> bytes:
        """Make the secret; two processes that make one at once both get that of the first."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._folder / f".{_SECRET}.{os.getpid()}.{threading.get_ident()}"
        new.unlink(missing_ok=True)
        write_new(new, chance())
        with contextlib.suppress(FileExistsError):
            os.link(new, self._folder / _SECRET)
        new.unlink()
        sync_folder(self._folder)
        return self._read_secret()

    def _get_name(self, key: str, expires: int) -> str:
        secret = self._read_secret()
        return _hash_name(secret, f"{key}.{expires}") if secret else ""


def _hash_name(secret: bytes, content: str) -> str:
    """The file's name, from which nobody can compute the address."""
    return hashlib.sha256(_encode_address(secret, content).encode()).hexdigest()


def _strip_signer(content: str) -> str:
    """The content of an address without its signer."""
    return content.partition(";")[2] if content.startswith(_SIGNED) else content


def _encode_address(secret: bytes, content: str) -> str:
    code = hmac.new(secret, content.encode(), hashlib.sha256).digest()
    return f"{_encode_base64(code)}.{_encode_base64(content.encode())}"


def _decode_address(secret: bytes, opaque: str) -> str | None:
    """The content of an address of ours; None for one that is not ours."""
    try:
        content = _decode_base64(opaque.partition(".")[2]).decode()
    except (ValueError, binascii.Error):
        return None
    ours = _encode_address(secret, content).encode()
    return content if hmac.compare_digest(ours, opaque.encode("utf-8", "replace")) else None


def _encode_base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decode_base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
