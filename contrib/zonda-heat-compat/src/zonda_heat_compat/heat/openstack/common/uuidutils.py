"""Ids of 2013."""

from __future__ import annotations

import uuid
from typing import Any


def generate_uuid() -> str:
    return str(uuid.uuid4())


def is_uuid_like(val: Any) -> bool:
    try:
        return bool(str(uuid.UUID(val)) == val)
    except (TypeError, ValueError, AttributeError):
        return False
