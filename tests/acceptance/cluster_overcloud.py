"""``python -m tests.acceptance.cluster_overcloud --kills 5 --seed 1``: one JSON line.

The overcloud of TripleO is made twice: undisturbed by a server, and by one that is killed
(``kill -9``) at random and started again; with ``--members 2`` by servers that share a PostgreSQL,
of which each time any is killed. Both must have the same 21 outputs. ``ZONDA_CORPUS`` is the folder
of public templates.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from .cluster_storm.members import Members
from .cluster_storm.sites import Cluster, Embedded
from .conftest import Zonda
from .test_overcloud import LONG, SETTINGS, find_options, outputs, shown, without_ids

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


class Client(Zonda):
    """Commands for any server that is up, wherever it listens by now."""

    def __init__(self, home: Path, members: Members) -> None:
        super().__init__(home)
        self._members = members

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a command."""
        return {**super().environment, "ZONDA_URL": self._members.wait_for_url()}


def find_settings() -> dict[str, str]:
    """The settings of the overcloud as variables."""
    pairs = (word.split("=") for word in map(str, SETTINGS[1::2]))
    return {f"ZONDA_{name.upper()}": value for name, value in pairs}


class Overcloud:
    """The stack, its servers and its client. ``members``: with PostgreSQL; 0: one, with SQLite."""

    def __init__(
        self, folder: Path, options: list[str | Path], members: int, source: random.Random
    ) -> None:
        self._options, self._source = options, source
        site = Cluster(folder, "", members) if members else Embedded(folder, "")
        for server in site.servers:
            server.settings.update(find_settings())
        self._site, self._members = site, Members(site.servers, source)
        (folder / "client").mkdir()
        self.client = Client(folder / "client", self._members)

    def start(self) -> None:
        """Start all servers."""
        for server in self._members.servers:
            self._members.start(server)

    def make(self) -> None:
        """Ask for it."""
        words = ("stack", "create", "oc", *self._options, "--no-wait")
        self.client.run(*words, timeout=LONG)

    @property
    def state(self) -> str:
        """The state of the stack."""
        return str(shown(self.client, "stack", "show", "oc")["stack_status"])

    def wait(self) -> str:
        """The outputs, once all is there."""
        limit, pause = time.monotonic() + LONG, threading.Event()
        while (state := self.state) == "CREATE_IN_PROGRESS":
            assert time.monotonic() < limit, state
            pause.wait(0.5)
        assert state == "CREATE_COMPLETE", state
        found = outputs(self.client)
        assert len(found) == 21
        return without_ids(found)

    def kill(self, seconds: float) -> None:
        """Kill any server at random within so many seconds, and start it again."""
        threading.Event().wait(self._source.uniform(0.0, seconds))
        server = self._source.choice(self._members.servers)
        self._members.end(server, signal.SIGKILL)
        self._members.start(server)

    def close(self) -> None:
        """End all that runs."""
        self._members.kill()
        self._site.close()


def compare(
    options: list[str | Path], kills: int, seed: int, members: int, say: Any
) -> dict[str, Any]:
    """Make both; the report."""
    source, counted = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        with closing(Overcloud(Path(folder) / "a", options, 0, source)) as calm:
            calm.start()
            begun = time.monotonic()
            calm.make()
            wanted = calm.wait()
            seconds = time.monotonic() - begun
        say(f"made within {seconds:.0f} s")
        with closing(Overcloud(Path(folder) / "b", options, members, source)) as other:
            other.start()
            other.make()
            while counted < kills and other.state == "CREATE_IN_PROGRESS":
                other.kill(seconds / kills)
                counted += 1
                say(f"{counted}: killed")
            is_equal = other.wait() == wanted
    found = {"kills": counted, "members": members, "outputs": 21, "equal": is_equal}
    return {**found, "seed": seed}


def main() -> None:
    """Read the arguments and print the line; ends with 1 where outputs differ."""
    parser = argparse.ArgumentParser(description="the overcloud on a server that is killed")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--members", type=int, default=0, help="with PostgreSQL; 0: one, SQLite")
    arguments = parser.parse_args()
    corpus = Path(os.environ.get("ZONDA_CORPUS", CORPUS))
    options = find_options(corpus)
    if not options:
        sys.exit(f"the overcloud is not in the corpus of templates at {corpus} (set ZONDA_CORPUS)")
    known = (options, arguments.kills, arguments.seed, arguments.members)
    report = compare(*known, lambda text: print(text, file=sys.stderr, flush=True))
    print(json.dumps(report))
    sys.exit(not report["equal"])


if __name__ == "__main__":
    main()
