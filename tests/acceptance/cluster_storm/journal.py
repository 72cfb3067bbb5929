"""The runner of the storm: a ledger of runs that take seconds, and of the pauses of stacks."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from ..storm.ledger import Ledger, Run


@dataclass
class Work(Run):
    """A run that ends at ``ends_at`` (monotonic seconds)."""

    ends_at: float = 0.0


@dataclass
class Journal(Ledger):
    """Runs of up to ``longest`` seconds. Their input ``tree`` names the stack that they are of.

    A *pause* of a stack is a time in which the engine owes the next step: from the end of a run to
    the first request that hears of it, or from the last answer, or the request of a client that
    came after it, to the first request of a new run.
    """

    longest: float = 3.0
    #: (seconds, what was waited for) of all pauses
    pauses: list[tuple[float, str]] = field(default_factory=list)
    _since: dict[str, float] = field(default_factory=lambda: defaultdict(time.monotonic))

    def start(self, key: str, asked: dict[str, Any]) -> Run:
        """The run of ``key``, begun now if it is new."""
        if key not in self.runs:
            inputs = asked.get("inputs") or {}
            tree = str(inputs["tree"])
            self._note_pause(self._since[tree], f"{asked['action']} of {inputs} to begin")
        return super().start(key, asked)

    def note_sending(self, tree: str) -> None:
        """Note that a client asks for a change of a stack now."""
        with self.lock:
            self._since[tree] = time.monotonic()

    @property
    def under_way(self) -> int:
        """The number of runs whose end nobody has heard of."""
        return sum(run.answer is None for run in self.runs.values())

    def is_behind(self, seconds: float) -> bool:
        """Whether a run has ended longer ago than that, and nobody has heard of it."""
        limit = time.monotonic() - seconds
        return any(
            run.answer is None and isinstance(run, Work) and run.ends_at < limit
            for run in self.runs.values()
        )

    def _make_run(self, asked: dict[str, Any]) -> Run:
        run = super()._make_run(asked)
        longest = self.longest / 5 if run.action == "DELETE" else self.longest
        ends_at = time.monotonic() + self.source.uniform(longest / 5, longest)
        return Work(run.action, run.instance, run.thing, run.inputs, run.polls, ends_at=ends_at)

    def _delete(self, key: str, run: Run) -> None:
        """What was asked before is given up by then, and its thing may not be known to zonda."""
        for other in self.runs.values():
            if other is not run and other.instance == run.instance and other.answer is None:
                other.answer = {"state": "cancelled"}
        made = [thing for thing, owner in self.owners.items() if owner == run.instance]
        run.thing = run.thing or next(iter(made), None)
        super()._delete(key, run)

    def _is_over(self, run: Run) -> bool:
        return isinstance(run, Work) and time.monotonic() >= run.ends_at

    def _finish(self, run: Run) -> None:
        super()._finish(run)
        if run.answer is not None and isinstance(run, Work):
            self._note_pause(run.ends_at, f"{run.action} of {run.inputs} to be heard of")
            self._since[str(run.inputs["tree"])] = time.monotonic()

    def _note_pause(self, since: float, what: str) -> None:
        self.pauses.append((max(time.monotonic() - since, 0.0), what))
