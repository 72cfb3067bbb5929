"""Whether a password is the one that a server keeps a verifier of."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import stringprep
import unicodedata
from typing import Final

_VERIFIER: Final = re.compile(
    r"SCRAM-SHA-256\$(?P<rounds>\d+):(?P<salt>[^$]+)\$(?P<stored>[^:]+):(?P<server>.+)"
)


def matches(verifier: str, password: str, role: str) -> bool:
    """Whether ``verifier`` (SCRAM-SHA-256 or MD5, as in pg_authid) belongs to ``password``."""
    found = _VERIFIER.fullmatch(verifier)
    if found is None:
        digest = hashlib.md5((password + role).encode(), usedforsecurity=False).hexdigest()
        return hmac.compare_digest(verifier, f"md5{digest}")
    salted = hashlib.pbkdf2_hmac(
        "sha256", _prepared(password), base64.b64decode(found["salt"]), int(found["rounds"])
    )
    key = hmac.digest(salted, b"Client Key", "sha256")
    return hmac.compare_digest(hashlib.sha256(key).digest(), base64.b64decode(found["stored"]))


def _prepared(password: str) -> bytes:
    """SASLprep (RFC 4013); what it forbids is taken as it is, as PostgreSQL does."""
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    text = unicodedata.normalize("NFKC", mapped)
    forbidden = (
        *(stringprep.in_table_c12, stringprep.in_table_c21_c22, stringprep.in_table_c3),
        *(stringprep.in_table_c4, stringprep.in_table_c5, stringprep.in_table_c6),
        *(stringprep.in_table_c7, stringprep.in_table_c8, stringprep.in_table_c9),
        stringprep.in_table_a1,
    )
    if not text or any(test(character) for test in forbidden for character in text):
        return password.encode()
    return text.encode()
