"""A TCP proxy in front of a Unix socket, which can fall silent as a cut cable does."""

from __future__ import annotations

import contextlib
import socket
import threading


class Proxy:
    """Forwards each connection to ``target``. While it is silent nothing arrives on either side.

    What was sent meanwhile arrives when it speaks again, as with a network that heals.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._speaks = threading.Event()
        self._speaks.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """The port of this machine that it listens on."""
        return int(self._listening.getsockname()[1])

    def fall_silent(self) -> None:
        """Forward nothing, in both directions, not even ends of connections."""
        self._speaks.clear()

    def speak(self) -> None:
        """Forward again, what has waited first."""
        self._speaks.set()

    def close(self) -> None:
        """Close every connection."""
        self._speaks.set()
        with self._lock:
            ends = [self._listening, *self._open]
        for each in ends:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        self._speaks.wait()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self._target)
        except OSError:
            client.close()
            server.close()
            return
        with self._lock:
            self._open |= {client, server}
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._speaks.wait()
                sink.sendall(data)
        self._speaks.wait()
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        with self._lock:
            self._open -= {source, sink}
