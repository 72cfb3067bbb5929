"""The way to the engine of a server: actions are sent, their stacks are watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zonda.core.app.surface import PendingRequest, RunningAction
from zonda.core.engine import actions
from zonda.core.engine.actions import Accepted, Action, Caller
from zonda.core.store.read.views import StackView
from zonda.core.system.clock import SystemClock

from .connection import Connection
from .reader import RemoteReader
from .stacks import RemoteStacks

if TYPE_CHECKING:
    from zonda.core.store.read.drift_views import DriftCheckView

#: Seconds in front of the next look where the server had no time to wait.
_PAUSE = 0.2


class RemoteEngine:
    """The engine of a server (``EngineAccess``)."""

    #: Seconds that a look waits at most: what waits in plug-ins is told that often.
    look_again = 2.0

    def __init__(
        self,
        connection: Connection,
        stacks: RemoteStacks,
        reader: RemoteReader,
        clock: SystemClock,
        new_key: Callable[[], str],
    ) -> None:
        self._connection = connection
        self._stacks = stacks
        self._reader = reader
        self._clock = clock
        self._new_key = new_key

    def act(self, action: Action, *, drive: bool = True, supersedes: bool = True) -> RunningAction:
        """Send an action; the server carries it out whether or not anybody waits."""
        action = self._stacks.declare_types(action)
        text = actions.to_json(action, Caller(supersedes=supersedes))
        said = self._connection.act(text, self._new_key())
        accepted = Accepted(**said["accepted"])
        return RunningAction(
            self,
            accepted.stack_id,
            self._stacks.find(accepted.stack_id).name,
            accepted.generation,
            said["events_before"],
            action.touches_all,
            accepted.check_id,
        )

    def wait(self, name_or_id: str) -> RunningAction:
        """Watch what a stack is doing."""
        before = self._reader.last_event()
        stack = self._stacks.find_or_deleted(name_or_id)
        return RunningAction(self, stack.id, stack.name, events_before=before)

    def is_at_rest(self, stack: StackView) -> bool:
        """Whether nothing is planned or running in the stack, nor above or below it."""
        return stack.idle and not self._reader.is_tree_busy(stack.root_id)

    def look(self, stack_id: str, seconds: float, seen: int = 0) -> StackView:
        """Return the stack as soon as it is at rest or has an event after ``seen``."""
        before = self._clock.monotonic()
        found: StackView = self._connection.read(
            "engine.look", seconds, stack=stack_id, seconds=seconds, seen=seen
        )
        if not found.idle and self._clock.monotonic() - before < min(_PAUSE, seconds):
            self._clock.pause(_PAUSE)
        return found

    def wait_for_check(self, check_id: str, seconds: float) -> DriftCheckView:
        """Return a drift check as soon as it has ended, at the latest after ``seconds``."""
        before = self._clock.monotonic()
        found: DriftCheckView = self._connection.read(
            "engine.wait_for_check", seconds, check_id=check_id, seconds=seconds
        )
        if found.is_running and self._clock.monotonic() - before < seconds:
            self._clock.pause(seconds)
        return found

    def waiting(self, stack_id: str) -> list[PendingRequest]:
        """List the operations that wait."""
        found: list[PendingRequest] = self._connection.read("engine.waiting", stack=stack_id)
        return found

    def count_resources(self, stack_id: str) -> int:
        """Count the stack's resource instances, with those of nested stacks."""
        return self._reader.tree_size(self._stacks.find(stack_id).root_id)

    def find_holder(self, stack: StackView) -> str:
        """The server."""
        return self.other_engine

    @property
    def other_engine(self) -> str:
        """The server."""
        return f"the server at {self._connection.url}"

    def finish(self, say: Callable[[str], None]) -> None:
        """Nothing runs here that would have to be waited for."""
