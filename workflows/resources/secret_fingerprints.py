"""Which secrets a run was sent, so that its answer can be searched for just these.

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
class Known:
    """The values to search for, and the references of what was sent and nobody knows any more."""

    values: list[str] = field(default_factory=list, repr=False)
    lacking: list[str] = field(default_factory=list)


def note(token: RunToken, reference: str, secret: str) -> str:
    """``secret`` is about to be sent with ``token``."""
    found = _print_of(token, reference, secret)
    token.setdefault("prints", {})[reference] = found
    while len(_sent) >= _MOST:
        _sent.pop(next(iter(_sent)), None)
    _sent[found] = secret
    return secret


def known(token: RunToken, references: Iterable[str], secret: Callable[[str], str]) -> Known:
    """What an answer for ``token`` may repeat; ``references`` are of what others were sent, too."""
    prints = token.get("prints", {})
    found = Known()
    for reference in sorted({*references, *prints}):
        now = _now(reference, secret)
        if now is not None:
            found.values.append(now)
        wanted = prints.get(reference)
        if wanted is None or (now is not None and _print_of(token, reference, now) == wanted):
            continue
        if wanted in _sent:
            found.values.append(_sent[wanted])
        else:
            found.lacking.append(reference)
    return found


def _now(reference: str, secret: Callable[[str], str]) -> str | None:
    try:
        return secret(reference)
    except UsageError:  # it was there when it was sent, and is no more
        return None


def _print_of(token: RunToken, reference: str, secret: str) -> str:
    """Told by nobody who does not know the secret; another one for every run."""
    text = "\0".join((token["key"], reference, secret))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
