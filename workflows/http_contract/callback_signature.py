"""Signatures of callbacks: ``Zonda-Callback-Signature: t=SECONDS,v1=HEX``, once for each key.

HEX is the HMAC-SHA256 of ``SECONDS.OPAQUE.BODY`` with the ``callback_key`` of the runner's section;
OPAQUE is the last part of the address's path. Who has read an address somewhere cannot tell
anything there without the key, nor with what was signed for another one. The bundled service and
``zonda runner check`` verify. Knows nothing of answers, and never shows a key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence

HEADER = "Zonda-Callback-Signature"
#: Seconds that the time in a signature may be off.
TOLERANCE = 300.0
_PART = re.compile(r"v1=([0-9a-f]{64})")
_TIME = re.compile(r"t=([0-9]{1,12})")


def sign(keys: Sequence[bytes], now: float, opaque: str, body: bytes) -> str:
    """The value of the header."""
    moment = str(int(now))
    return ",".join(
        [f"t={moment}", *(f"v1={_compute_code(key, moment, opaque, body)}" for key in keys)]
    )


def verify(keys: Sequence[bytes], given: str, now: float, opaque: str, body: bytes) -> str | None:
    """The fault of a callback's signature, or None. ``given``: the header's value."""
    if not given:
        return f"it is not signed ({HEADER})"
    first, *others = (part.strip() for part in given.split(","))
    moment, codes = _TIME.fullmatch(first), [_PART.fullmatch(each) for each in others]
    if moment is None or not codes or not all(codes):
        return f"{HEADER} is not of the form t=SECONDS,v1=HEX"
    if abs(now - int(moment[1])) > TOLERANCE:
        return "the signature is too old or too new (5 minutes are allowed)"
    wanted = [_compute_code(key, moment[1], opaque, body) for key in keys]
    told = [code[1] for code in codes if code is not None]
    if any(hmac.compare_digest(one, want) for one in told for want in wanted):
        return None
    return "the signature fits none of the keys"


def _compute_code(key: bytes, moment: str, opaque: str, body: bytes) -> str:
    content = f"{moment}.{opaque}.".encode() + body
    return hmac.new(key, content, hashlib.sha256).hexdigest()
