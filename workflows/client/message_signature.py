"""Signatures of HTTP messages (RFC 9421) with a digest of the content (RFC 9530).

For endpoints that want public keys, or the standard. What is signed: ``@method``, ``@target-uri``
and, where a request has them, ``content-digest`` and ``idempotency-key``. With several keys there
are several signatures, so that keys can be changed one by one. Knows nothing of workflows.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from zonda.hooks.errors import UsageError
from zonda.hooks.http import target
from zonda.hooks.runners import settings

from . import webhook_signature

WEBHOOKS, MESSAGES = "webhooks", "rfc9421"
SCHEMES = (WEBHOOKS, MESSAGES)
ED25519, HMAC = "ed25519", "hmac-sha256"
#: Seconds after which a receiver should take a signature no more.
LASTS = 300
_COVERED = ("content-digest", "idempotency-key")


@dataclass(frozen=True, slots=True)
class MessageKey:
    """A key and the name by which the receiver knows it."""

    id: str
    algorithm: str
    key: Ed25519PrivateKey | bytes = field(repr=False)

    def sign(self, content: bytes) -> bytes:
        """The signature of ``content``."""
        if isinstance(self.key, Ed25519PrivateKey):
            return self.key.sign(content)
        return hmac.new(self.key, content, hashlib.sha256).digest()


def read_keys(given: Mapping[str, Any]) -> tuple[MessageKey, ...]:
    """The keys of ``signing_keys`` and ``signing_key``, tables with ``id`` and ``key`` each."""
    found = []
    for name in ("signing_keys", "signing_key"):
        value = given.get(name) or []
        found += [_read(entry, name) for entry in (value if isinstance(value, list) else [value])]
    if not found:
        raise UsageError(f"The runner signs by {MESSAGES} and has no signing_keys.")
    if len({key.id for key in found}) < len(found):
        raise UsageError("Two of the runner's signing_keys have the same id.")
    return tuple(found)


def _read(entry: Any, name: str) -> MessageKey:
    if not isinstance(entry, Mapping):
        raise UsageError(
            f"The runner signs by {MESSAGES}, and its {name} has no id.",
            hint=f'Write {name} = [{{id = "2026", key = ...}}].',
        )
    settings.check_names(entry, name, ("id", "key"))
    known_as, text = (settings.text(entry, part, within=f"{name}.") for part in ("id", "key"))
    if not known_as or not text:
        raise UsageError(f"An entry of the runner's {name} has no id or no key.")
    if not settings.fits_a_header(known_as) or '"' in known_as or "\\" in known_as:
        raise UsageError(f"The id of one of the runner's {name} must be plain ASCII, unquoted.")
    if text.lstrip().startswith("-----BEGIN"):
        return MessageKey(known_as, ED25519, _private_key(text))
    try:
        return MessageKey(known_as, HMAC, webhook_signature.read_key(text))
    except ValueError as error:
        raise UsageError(f"A signing key of the runner cannot be read: {error}.") from None


def _private_key(text: str) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(text.strip().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UsageError(
            "A signing key of the runner is no private key in PEM without a passphrase."
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("A signing key of the runner is a private key, but not one of Ed25519.")
    return key


def digest(content: bytes) -> str:
    """The value of ``Content-Digest``."""
    return f"sha-256=:{_base64(hashlib.sha256(content).digest())}:"


def headers(
    keys: Sequence[MessageKey],
    method: str,
    url: str,
    known: Mapping[str, str],
    now: float,
    content: bytes | None,
) -> dict[str, str]:
    """The headers that sign a request; none where there is no key. ``known``: its others."""
    if not keys:
        return {}
    added = {} if content is None else {"Content-Digest": digest(content)}
    values = {name.lower(): value for name, value in {**known, **added}.items()}
    covered = {"@method": method, "@target-uri": target(url)}
    covered |= {name: values[name] for name in _COVERED if name in values}
    inputs, signatures = [], []
    for number, key in enumerate(keys, 1):
        parameters = _parameters(covered, key, int(now))
        signature = key.sign(base(covered, parameters))
        inputs.append(f"sig{number}={parameters}")
        signatures.append(f"sig{number}=:{_base64(signature)}:")
    return {
        **added,
        "Signature-Input": ", ".join(inputs),
        "Signature": ", ".join(signatures),
    }


def _parameters(covered: Mapping[str, str], key: MessageKey, created: int) -> str:
    names = " ".join(f'"{name}"' for name in covered)
    times = f"created={created};expires={created + LASTS}"
    return f'({names});{times};keyid="{key.id}";alg="{key.algorithm}"'


def base(covered: Mapping[str, str], parameters: str) -> bytes:
    """What is signed: one line for each component, and the parameters last."""
    lines = [f'"{name}": {value.strip()}' for name, value in covered.items()]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
