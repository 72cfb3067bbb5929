"""Signatures of HTTP messages (RFC 9421) with a digest of the content (RFC 9530).

For endpoints that want public keys, or the standard. What is signed: ``@method``, ``@target-uri``
and, where a request has them, ``content-digest`` and ``idempotency-key``. With several keys there
are several signatures, so that keys can be changed one by one. Knows nothing of workflows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from zonda.hooks import UsageError
from zonda.hooks.http import canonical_url
from zonda.hooks.settings import is_header_value

from . import webhook_signature

MESSAGES = "rfc9421"
#: Time after which a receiver should take a signature no more.
LASTS = timedelta(minutes=5)


Key = Ed25519PrivateKey | bytes


def read_keys(keys: Sequence[tuple[str, str]]) -> dict[str, Key]:
    """The keys by id, from pairs of an id and a text. Raises UsageError."""
    if not keys:
        raise UsageError(f"The runner signs by {MESSAGES} and has no signing_keys.")
    known = {name: _read_key_entry(name, text) for name, text in keys}
    if len(known) < len(keys):
        raise UsageError("Two of the runner's signing_keys have the same id.")
    return known


def _read_key_entry(name: str, text: str) -> Key:
    if not name:
        raise UsageError(
            f"The runner signs by {MESSAGES}, and one of its signing_keys has no id.",
            hint='Write signing_keys = [{id = "2026", key = ...}].',
        )
    if not is_header_value(name) or '"' in name or "\\" in name:
        raise UsageError("The id of a signing key must be plain ASCII, unquoted.")
    if text.lstrip().startswith("-----BEGIN"):
        return _load_private_key(text)
    try:
        return webhook_signature.read_key(text)
    except ValueError as error:
        raise UsageError(f"A signing key of the runner cannot be read: {error}.") from None


def _load_private_key(text: str) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(text.strip().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UsageError(
            "A signing key of the runner is no private key in PEM without a passphrase."
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("A signing key of the runner is a private key, but not one of Ed25519.")
    return key


def build_headers(
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
