"""``kill -9`` in suspend, resume, snapshot, restore, rollback, repair and first use.

The same endpoint and the same comparison as in ``storm``, with a type that can be looked at. Things
are changed and removed by hand, behind zonda's back, for repairs to mend.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from . import wishes
from .shapes import Flat
from .storm import STACK, Storm, StormError
from .wishes import WATCHED_THING, Wishes


class ActionStorm(Storm):
    """One stack, and kills in all that can be done to it."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.shape = Flat(WATCHED_THING)
        self.ledger.watches_doubles = True
        self._homes = 0

    def _round(self) -> None:
        if self.wishes is None:
            self._create()
            return
        rounds = (self._sleep, self._restore, self._roll_back, self._repair, self._first_use)
        chosen = self.source.randrange(len(rounds) + 1)
        if chosen == len(rounds):
            self._change(wishes.changed(self.source, self.wishes), fails=False)
        else:
            rounds[chosen]()

    def _act(self, words: Sequence[str], state: str, wanted: Wishes) -> None:
        """An action with kills in it, carried on to its end; the end is compared."""
        before = self._progress()
        self._command(["stack", *words])
        if self._progress() == before:  # killed before the plan was there
            self._expect(["stack", *words], 0)
        self._settle(state, wanted)

    def _progress(self) -> Any:
        return self._data(["stack", "history", STACK])

    def _sleep(self) -> None:
        assert self.wishes is not None
        self._act(["suspend", STACK], "SUSPEND_COMPLETE", self.wishes)
        if self.ledger.asleep != set(self.ledger.live):
            raise StormError(f"awake: {sorted(set(self.ledger.live) - self.ledger.asleep)}")
        self._act(["resume", STACK], "RESUME_COMPLETE", self.wishes)
        if self.ledger.asleep:
            raise StormError(f"asleep: {sorted(self.ledger.asleep)}")

    def _restore(self) -> None:
        assert self.wishes is not None
        kept, name = self.wishes, f"s{self.kills}"
        self._act(["snapshot", "create", STACK, "--name", name], "SNAPSHOT_COMPLETE", kept)
        self._change(wishes.changed(self.source, kept), fails=False)
        self._act(["snapshot", "restore", STACK, name], "RESTORE_COMPLETE", kept)

    def _roll_back(self) -> None:
        assert self.wishes is not None
        good = self.wishes
        file = self._file(wishes.failing(self.source, good))
        self._expect(["stack", "update", STACK, "-t", file, "--disable-rollback"], 1)
        self._act(["rollback", STACK], "ROLLBACK_COMPLETE", good)

    def _repair(self) -> None:
        assert self.wishes is not None
        with self.ledger.lock:
            there = sorted(self.ledger.live)
            for thing in self.source.sample(there, max(1, len(there) // 5)):
                self.ledger.change_by_hand(thing, gone=self.source.random() < 0.3)
        self._act(["drift", "repair", STACK], "UPDATE_COMPLETE", self.wishes)
        self._expect(["stack", "drift", "check", STACK], 0)

    def _first_use(self) -> None:
        """A command in an empty home, killed while it makes the home, then once more."""
        home, self.home = self.home, self.home / f"first-{self._homes}"
        self._homes += 1
        self._configure()
        words = ["stack", "create", "first", "-t", str(home / "first.json")]
        empty = {"heat_template_version": "2018-08-31", "resources": {}}
        (home / "first.json").write_text(json.dumps(empty))
        process = self._start(words)
        self._after_a_while(process, self.source.random() * 0.6)
        if process.poll() is None:
            process.kill()
            self.kills += 1
            self.killed["first use"] = self.killed.get("first use", 0) + 1
        process.wait()
        if not any(row["Stack Name"] == "first" for row in self._data_of_first_use()):
            self._expect(words, 0)
        self._run(["stack", "wait", "first"])
        self._expect(["stack", "delete", "--yes", "first"], 0)
        self.home = home
        self._note("FIRST_USE")

    def _data_of_first_use(self) -> list[dict[str, Any]]:
        code, said = self._run(["stack", "list", "-f", "json"])
        return json.loads(said) if code == 0 else []
