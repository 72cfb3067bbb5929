"""Keys and certificates of an ``http`` runner: read once, refused where they prove nothing.

Called by ``http_settings``. An entry that is there holds a key, and a file what it should: nobody
must sign, or check, less than he thinks. No text of an error holds a key.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Any

from zonda.hooks import UsageError
from zonda.hooks.runners import settings

from . import message_signature
from .webhook_signature import read_key


def signing(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that sign requests, by the setting of the scheme that they are for."""
    scheme = settings.choice(given, "signature", message_signature.SCHEMES)
    if scheme == message_signature.MESSAGES:
        return {"message_keys": message_signature.read_keys(given)}
    return {"signing_keys": tuple(_key(text) for text in key_texts(given))}


def key_texts(given: Mapping[str, Any]) -> list[str]:
    """The keys themselves; a key may have an id, of which this scheme makes no use."""
    found = []
    for name in ("signing_keys", "signing_key"):
        value = given.get(name)
        listed = value if isinstance(value, list | tuple) else [] if value is None else [value]
        plain = [one.get("key") if isinstance(one, Mapping) else one for one in listed]
        found += _given({} if value is None else {name: plain}, name)
    return found


def _given(given: Mapping[str, Any], name: str) -> list[str]:
    """The keys of an entry; one that is there holds some: nobody must sign less than he thinks."""
    found = settings.texts(given, name)
    if not found and given.get(name) is not None:
        raise UsageError(
            f"The runner's setting {name} holds no key.", hint="Leave it out, or give a key."
        )
    return found


def bundle(path: str) -> str:
    """The file, or the folder, of certificates to trust. Raises UsageError for no such."""
    if not path:
        return ""
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        folder = os.path.isdir(path)
        context.load_verify_locations(None if folder else path, path if folder else None)
    except (OSError, ValueError) as error:
        why = "" if isinstance(error, ssl.SSLError) else getattr(error, "strerror", "")
        raise UsageError(
            f"The runner's ca_bundle cannot be used: {why or 'it holds no certificate'}.",
            hint="ca_bundle is a file of certificates in PEM.",
        ) from None
    return path


def certificate(texts: Mapping[str, str]) -> dict[str, Any]:
    """The files that prove who we are. Raises UsageError for those that cannot be used."""
    names = ("client_certificate", "client_key", "client_key_passphrase")
    found = {name: texts[name] for name in names}
    if not found["client_certificate"]:
        if any(found.values()):
            raise UsageError("The runner has a client_key and no client_certificate.")
        return {}
    try:
        # Without a passphrase OpenSSL would ask the terminal for one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(
            found["client_certificate"],
            found["client_key"] or None,
            lambda: found["client_key_passphrase"],
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, FileNotFoundError | PermissionError) else ""
        raise UsageError(
            "The runner's client_certificate cannot be used"
            f"{f' ({why})' if why else ': certificate, key and passphrase do not fit'}.",
            hint="client_certificate and client_key are files in PEM; the key may have a "
            "client_key_passphrase.",
        ) from None
    return found


def _key(text: str, name: str = "signing key") -> bytes:
    try:
        return read_key(text)
    except ValueError as error:
        raise UsageError(f"A {name} of the runner cannot be read: {error}.") from None


def callback_keys(given: Mapping[str, Any]) -> tuple[bytes, ...]:
    """The keys that sign callbacks."""
    return tuple(_key(text, "callback_key") for text in _given(given, "callback_key"))
