"""``python -m tests.acceptance.cluster_overcloud --kills 5 --seed 1``: one JSON line.

The overcloud of TripleO is made twice by a server: undisturbed, and while the server is killed
(``kill -9``) at random and started again. Both must have the same 21 outputs. ``ZONDA_CORPUS`` is
the folder of public templates.
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
from pathlib import Path
from typing import Any

from .conftest import Zonda
from .serve_storm.server import Server
from .test_overcloud import LONG, SETTINGS, find_options, outputs, shown, without_ids

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


class Client(Zonda):
    """Commands for a server, wherever it listens by now."""

    def __init__(self, home: Path, server: Server) -> None:
        super().__init__(home)
        self._server = server

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a command."""
        return {**super().environment, "ZONDA_URL": self._server.wait_for_url()}


def find_settings() -> dict[str, str]:
    """The settings of the overcloud as variables."""
    pairs = (word.split("=") for word in map(str, SETTINGS[1::2]))
    return {f"ZONDA_{name.upper()}": value for name, value in pairs}


class Overcloud:
    """The stack, its server and its client."""

    def __init__(self, folder: Path, options: list[str | Path]) -> None:
        self._options = options
        (folder / "client").mkdir(parents=True)
        self.server = Server(folder / "server", find_settings())
        self.client = Client(folder / "client", self.server)

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

    def kill(self, source: random.Random, seconds: float) -> None:
        """Kill the server at random within so many seconds, and start it again."""
        threading.Event().wait(source.uniform(0.0, seconds))
        self.server.end(signal.SIGKILL)
        self.server.start()


def compare(options: list[str | Path], kills: int, seed: int, say: Any) -> dict[str, Any]:
    """Make both; the report."""
    source, counted = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        calm, other = Overcloud(Path(folder) / "a", options), Overcloud(Path(folder) / "b", options)
        try:
            calm.server.start()
            begun = time.monotonic()
            calm.make()
            wanted = calm.wait()
            seconds = time.monotonic() - begun
            calm.server.end(signal.SIGTERM)
            say(f"made within {seconds:.0f} s")
            other.server.start()
            other.make()
            while counted < kills and other.state == "CREATE_IN_PROGRESS":
                other.kill(source, seconds / kills)
                counted += 1
                say(f"{counted}: killed")
            is_equal = other.wait() == wanted
        finally:
            calm.server.kill()
            other.server.kill()
    return {"kills": counted, "outputs": 21, "equal": is_equal, "seed": seed}


def main() -> None:
    """Read the arguments and print the line; ends with 1 where outputs differ."""
    parser = argparse.ArgumentParser(description="the overcloud on a server that is killed")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    corpus = Path(os.environ.get("ZONDA_CORPUS", CORPUS))
    options = find_options(corpus)
    if not options:
        sys.exit(f"the overcloud is not in the corpus of templates at {corpus} (set ZONDA_CORPUS)")
    report = compare(
        options, arguments.kills, arguments.seed, lambda text: print(text, file=sys.stderr)
    )
    print(json.dumps(report))
    sys.exit(not report["equal"])


if __name__ == "__main__":
    main()
