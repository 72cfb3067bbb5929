"""The receiver of callbacks: checks what an endpoint tells at an address, and stores it.

Used by the bundled service and by the server of zonda's API, which share a folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zonda.hooks import UsageError

from ..client import webhook_signature
from . import callback_signature
from .callback_store import Callbacks, CallbackStatus
from .states import STATES


class CallbackRefusal(Exception):
    """A callback was not stored; ``status`` is that of the answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class CallbackReceiver:
    """Receives the callbacks of one folder. ``keys``: by section, which may sign those of it."""

    callbacks: Callbacks
    keys: Mapping[str, Sequence[bytes]] = field(default_factory=dict, repr=False)

    def receive(self, opaque: str, signature: str, body: bytes, now: float) -> dict[str, Any]:
        """Store a callback; gives the answer, raises CallbackRefusal."""
        self._check_signature(opaque, signature, body, now)
        answer = parse_object(body)
        if answer.get("state") not in STATES:
            raise CallbackRefusal(400, f"The state must be one of {', '.join(STATES)}.")
        try:
            status = self.callbacks.tell(opaque, answer, now)
        except OSError as error:
            reason = f"The answer cannot be stored: {error.strerror}."
            raise CallbackRefusal(503, reason) from error
        if status is CallbackStatus.UNKNOWN:
            raise CallbackRefusal(404, "There is no such callback.")
        if status is CallbackStatus.OVER:
            raise CallbackRefusal(410, "Nobody waits for this callback any more.")
        return {"contract": 1, "callback": status.value}

    def _check_signature(self, opaque: str, signature: str, body: bytes, now: float) -> None:
        signer = self.callbacks.find_signer(opaque)
        if not signer:
            return
        keys = self.keys.get(signer)
        if keys is None:
            # Who tells it again, and again, gets through once the key is back.
            reason = "The key of this callback came after the service (restart it), or is no more."
            raise CallbackRefusal(503, reason)
        fault = callback_signature.verify(keys, signature, now, opaque, body)
        if fault:
            raise CallbackRefusal(401, f"The callback is refused: {fault}.")


def make_receiver(folder: Path, keys: Mapping[str, Sequence[str]]) -> CallbackReceiver:
    """The receiver of a folder; ``keys``: texts by section. Raises UsageError."""
    known = {section: _read_keys(section, texts) for section, texts in keys.items()}
    return CallbackReceiver(Callbacks(folder), known)


def _read_keys(section: str, texts: Sequence[str]) -> tuple[bytes, ...]:
    """The keys of one section. Raises UsageError for none: callbacks would go unsigned."""
    name = f"callback_key of [runners.{section}]"
    if not texts:
        raise UsageError(f"The {name} holds no key.", hint="Leave it out, or give a key.")
    try:
        return tuple(webhook_signature.read_key(text) for text in texts)
    except ValueError as error:
        raise UsageError(f"A {name} cannot be read: {error}.") from None


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a body; raises CallbackRefusal."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise CallbackRefusal(400, "The body is not JSON.") from None
    if not isinstance(found, dict):
        raise CallbackRefusal(400, "The body must be a JSON object.")
    return found
