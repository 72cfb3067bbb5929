"""Clients of live events, which come back with the last event that they have seen."""

from __future__ import annotations

import http.client
import threading
import urllib.error
import urllib.request

from .server import PATIENCE, Servers


class Listener:
    """One client. ``seen``: the numbers of all its events, in the order in which they came."""

    def __init__(self, server: Servers, news: threading.Condition) -> None:
        self._server = server
        self._news = news
        self.seen: list[int] = []
        self.connections = 0
        self.gaps = 0
        #: The answers of a server that should have streamed.
        self.refusals: list[int] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Listen in a thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end of the thread."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    @property
    def last(self) -> int:
        """The last event."""
        return self.seen[-1] if self.seen else 0

    def _run(self) -> None:
        while url := self._server.wait_for_url():
            try:
                self._listen(url)
            except urllib.error.HTTPError as error:
                if error.code != 503:  # it is about to stop
                    self.refusals.append(error.code)
            except (OSError, http.client.HTTPException):
                pass  # it has gone

    def _listen(self, url: str) -> None:
        request = urllib.request.Request(
            f"{url}/zonda/v1/default/events", headers={"Last-Event-ID": str(self.last)}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            self.connections += 1
            number = kind = ""
            for line in reply:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "id":
                    number = value
                elif name == "event":
                    kind = value
                elif name == "data":
                    self._note(kind, number)
                elif not name:
                    number = kind = ""

    def _note(self, kind: str, number: str) -> None:
        with self._news:
            if kind == "state":
                self.seen.append(int(number))
            elif kind == "gap":
                self.gaps += 1
            self._news.notify_all()
