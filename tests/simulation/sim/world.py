"""The outside world of a simulation: what was made, whose it is, and what may not happen to it."""

from __future__ import annotations

import random
from collections.abc import Callable

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.text.borders import Interruption

#: How the physical ids begin of what exists in zonda alone.
INWARD = "in-"
#: Nobody's: it was there before, was retained, or belonged to an abandoned stack.
FREE = ""


class Violation(AssertionError):
    """An invariant does not hold."""


class Killed(Interruption):
    """The process of a handler has died in the midst of it."""


class World:
    """What exists outside: physical id -> the instance (row) whose it is, or ``FREE``.

    ``kinds``: of which type each is. ``external``: ids of what is managed elsewhere. ``saved``: the
    copies that snapshots hold, with what they say. ``excused``: things that may be left behind
    since nobody can know of them. ``removed``: what is not there any more -> whose it was, who has
    removed it. ``let_go``: the rows that have let go of something for a successor;
    ``got_back`` counts how often one got it back.
    """

    def __init__(self, source: random.Random, *, whole: bool = False) -> None:
        self.source = source
        self.whole = whole
        self.live: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.external = [f"x{number}" for number in range(3)] if whole else []
        self.saved: dict[str, str] = {}
        self.kept_for: set[str] = set()
        self.by_key: dict[str, str] = {}
        self.polls: dict[str, int] = {}
        self.trouble = 0.15
        self.made = 0
        self.excused: set[str] = set()
        self.removed: dict[str, str] = {}
        self.let_go: set[str] = set()
        self.got_back = 0
        self.violations: list[Violation] = []
        self.users: Callable[[str], list[str]] = lambda row: []
        self.policy: Callable[[str], str] = lambda row: "Delete"
        self.is_held: Callable[[str, str], bool] = lambda row, key: True

    def there_before(self, kind: str) -> str:
        """Something of a type that exists and is nobody's."""
        self.made += 1
        physical = f"p{self.made}"
        self.live[physical], self.kinds[physical] = FREE, kind
        return physical

    def free(self, kind: str) -> list[str]:
        """What of a type is nobody's."""
        free = [physical for physical, owner in self.live.items() if owner == FREE]
        return [physical for physical in free if self.kinds[physical] == kind]

    def create(self, key: str, row: str, kind: str, *, keyed: bool) -> str:
        """Make something; the same key gives the same thing again.

        What a process makes that was thought dead stays behind where no key tells of it.
        """
        if key in self.by_key:
            if not keyed:
                self.violated(f"{row} is started twice, which its policy forbids")
            return self.by_key[key]
        if row in [owner for physical, owner in self.live.items() if physical not in self.excused]:
            self.violated(f"{row} is made twice")
        self.made += 1
        physical = f"p{self.made}"
        self.live[physical], self.kinds[physical] = row, kind
        self.by_key[key] = physical
        return physical

    def unknown(self, physical: str) -> None:
        """It is made and not told of yet: the process may die, or lose its operation, before."""
        self.excused.add(physical)

    def known(self, physical: str) -> None:
        """It is told of, and by whom the operation belongs to."""
        self.excused.discard(physical)

    def violated(self, what: str) -> None:
        """Note it for the simulator: the engine catches all that a plug-in raises."""
        self.violations.append(Violation(what))

    def delete(self, physical: str | None, row: str, key: str) -> None:
        """Remove something that is the row's; once more does no harm."""
        if physical in self.external:
            self.violated(f"{row} deletes {physical}, which is managed elsewhere")
        if physical not in self.live:
            return
        if self.live[physical] != row:
            if self.is_held(row, key):
                self.violated(f"{row} deletes {physical}, which is {self.live[physical] or 'free'}")
            self.excused.add(physical)  # a process that was thought dead
        else:
            self.removed[physical] = row
        del self.live[physical]

    def maybe_fail(self) -> None:
        """Raise now and then: it has failed; or nobody knows whether it has."""
        if self.source.random() < self.trouble:
            if self.whole and self.source.random() < 0.3:
                raise ConnectionError("the line went dead")
            raise ResourceFailure("the world said no")

    def over(self, key: str) -> bool:
        """Whether an operation is over: after up to three polls."""
        left = self.polls.setdefault(key, self.source.randrange(4))
        self.polls[key] = left - 1
        return left <= 0
