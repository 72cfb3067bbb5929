"""The driver of the embedded engine: calls are made in a pool of threads.

Owned by the engine's thread, which alone calls its methods; only ``_submit``'s job runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from zonda.core.store.store import Store

from .driver import Driver, Task, exited
from .effects import Call
from .pool import Pool
from .room import Room

#: How many light calls share a turn in the pool.
LIGHT_TOGETHER = 32


class PoolDriver(Driver):
    """Makes calls in a pool; what comes of them goes into ``inbox``."""

    def __init__(
        self, store: Store, room: Room, inbox: SimpleQueue[Callable[[], None]], owner: str
    ) -> None:
        workers = room.settings.workers
        super().__init__(store, room, cap=2 * workers, owner=owner)
        self._inbox = inbox
        self._pool = Pool(workers, "zonda-call")
        #: The stacks that are driven; None: all.
        self.driven: set[str] | None = set()
        self.calls = 0
        self._light: list[tuple[Task, Call]] = []

    def drives(self, stack_id: str) -> bool:
        """Whether what a stack has planned is carried out here."""
        return self.driven is None or stack_id in self.driven

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
        """Hand the light calls that came together to the pool, some to a thread."""
        light, self._light = self._light, []
        for start in range(0, len(light), LIGHT_TOGETHER):
            self._submit(light[start : start + LIGHT_TOGETHER])

    def _submit(self, calls: list[tuple[Task, Call]]) -> None:
        def job() -> None:
            done = [(task, *_made(effect)) for task, effect in calls]
            self._inbox.put(lambda: self._called(done))

        self._pool.submit(job)

    def _called(self, done: list[tuple[Task, Any, BaseException | None]]) -> None:
        self.calls -= len(done)
        for task, value, error in done:
            self.advance(task, value, error)

    def close_door(self) -> None:
        """Admit nothing more; what waits stays as it is stored."""
        self._cap = 0
        self._timetable.clear()

    def stop(self) -> None:
        """End the pool's threads."""
        self._pool.stop()


def _made(effect: Call) -> tuple[Any, BaseException | None]:
    try:
        return effect.run(), None
    except Exception as failure:  # the border: the step is told
        return None, failure
    except BaseException as failure:  # what a plug-in raises must not end the engine's thread
        return None, exited(failure)
