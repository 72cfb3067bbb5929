"""Signatures of HTTP messages (RFC 9421) with a digest of the content (RFC 9530).

For endpoints that want public keys, or the standard. What is signed: ``@method``, ``@target-uri``
and, where a request has them, ``content-digest`` and ``idempotency-key``. With several keys there
are several signatures, so that keys can be changed one by one. Knows nothing of workflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from zonda.hooks import UsageError
from zonda.hooks.http import canonical_url
from zonda.hooks.runners import settings

from . import webhook_signature

WEBHOOKS, MESSAGES = "webhooks", "rfc9421"
SCHEMES = (WEBHOOKS, MESSAGES)
#: Time after which a receiver should take a signature no more.
LASTS = timedelta(minutes=5)


Key = Ed25519PrivateKey | bytes


def read_keys(given: Mapping[str, Any]) -> dict[str, Key]:
    """The keys of ``signing_keys`` and ``signing_key``, tables with ``id`` and ``key``, by id."""
    found = []
    for name in ("signing_keys", "signing_key"):
        value = given.get(name) or []
        found += [_read(entry, name) for entry in (value if isinstance(value, list) else [value])]
    if not found:
        raise UsageError(f"The runner signs by {MESSAGES} and has no signing_keys.")
    keys = dict(found)
    if len(keys) < len(found):
        raise UsageError("Two of the runner's signing_keys have the same id.")
    return keys


def _read(entry: Any, name: str) -> tuple[str, Key]:
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
        return known_as, _private_key(text)
    try:
        return known_as, webhook_signature.read_key(text)
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


def headers(
    keys: Mapping[str, Key],
    method: str,
    url: str,
    known: Mapping[str, str],
    now: float,
    content: bytes | None,
) -> dict[str, str]:
    """The headers that sign a request; none where there is no key. ``known``: its others."""
    if not keys:
        return {}
    import http_message_signatures as library  # 0.08 s that unsigned requests need not spend

    request = SimpleNamespace(method=method, url=canonical_url(url), headers=dict(known))
    covered = ["@method", "@target-uri", *(["content-digest"] if content is not None else [])]
    covered += [name for name in map(str.lower, known) if name == "idempotency-key"]
    created = datetime.fromtimestamp(int(now), UTC)
    for number, (name, key) in enumerate(keys.items(), 1):
        is_shared = isinstance(key, bytes)
        algorithm = library.algorithms.HMAC_SHA256 if is_shared else library.algorithms.ED25519
        library.HTTPMessageSigner(
            signature_algorithm=algorithm,
            key_resolver=library.MappingKeyResolver(public_keys={}, private_keys={name: key}),
        ).sign(
            request,
            key_id=name,
            created=created,
            expires=created + LASTS,
            label=f"sig{number}",
            covered_component_ids=covered,
            append_if_signature_exists=True,
            body=content,
            use_existing_digest=number > 1,
        )
    return {name: text for name, text in request.headers.items() if name not in known}
