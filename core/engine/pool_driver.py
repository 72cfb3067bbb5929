"""The driver of the embedded engine: calls are made in a pool of threads.

Owned by the engine's thread, which alone calls its methods; only ``_submit``'s job runs elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from zonda.core.store.store import Store

from .driver import Driver, Task
from .effects import Call
from .pool import Pool
from .room import Room

T = TypeVar("T")

#: How many light calls share a turn in the pool.
LIGHT_TOGETHER = 32
#: How many such turns there are at a time.
LIGHT_TURNS = 4
#: Seconds after which those that still wait for their turn are handed to another thread.
TURN = 0.05
#: Seconds after which a call that was to compute is taken for one that waits for something.
STUCK = 1.0

_Made = tuple[Task, Any, BaseException | None]


class Batch:
    """Calls that share a turn. A thread of the pool runs it, the engine's may take the rest away.

    What both touch are deques, whose ``append`` and ``popleft`` are atomic.
    """

    def __init__(self, calls: list[tuple[Task, Call]], monotonic: Callable[[], float]) -> None:
        self._todo = deque(calls)
        self._done: deque[_Made] = deque()
        self._monotonic = monotonic
        self._began: float | None = None
        self._call_began = 0.0

    def run(self) -> None:
        """Make every call that is left."""
        self._call_began = self._began = self._monotonic()
        while (call := _next(self._todo)) is not None:
            self._call_began = self._monotonic()
            self._done.append((call[0], *call[1].make()))

    @property
    def is_slow(self) -> bool:
        """Whether the turn takes longer than it may."""
        return self._began is not None and self._monotonic() - self._began > TURN

    @property
    def is_stuck(self) -> bool:
        """Whether it does not compute but waits, as it seems."""
        return self._began is not None and self._monotonic() - self._call_began > STUCK

    def take_done(self) -> list[_Made]:
        """What has come of the calls since this was last asked."""
        return list(iter(lambda: _next(self._done), None))

    def take_rest(self) -> list[tuple[Task, Call]]:
        """The calls that have not begun: they are no longer this batch's."""
        return list(iter(lambda: _next(self._todo), None))


def _next(queue: deque[T]) -> T | None:
    try:
        return queue.popleft()
    except IndexError:
        return None


class PoolDriver(Driver):
    """Makes calls in a pool; what comes of them goes into ``inbox``.

    ``leave`` is called by each thread of the pool before it ends.
    """

    def __init__(
        self,
        store: Store,
        room: Room,
        inbox: SimpleQueue[Callable[[], None]],
        owner: str,
        leave: Callable[[], None],
    ) -> None:
        workers = room.settings.workers
        super().__init__(store, room, cap=2 * workers, owner=owner)
        self._inbox = inbox
        self._pool = Pool(workers, "zonda-call", leave)
        self._turns = max(LIGHT_TURNS, workers - LIGHT_TURNS)
        #: The stacks that are driven; None: all.
        self.driven: set[str] | None = set()
        self.calls = 0
        self._light: list[tuple[Task, Call]] = []
        self._shared: list[Batch] = []

    def drives(self, stack_id: str) -> bool:
        """Whether what a stack has planned is carried out here."""
        return self.driven is None or stack_id in self.driven

    def widen(self, by: int) -> None:
        """See ``Driver.widen``."""
        self._pool.widen(by)

    @property
    def has_room(self) -> bool:
        """Whether another step may begin."""
        return self._admitted < self._cap

    def call(self, task: Task, effect: Call) -> None:
        """Have a call made in the pool, light ones with others."""
        self.calls += 1
        if effect.light:
            self._light.append((task, effect))
        else:
            self._submit([(task, effect)])

    def send_light_calls(self) -> None:
        """Hand the light calls that came together to the pool, some to a thread.

        They only compute: with more threads they would not end sooner, yet hold more memory.
        """
        while self._light and self._has_turn:
            taken, self._light = self._light[:LIGHT_TOGETHER], self._light[LIGHT_TOGETHER:]
            self._share(taken)

    @property
    def _has_turn(self) -> bool:
        """Whether another turn may begin; those that wait for something hold up nobody."""
        computing = sum(not batch.is_stuck for batch in self._shared)
        return computing < LIGHT_TURNS and len(self._shared) < self._turns

    @property
    def has_shared(self) -> bool:
        """Whether calls share a turn now, so that one may hold up the others."""
        return bool(self._shared)

    def hand_on(self) -> None:
        """Let no call that takes long hold up what was to run after it in the same turn."""
        for batch in [batch for batch in self._shared if batch.is_slow]:
            if not self._has_turn:
                return
            rest = batch.take_rest()
            self._called(batch)
            if rest:
                self._share(rest)

    def _share(self, calls: list[tuple[Task, Call]]) -> None:
        batch = Batch(calls, self.room.clock.monotonic)
        self._shared.append(batch)
        self._run(batch)

    def _submit(self, calls: list[tuple[Task, Call]]) -> None:
        self._run(Batch(calls, self.room.clock.monotonic))

    def _run(self, batch: Batch) -> None:
        def job() -> None:
            batch.run()
            self._inbox.put(lambda: self._ran(batch))

        self._pool.submit(job)

    def _ran(self, batch: Batch) -> None:
        if batch in self._shared:
            self._shared.remove(batch)
        self._called(batch)

    def _called(self, batch: Batch) -> None:
        done = batch.take_done()
        self.calls -= len(done)
        for task, value, error in done:
            self.advance(task, value, error)

    def close_door(self) -> None:
        """Admit nothing more; what waits stays as it is stored."""
        self.checks.close()
        self._cap = 0
        self._timetable.clear()

    def stop(self) -> None:
        """End the pool's threads."""
        self._pool.stop()
