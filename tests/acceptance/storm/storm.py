"""Random ``kill -9`` of ``zonda`` over creates, updates, replacements, rollbacks and deletes.

Every command runs in a process of its own and is killed after a random number of requests or a
random time, again and again; then it is carried on to its end, and the endpoint's ledger is
compared with what the stack says: nothing lost, nothing made twice, the end as the template.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import wishes
from .ledger import Endpoint, Ledger
from .shapes import Flat, Nested
from .wishes import Wishes

#: Longer than any command takes when it is not killed.
LONGEST = 300.0
STACK = "storm"


class StormError(AssertionError):
    """Something was lost, made twice, or is not as wanted."""


class Storm:
    """One stack, one endpoint, and a number of kills."""

    def __init__(
        self,
        home: Path,
        *,
        kills: int,
        resources: int,
        seed: int,
        nested: bool = False,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.home = home
        self.said, self.told = home / "said.txt", home / "told.txt"
        self.wanted_kills = kills
        self.say = say
        self.shape: Flat | Nested = Nested() if nested else Flat()
        self.resources = resources
        self.source = random.Random(seed)
        self.ledger = Ledger(random.Random(seed + 1))
        self.ledger.used_may_go = nested
        self.endpoint = Endpoint(self.ledger)
        self.kills = 0
        #: action -> kills in it, or in what carried it on
        self.killed: dict[str, int] = {}
        self.ended: dict[str, int] = {}
        self.wishes: Wishes | None = None

    def run(self) -> dict[str, Any]:
        """Kill until it is enough; what happened, as a report. Raises StormError."""
        server = threading.Thread(target=self.endpoint.serve_forever, daemon=True)
        server.start()
        self._configure()
        try:
            while self.kills < self.wanted_kills:
                self._round()
            self._delete(calm=True)
        finally:
            self.endpoint.shutdown()
            server.join()
            self.endpoint.server_close()
        return {
            "kills": self.kills,
            "killed": self.killed,
            "resources": self.resources,
            "ended": self.ended,
            "runs": len(self.ledger.runs),
            "requests": self.ledger.requests,
            "sent_again": self.ledger.repeated,
        }

    def _configure(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "zonda.toml").write_text(
            'synchronous = "FULL"\ndefault_runner = "storm"\n'
            f'[runners.storm]\nkind = "http"\nendpoint = {json.dumps(self.endpoint.url)}\n'
        )

    # -- rounds ---------------------------------------------------------------------------------

    def _round(self) -> None:
        if self.wishes is None:
            self._create()
            return
        chance = self.source.random()
        if chance < 0.55:
            self._change(wishes.changed(self.source, self.wishes), fails=False)
        elif chance < 0.85:
            self._change(wishes.failing(self.source, self.wishes), fails=True)
        else:
            self._delete()

    def _create(self) -> None:
        made = wishes.first(self.source, self.resources)
        file = self._file(made)
        words = ["stack", "create", STACK, "-t", file]
        self._command(words)
        if self._stack() is None:  # killed before the plan was there
            self._expect(words, 0)
        self._settle("CREATE_COMPLETE", made)

    def _change(self, new: Wishes, *, fails: bool) -> None:
        assert self.wishes is not None
        before = self._stack()
        option = "--enable-rollback" if fails else "--disable-rollback"
        words = ["stack", "update", STACK, "-t", self._file(new), option]
        self._command(words)
        if self._stack() == before:
            self._expect(words, 1 if fails else 0)
        if fails:
            self._settle("ROLLBACK_COMPLETE", self.wishes)
        else:
            self._settle("UPDATE_COMPLETE", new)

    def _delete(self, calm: bool = False) -> None:
        if self.wishes is None:
            return
        words = ["stack", "delete", "--yes", STACK]
        replaced, self.ledger.used_may_go = self.ledger.used_may_go, False
        if not calm:
            self._command(words)
        if self._stack() is not None:
            self._expect(words, 0)
        if self._stack() is not None or self.ledger.live:
            raise StormError(f"the deletion leaves {self._stack()}, {sorted(self.ledger.live)}")
        self.ledger.used_may_go = replaced
        self._note("DELETE_COMPLETE")
        self.wishes = None

    def _note(self, state: str) -> None:
        self.ended[state] = self.ended.get(state, 0) + 1
        self.say(f"{state} after {self.kills} kills")

    # -- what is compared -----------------------------------------------------------------------

    def _settle(self, state: str, wanted: Wishes) -> None:
        """Carry on what is left, then look."""
        stack = self._stack()
        if stack is not None and stack["stack_status"].endswith("_IN_PROGRESS"):
            self._run(["stack", "wait", STACK])
            stack = self._stack()
        if stack is None or stack["stack_status"] != state:
            raise StormError(f"{state} was expected, not {stack}")
        self._compare(wanted)
        self._note(state)
        self.wishes = wanted

    def _compare(self, wanted: Wishes) -> None:
        ledger = self.ledger
        if ledger.faults:
            raise StormError("; ".join(ledger.faults))
        history = self._data(["stack", "history", STACK])
        if any(each["ended"] is None for each in history):
            raise StormError(f"the history has an action that has not ended: {history}")
        rows = self._data(["stack", "resource", "list", STACK, "--nested-depth", "5"])
        rows = [row for row in rows if row["resource_type"] == self.shape.kind]
        ids = {row["path"]: row["physical_resource_id"] for row in rows}
        due = self.shape.due(wanted)
        if set(ids) != set(due) or len(rows) != len(ids):
            raise StormError(f"resources {sorted(ids)}, wanted {sorted(due)}")
        if set(ids.values()) != set(ledger.live):
            lost, extra = set(ids.values()) - set(ledger.live), set(ledger.live) - set(ids.values())
            raise StormError(f"lost {sorted(lost)}, left behind {sorted(extra)}")
        for path, given in due.items():
            has = ledger.live[ids[path]]
            if has != given(ids):
                raise StormError(f"{path} has {has}, wanted {given(ids)}")

    def _stack(self) -> dict[str, Any] | None:
        for row in self._data(["stack", "list"]):
            if row["Stack Name"] == STACK:
                return dict(self._data(["stack", "show", STACK]))
        return None

    # -- processes ------------------------------------------------------------------------------

    def _file(self, wanted: Wishes) -> str:
        files = self.shape.files(wanted)
        folder = self.home.with_name("templates")  # templates read no files of the home
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        return str(folder / next(iter(files)))

    def _command(self, words: Sequence[str]) -> None:
        """Begin a command and kill it, then whatever carries it on, as often as chance wants."""
        action = " ".join(words[1:3] if words[1] in ("snapshot", "drift") else words[1:2])
        while self.kills < self.wanted_kills:
            if not self._killed(words):
                return
            self.killed[action] = self.killed.get(action, 0) + 1
            if self.source.random() < 0.2:
                return
            words = ["stack", "wait", STACK]

    def _killed(self, words: Sequence[str]) -> bool:
        """Start a command and kill it; False if it ended before."""
        process = self._start(words)
        if self.source.random() < 0.25:
            self._after_a_while(process, self.source.random())
        else:
            self._after_requests(process, self.source.randrange(self.resources))
        if process.poll() is None:
            process.kill()
            self.kills += 1
        process.wait()
        self._said()
        return process.returncode < 0

    def _after_a_while(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return

    def _after_requests(self, process: subprocess.Popen[bytes], count: int) -> None:
        """Wait until the endpoint has had so many more requests, or the process has ended."""
        until = self.ledger.requests + count
        with self.ledger.moved:
            while self.ledger.requests < until and process.poll() is None:
                self.ledger.moved.wait(0.05)

    def _start(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        # nobody would read a pipe meanwhile
        with self.said.open("wb") as results, self.told.open("wb") as speech:
            return subprocess.Popen(
                [sys.executable, "-m", "zonda", *words],
                stdin=subprocess.DEVNULL,
                stdout=results,
                stderr=speech,
                env={**kept, "HOME": str(self.home), "ZONDA_HOME": str(self.home)},
                cwd=self.home,
            )

    def _said(self) -> str:
        said, told = self.said.read_text(), self.told.read_text()
        if "Traceback" in told:
            raise StormError(told)
        return said

    def _run(self, words: Sequence[str]) -> tuple[int, str]:
        process = self._start(words)
        try:
            process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise StormError(f"{' '.join(words)} hangs: {self.told.read_text()}") from None
        return process.returncode, self._said()

    def _expect(self, words: Sequence[str], code: int) -> None:
        got, said = self._run(words)
        if got != code:
            told = self.told.read_text()
            raise StormError(f"{' '.join(words)} ends with {got}: {said[-2000:]} {told[-2000:]}")

    def _data(self, words: Sequence[str]) -> Any:
        code, said = self._run([*words, "-f", "json"])
        if code:
            raise StormError(f"{' '.join(words)}: {self.told.read_text()}")
        return json.loads(said)
