"""The request of the ``http`` contract, version 1: its body and its headers.

The body of one operation is the same to the byte on every send, so it holds nothing that changes
between sends. Called by the runner; knows nothing of sockets and answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from zonda.hooks.runner import StartRequest

from . import http_messages, http_signing
from .http_actions import USUAL, Action
from .http_settings import HttpSettings

CONTRACT = 1
_ALWAYS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "zonda",
}


def body(request: StartRequest, callback: Mapping[str, Any] | None = None) -> bytes:
    """The JSON object that an endpoint receives, keys sorted. ``callback``: where it may call.

    Raises ValueError where the input holds what JSON has no word for (infinity, not a number).
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
        **_optional(request),
        **({"callback": dict(callback)} if callback else {}),
    }
    # Keys become texts first: sorting fails on a map that has both numbers and texts as keys.
    return _json(json.loads(_json(plain, sort=False)), sort=True).encode()


def _optional(request: StartRequest) -> dict[str, Any]:
    found = {
        "old_inputs": request.old_inputs,
        "data": request.data,
        "create_request_id": request.create_key,
    }
    return {name: value for name, value in found.items() if value is not None}


def _json(value: Any, *, sort: bool) -> str:
    return json.dumps(
        value, sort_keys=sort, allow_nan=False, ensure_ascii=False, separators=(",", ":")
    )


def instant(seconds: float) -> str:
    """Seconds since the epoch as ``2026-11-21T10:00:00Z``."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def inputs(request: StartRequest) -> bytes:
    """The inputs as they are, for an API that does not know the contract. Raises ValueError."""
    return _json(dict(request.inputs), sort=False).encode()


def start_headers(
    settings: HttpSettings,
    request: StartRequest,
    url: str,
    content: bytes | None,
    action: Action = USUAL,
    credentials: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The headers of a start; only ``Zonda-Attempt`` and the signature differ between sends."""
    known = {
        **(settings.credentials(url) if credentials is None else credentials),
        **_ALWAYS,
        "Idempotency-Key": request.key,
    }
    if content is not None:
        known["Content-Type"] = "application/json"
    if not action.plain:
        known |= {
            "Zonda-Contract": str(CONTRACT),
            "Prefer": f"respond-async, wait={_wait(settings):g}",
            "Zonda-Attempt": str(request.attempt),
        }
    return _signed(settings, request.key, action.method, url, known, content)


def _wait(settings: HttpSettings) -> float:
    """How long an endpoint may take to answer: less than the answer is waited for."""
    longest = settings.answer_timeout * 0.8
    return min(settings.wait, float(int(longest)) if longest >= 1 else 0.0)


def later_headers(
    settings: HttpSettings,
    key: str,
    url: str,
    method: str = "GET",
    credentials: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The headers of a poll and of a request to cancel."""
    known = {
        **(settings.credentials(url) if credentials is None else credentials),
        **_ALWAYS,
        "Zonda-Contract": str(CONTRACT),
    }
    return _signed(settings, key, method, url, known, None)


def _signed(
    settings: HttpSettings,
    key: str,
    method: str,
    url: str,
    known: Mapping[str, str],
    content: bytes | None,
) -> dict[str, str]:
    if not settings.knows(url):
        return dict(known)  # a signature for a stranger could be shown to whom it was not meant for
    now = settings.clock.now()
    return {
        **known,
        **http_signing.headers(settings.signing_keys, key, now, content or b""),
        **http_messages.headers(settings.message_keys, method, url, known, now, content),
    }
