"""The messages for systemd: that the service is ready, is alive, stops. Silent without systemd."""

from __future__ import annotations

import socket
from contextlib import suppress

from zonda.core.settings.settings import read_supervisor


class Supervisor:
    """The supervisor of this process, as far as there is one.

    ``watchdog``: seconds within which it must hear that the process is alive; 0: it does not care.
    """

    def __init__(self) -> None:
        address, self.watchdog = read_supervisor()
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._told_at = 0.0

    def tell(self, state: str) -> None:
        """Send ``READY=1``, ``STOPPING=1`` or ``WATCHDOG=1``."""
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as opened:
            opened.sendto(state.encode(), self._address)

    def tell_alive(self, now: float) -> None:
        """Say that the process is alive, twice in the time that the supervisor waits."""
        if self.watchdog and now - self._told_at >= self.watchdog / 2:
            self._told_at = now
            self.tell("WATCHDOG=1")
