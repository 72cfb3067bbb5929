"""The event sink of the storm: a web server that keeps the ids of the events, as they come."""

from __future__ import annotations

import http.server
import threading
from typing import Any


class Receiver(http.server.ThreadingHTTPServer):
    """Listens on a free port of this machine. ``got``: ids of events in the order of arrival."""

    daemon_threads = True

    def __init__(self) -> None:
        self.got: list[str] = []
        self.news = threading.Condition()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}/events"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed in the middle of its request is what this is about."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.news:
            self.server.got.append(self.headers["webhook-id"])
            self.server.news.notify_all()
        self.send_response(204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing to say."""
