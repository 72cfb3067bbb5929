"""Sealing of hidden values at rest, and hashes that cannot be guessed backwards.

A sealed value is ``sealed:2:`` and, in base64, a salt, a nonce, and what AES-GCM gives with a key
that is derived from the sealing key and the salt. Each sealer has a salt of its own, so that no
derived key seals more values than random nonces are good for, however long the sealing key is
used. ``sealed:`` and a Fernet token is the format before; it is read. The sealing key is 32 random
bytes in URL-safe base64, from ``ZONDA_KEY`` or a file with mode 0600 that is made on first use.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zonda.core.system.folders import hold_folder
from zonda.core.system.ids import make_bytes
from zonda.hooks.errors import StoreError
from zonda.hooks.hashes import blake2b

from ..database.protocols import Database
from ..file.version import make_private
from ..schema.rows import PREFIX
from .jsontext import dumps, loads
from .reopening import Reopening

if TYPE_CHECKING:  # a tenth of a command that opens nothing sealed
    from cryptography.fernet import MultiFernet
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

#: The beginning of a sealed value; bytes of its salt and of its nonce.
_SEALED, _SALT, _NONCE = f"{PREFIX}2:", 16, 12


class Sealer:
    """Seals with the first key, opens with any; hashes are keyed with the first."""

    def __init__(self, *keys: str | bytes) -> None:
        texts = [key.encode() if isinstance(key, str) else key for key in keys]
        try:
            self._secrets = [base64.urlsafe_b64decode(text) for text in texts]
            if any(len(secret) != 32 for secret in self._secrets):
                raise ValueError
            self._hash_key = blake2b(b"zonda hashes", key=self._secrets[0], digest_size=32).digest()
        except (ValueError, IndexError) as error:
            raise StoreError(
                "The sealing key is not 32 bytes in URL-safe base64.",
                hint="Set ZONDA_KEY to the key that the database was made with, or unset it.",
            ) from error
        self._keys = texts
        self._reopening = Reopening()

    @cached_property
    def _fernet(self) -> MultiFernet:
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(key) for key in self._keys])

    def seal(self, value: Any) -> str:
        """``value`` (JSON-able) as sealed text."""
        return self.seal_text(dumps(value))

    def seal_text(self, text: str) -> str:
        """Like ``seal``, of the text that ``jsontext.dumps`` gave."""
        salt, cipher = self._own_cipher
        nonce = make_bytes(_NONCE)
        content = salt + nonce + cipher.encrypt(nonce, text.encode(), None)
        return _SEALED + base64.b64encode(content).decode()

    def open(self, text: str) -> Any:
        """The value of ``seal``; raises StoreError for another key's."""
        return self._reopening.open_text(text, self._decipher)

    @cached_property
    def _own_cipher(self) -> tuple[bytes, AESGCM]:
        """The salt of this sealer, and the cipher that seals."""
        salt = make_bytes(_SALT)
        return salt, _make_cipher(self._secrets[0], salt)

    def _decipher(self, text: str) -> Any:
        content = self._decrypt(text) if text.startswith(_SEALED) else self._decrypt_token(text)
        if content is None:
            raise StoreError(
                "A sealed value in the database cannot be opened with this key.",
                hint="If 'zonda db status' says that the key fits, the value is damaged: "
                "'zonda db check' names its row.",
            )
        return loads(content)

    def _decrypt(self, text: str) -> bytes | None:
        """The content of a value; None where no key opens it."""
        from cryptography.exceptions import InvalidTag

        try:
            content = base64.b64decode(text[len(_SEALED) :], validate=True)
        except ValueError:
            return None
        salt, nonce, sealed = content[:_SALT], content[_SALT:][:_NONCE], content[_SALT + _NONCE :]
        for secret in self._secrets:
            # a ValueError: it was cut off
            with suppress(InvalidTag, ValueError):
                return _make_cipher(secret, salt).decrypt(nonce, sealed, None)
        return None

    def _decrypt_token(self, text: str) -> bytes | None:
        """Like ``_decrypt``, in the format before."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(text.removeprefix(PREFIX).encode())
        except InvalidToken:
            return None

    def load(self, text: str | None) -> Any:
        """The value of a column that is null, JSON text or sealed text."""
        if text is None:
            return None
        return (
            self.open(text) if text.startswith(PREFIX) else self._reopening.open_text(text, loads)
        )

    def load_map(self, text: str | None) -> Mapping[str, Any]:
        """Like ``load``, of a map; empty for null. Values may be made only when asked for."""
        if text is None:
            return {}
        how = self._decipher if text.startswith(PREFIX) else loads
        return self._reopening.parts(text, how)

    def dump(self, value: Any, *, sealed: bool) -> str:
        """``value`` for a column that is JSON text or sealed text."""
        return self.seal(value) if sealed else dumps(value)

    def is_sealed(self, text: str | None) -> bool:
        """Whether a column holds sealed text."""
        return text is not None and text.startswith(PREFIX)

    def derive_keys(self, purpose: str) -> list[bytes]:
        """A key for a purpose from each sealing key, by HKDF; the first one signs."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = f"zonda {purpose}".encode()
        return [HKDF(SHA256(), 32, None, info).derive(secret) for secret in self._secrets]

    @cached_property
    def signal_keys(self) -> list[bytes]:
        """The keys of signal URLs."""
        return self.derive_keys("signal")

    @cached_property
    def fingerprint(self) -> str:
        """The text by which a database knows its key, 32 hexadecimal digits."""
        return self.hmac(b"zonda key check")

    def hmac(self, data: bytes) -> str:
        """A keyed hash of ``data``, 32 hexadecimal digits."""
        return blake2b(data, key=self._hash_key, digest_size=16).hexdigest()


def _make_cipher(secret: bytes, salt: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(blake2b(salt, key=secret, digest_size=32, person=b"zonda sealing").digest())


def make_key() -> str:
    """A new key."""
    return base64.urlsafe_b64encode(make_bytes(32)).decode()


def load_key(path: Path, database: Database | None = None) -> str:
    """The key kept in ``path``; made, readable by its owner alone, where there is none.

    Raises StoreError where it is missing and the ``database`` has been made with one.
    """
    key = _read_key(path)
    if key:
        return key
    if database is None:
        return _make_file(path)
    if database.is_unreadable():
        return make_key()  # not kept: the store refuses that file
    if database.is_made():
        key = _read_key(path)  # another process may have made both since
        if key:
            return key
        raise StoreError(
            f"The sealing key {path} is missing, and the database {database.where} needs it.",
            hint="Restore the key file, or set ZONDA_KEY to the key. Nothing was written.",
        )
    with hold_folder(path.parent):
        return _read_key(path) or _make_file(path)


def _read_key(path: Path) -> str:
    """The key in a file; '' where there is none, or the file is empty."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise StoreError(
            f"The sealing key {path} is not text in ASCII.",
            hint="Restore the key file, or give the key in ZONDA_KEY.",
        ) from error
    except OSError as error:
        raise StoreError(
            f"The sealing key {path} cannot be read: {error.strerror}.",
            hint="Make it readable, or give the key in ZONDA_KEY.",
        ) from error


def _make_file(path: Path) -> str:
    """Make a key beside its place and rename it, so that nobody reads a part of it."""
    key, beside = make_key(), path.with_name(f"{path.name}.new")
    try:
        beside.unlink(missing_ok=True)
        make_private(str(beside))
        beside.write_text(key, encoding="ascii")
        beside.rename(path)
    except OSError as error:
        raise StoreError(
            f"The sealing key {path} cannot be made: {error.strerror}.",
            hint="Make the folder writable, or give a key in ZONDA_KEY.",
        ) from error
    return key


def make_sealer(
    key: str | Sequence[str] | None, file: Path, *, database: Database | None = None
) -> Sealer:
    """A sealer with ``key`` (or several, the newest first), else with the key of ``file``.

    ``database``: the one that is sealed with it; where it exists no new key is made.
    """
    if key is None:
        return Sealer(load_key(file, database))
    return Sealer(key) if isinstance(key, str) else Sealer(*key)
