"""The members of the storm: ``zonda serve``, each a process, and the way to those that are up."""

from __future__ import annotations

import os
import signal
import threading
from random import Random

from ..serve_storm.server import PATIENCE, Server


class Members:
    """Servers that clients reach in turns, as behind a load balancer that asks for their health."""

    def __init__(self, servers: list[Server], source: Random) -> None:
        self.servers = servers
        self._source = source
        self._is_over = False
        self._up: list[Server] = []
        self._news = threading.Condition()

    def start(self, server: Server) -> None:
        """Start one that does not run; comes back when it listens."""
        server.start()
        self.let_in(server)

    def end(self, server: Server, number: int) -> float:
        """Send a signal and wait for the end; the seconds that it took."""
        self.leave_out(server)
        return server.end(number)

    def stop(self, server: Server) -> None:
        """SIGSTOP."""
        self.leave_out(server)
        os.kill(server.pid, signal.SIGSTOP)

    def go_on(self, server: Server) -> None:
        """SIGCONT."""
        os.kill(server.pid, signal.SIGCONT)
        self.let_in(server)

    def let_in(self, server: Server) -> None:
        """Let clients reach it."""
        with self._news:
            self._up.append(server)
            self._news.notify_all()

    def leave_out(self, server: Server) -> None:
        """Send clients to others from now on."""
        with self._news:
            self._up.remove(server)

    def wait_for_url(self) -> str:
        """The URL of a member that is up, once one is; '' at the end of the storm."""
        with self._news:
            self._news.wait_for(lambda: self._up or self._is_over, PATIENCE)
            return "" if self._is_over else self._source.choice(self._up).url

    def finish(self) -> None:
        """Let all clients end."""
        with self._news:
            self._is_over = True
            self._news.notify_all()

    def kill(self) -> None:
        """End all, whatever happens."""
        for server in self.servers:
            server.kill()
