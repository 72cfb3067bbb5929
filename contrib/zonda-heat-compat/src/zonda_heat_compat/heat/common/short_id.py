"""Twelve characters that tell one resource from another."""

from __future__ import annotations

import base64
import uuid


def get_id(source_uuid: str | uuid.UUID) -> str:
    known = source_uuid if isinstance(source_uuid, uuid.UUID) else uuid.UUID(str(source_uuid))
    # The end of the id: the beginning of zonda's is the time.
    return base64.b32encode(known.bytes[-8:]).decode()[:12].lower()


def generate_id() -> str:
    return get_id(uuid.uuid4())
