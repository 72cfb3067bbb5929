"""The listeners to committed events and to progress. Owned by a driver."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from zonda.core.store.read.views import EventView
from zonda.core.store.schema.rows import event_values
from zonda.hooks.text.borders import raise_interruption

from ..model.unit_of_work import Notice, UnitOfWork

log = logging.getLogger(__name__)

Listener = Callable[[Sequence[Notice]], None]
#: Called with the number of units of a commit, and the seconds that it took.
CommitListener = Callable[[int, float], None]


class Listeners:
    """Calls every listener, in the thread of the caller: once for each commit."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        #: Called in the engine's thread after each commit.
        self.commit_listeners: list[CommitListener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` from now on; returns the function that ends that."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def announce(self, work: UnitOfWork) -> None:
        """Tell of all events of a unit that is committed, and of what waits since then."""
        if not self._listeners:
            return
        notices = [
            Notice(event.stack_id, EventView(seq, *event_values(event)))
            for seq, event in zip(work.tx.event_seqs, work.after.events, strict=True)
        ]
        if notices or work.after.say:
            self.publish([*notices, *work.after.say])

    def publish(self, notices: Sequence[Notice]) -> None:
        """Hand notices to every listener."""
        for listener in list(self._listeners):
            try:
                listener(notices)
            except BaseException as error:  # a listener's trouble is not the engine's
                raise_interruption(error)
                log.exception("A listener broke")

    def tell_commit(self, units: int, seconds: float) -> None:
        """Tell what a commit has cost."""
        for listener in self.commit_listeners:
            listener(units, seconds)

    def progress(self, stack_id: str, resource: str, message: str, since: float | None) -> None:
        """Publish what an operation waits for."""
        self.publish([Notice(stack_id, None, resource, message, since)])
