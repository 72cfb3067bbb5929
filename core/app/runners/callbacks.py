"""Callbacks of workflow runners, taken by the process that serves the API.

They are stored where the bundled service stores them, so that either may listen.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zonda.core.settings.sections import read_callback_keys
from zonda.core.settings.table import Settings
from zonda.hooks.context import Clock
from zonda.workflows.http_contract.callback_receiver import CallbackRefusal, make_receiver
from zonda.workflows.http_contract.callback_signature import HEADER

from .runner_service import get_service_location


class RunnerCallbacks:
    """The callbacks of one home. Many threads may call."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        """Raises UsageError for keys that cannot be read."""
        folder = Path(get_service_location(settings)["folder"])
        self._receiver = make_receiver(folder, read_callback_keys(settings))
        self._clock = clock

    def receive(
        self, code: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, Any]]:
        """Store a callback; gives status and answer. ``headers``: names in lower case."""
        signature = headers.get(HEADER.lower(), "")
        try:
            return 200, self._receiver.receive(code, signature, body, self._clock.now())
        except CallbackRefusal as refusal:
            return refusal.status, {"reason": refusal.reason}
