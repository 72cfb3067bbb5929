"""The request of zonda's HTTP contract, version 1, as the body that a workflow is sent.

For runners: whoever sends this body, by whatever way, has workflows that run behind any other
runner of the contract too. ``docs/reference/http-contract.openapi.yaml`` describes every field.
Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from .messages import StartRequest

#: The version of the contract.
CONTRACT = 1


def body(request: StartRequest, callback: Mapping[str, Any] | None = None) -> bytes:
    """The JSON object in UTF-8, keys sorted: of one operation the same to the byte on every send.

    So it holds nothing that changes between sends. ``callback``: ``{"url", "expires"}``, where the
    workflow may tell how it ended. Raises ValueError where the input holds what JSON has no word
    for (infinity, not a number).
    """
    plain = {
        "contract": CONTRACT,
        "action": request.action,
        "request_id": request.key,
        "deadline": instant(request.deadline),
        "stack": {
            "id": request.stack.id,
            "name": request.stack.name,
            "project": request.stack.project,
        },
        "resource": {
            "id": request.resource.id,
            "name": request.resource.name,
            "type": request.resource.type,
            "physical_id": request.resource.physical_id,
        },
        "inputs": dict(request.inputs),
        "params": dict(request.params),
        "description": request.description,
        **_build_optional_fields(request),
        **({"callback": dict(callback)} if callback else {}),
    }
    # Keys become texts first: sorting fails on a map that has both numbers and texts as keys.
    return encoded(json.loads(encoded(plain)), sort=True)


def _build_optional_fields(request: StartRequest) -> dict[str, Any]:
    found = {
        "old_inputs": request.old_inputs,
        "data": request.data,
        "create_request_id": request.create_key,
    }
    return {name: value for name, value in found.items() if value is not None}


def encoded(value: Any, *, sort: bool = False) -> bytes:
    """``value`` as short JSON in UTF-8. Raises ValueError for what JSON has no word for."""
    return json.dumps(
        value, sort_keys=sort, allow_nan=False, ensure_ascii=False, separators=(",", ":")
    ).encode()


def is_json(value: Any) -> bool:
    """Whether ``encoded`` takes a value: one with NaN or half a surrogate pair is no JSON."""
    try:
        encoded(value)
    except ValueError:
        return False
    return True


def instant(seconds: float) -> str:
    """Seconds since the epoch as ``2026-11-21T10:00:00Z``."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
