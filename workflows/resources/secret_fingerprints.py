"""The secrets that were sent with a run, so that its answer can be searched for them.

A secret may change, or be gone, before a run ends. What was sent is remembered by this process
alone. The token has fingerprints, by which another process tells whether what the references name
now is what was sent::

    "prints": {reference: fingerprint}
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from zonda.hooks import RunToken, UsageError

#: So many secrets are remembered; a run is rarely longer than all that are begun after it.
_MOST = 10_000
_sent: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class SentSecrets:
    """The values to search for, and the references whose sent values nobody knows any more."""

    values: list[str] = field(default_factory=list, repr=False)
    lacking: list[str] = field(default_factory=list)


def record_secret(token: RunToken, reference: str, secret: str) -> str:
    """Record ``secret``, which is about to be sent with ``token``; returns it."""
    found = _compute_fingerprint(token, reference, secret)
    token.setdefault("prints", {})[reference] = found
    while len(_sent) >= _MOST:
        _sent.pop(next(iter(_sent)), None)
    _sent[found] = secret
    return secret


def find_sent_secrets(
    token: RunToken, references: Iterable[str], secret: Callable[[str], str]
) -> SentSecrets:
    """The secrets that an answer for ``token`` may repeat; ``references``: further ones."""
    prints = token.get("prints", {})
    found = SentSecrets()
    for reference in sorted({*references, *prints}):
        now = _find_secret(reference, secret)
        if now is not None:
            found.values.append(now)
        wanted = prints.get(reference)
        if wanted is None or (
            now is not None and _compute_fingerprint(token, reference, now) == wanted
        ):
            continue
        if wanted in _sent:
            found.values.append(_sent[wanted])
        else:
            found.lacking.append(reference)
    return found


def _find_secret(reference: str, secret: Callable[[str], str]) -> str | None:
    try:
        return secret(reference)
    except UsageError:  # it was there when it was sent, and is no more
        return None


def _compute_fingerprint(token: RunToken, reference: str, secret: str) -> str:
    """The fingerprint of a secret, different for every run."""
    text = "\0".join((token["key"], reference, secret))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
