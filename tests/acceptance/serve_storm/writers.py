"""Clients that change stacks, and keep what was acknowledged and what was not."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from .server import PATIENCE, Servers

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {"number": {"type": "number"}},
    "resources": {
        "first": {
            "type": "OS::Heat::TestResource",
            "properties": {
                "value": {"get_param": "number"},
                "action_wait_secs": {"create": 1, "update": 1},
            },
        },
        "second": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_attr": ["first", "output"]}},
        },
    },
}


@dataclass
class Wish:
    """A stack that a writer has asked for.

    ``id``: of a creation that was acknowledged. ``number``: of the last change that was
    acknowledged; ``highest``: of the last one that was sent. ``is_deleted``: that is acknowledged;
    ``may_be_deleted``: it was sent.
    """

    name: str
    id: str = ""
    number: int = 0
    highest: int = 0
    is_deleted: bool = False
    may_be_deleted: bool = False


class Writer:
    """One client."""

    def __init__(
        self,
        server: Servers,
        number: int,
        source: Random,
        news: threading.Condition,
        template: Mapping[str, Any] = TEMPLATE,
    ) -> None:
        self._server = server
        self._template = template
        self._number = number
        self._source = source
        self._news = news
        self.is_over = False
        self.wishes: list[Wish] = []
        self.acknowledged = 0
        #: Answers that should not be: a status with its body.
        self.surprises: list[str] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Write in a thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end of the thread."""
        self.is_over = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        while not self.is_over:
            self.wait_for_room()
            if not (url := self._server.wait_for_url()):
                return
            live = [wish for wish in self.wishes if wish.id and not wish.may_be_deleted]
            choice = self._source.random()
            if not live or choice < 0.5:
                self._create(url)
            elif choice < 0.8:
                self._update(url, self._source.choice(live))
            else:
                self._delete(url, self._source.choice(live))

    def wait_for_room(self) -> None:
        """Wait until one more write is wanted."""

    def note_sending(self, wish: Wish) -> None:
        """Note that a request about the stack of a wish is sent now."""

    def _create(self, url: str) -> None:
        wish = Wish(f"w{self._number}-{len(self.wishes)}")
        self.wishes.append(wish)
        body = {"stack_name": wish.name, "template": self._template, "parameters": {"number": 0}}
        status, made = self._send("POST", f"{url}/v1/default/stacks", wish, body)
        if status == 201:
            wish.id = made["stack"]["id"]
            self._count()

    def _update(self, url: str, wish: Wish) -> None:
        wish.highest += 1
        body = {"template": self._template, "parameters": {"number": wish.highest}}
        path = f"{url}/v1/default/stacks/{wish.name}/{wish.id}"
        if self._send("PUT", path, wish, body)[0] == 202:
            wish.number = wish.highest
            self._count()

    def _delete(self, url: str, wish: Wish) -> None:
        wish.may_be_deleted = True
        path = f"{url}/v1/default/stacks/{wish.name}/{wish.id}"
        if self._send("DELETE", path, wish)[0] == 204:
            wish.is_deleted = True
            self._count()

    def _count(self) -> None:
        with self._news:
            self.acknowledged += 1
            self._news.notify_all()

    def _send(self, method: str, url: str, wish: Wish, body: Any = None) -> tuple[int, Any]:
        """The status and the body of an answer; 0 where nobody knows what has happened."""
        self.note_sending(wish)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        request.method = method
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                text = reply.read()
                return reply.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            text = error.read()
            if error.code not in (409, 503):  # in progress; about to stop
                self.surprises.append(f"{method} {error.code} {text[:300]!r}")
            return error.code, None
        except (OSError, http.client.HTTPException, ValueError):
            return 0, None
