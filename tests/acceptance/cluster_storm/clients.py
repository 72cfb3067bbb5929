"""The clients of the storm: writers of stacks whose resources are work of the runner."""

from __future__ import annotations

import json
import threading
import urllib.request
from random import Random
from typing import Any

from ..serve_storm.server import PATIENCE, Servers
from ..serve_storm.writers import Wish, Writer
from ..storm.wishes import thing
from .journal import Journal

TREE, NUMBER = {"get_param": "OS::stack_name"}, {"get_param": "number"}


def _work(*of: str) -> dict[str, Any]:
    users = [{"get_resource": name} for name in of]
    return thing({"tree": TREE, "number": NUMBER, "of": users})


TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {"number": {"type": "number"}},
    "resources": {"first": _work(), "beside": _work(), "second": _work("first")},
}


class ClusterWriter(Writer):
    """One client, which waits while the runner has enough to do."""

    def __init__(
        self,
        servers: Servers,
        number: int,
        source: Random,
        news: threading.Condition,
        journal: Journal,
        most: int,
    ) -> None:
        super().__init__(servers, number, source, news, TEMPLATE)
        self._journal = journal
        self._most = most

    def wait_for_room(self) -> None:
        """Wait until the runner has less to do."""
        with self._journal.moved:
            self._journal.moved.wait_for(lambda: self._journal.under_way < self._most, 1.0)

    def note_sending(self, wish: Wish) -> None:
        """Tell the journal."""
        self._journal.note_sending(wish.name)


def ask(servers: Servers, path: str) -> Any:
    """The answer of a member that is up to a GET below the project."""
    url = f"{servers.wait_for_url()}/v1/default/{path}"
    with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
        return json.load(reply)
