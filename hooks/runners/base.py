"""The base classes of runners, for code that only passes them on.

Apart from ``messages`` for the sake of start-up time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:  # nine dataclasses, which only a workflow that is run needs
    from .messages import PollAnswer, StartAnswer, StartRequest


class Cancelled(StrEnum):
    """The result of a request to cancel."""

    DONE = "done"
    ACCEPTED = "accepted"
    UNSUPPORTED = "unsupported"


class WorkflowRunner(ABC):
    """Base class of runners. One instance serves many threads; it holds configuration only."""

    #: The ``SettingsSchema`` of its sections; without one they are not checked ahead.
    settings_schema: ClassVar[Any] = None
    #: Its name where a caller waits for it; else the name of its section.
    label: str = ""

    def check(self, workflow: str) -> None:
        """Raise ``ResourceFailure`` if ``workflow`` certainly does not exist (at validation)."""
        return None

    @abstractmethod
    def start(self, request: StartRequest) -> StartAnswer:
        """Start an execution, or find the one that was started with this key."""

    @abstractmethod
    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Return the state of the execution."""

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask for the execution to be ended."""
        return Cancelled.UNSUPPORTED

    def forget(self, token: Mapping[str, Any]) -> None:
        """Optional tidying-up once the result is stored."""
        return None

    def close(self) -> None:
        """Let go of connections; called when the engine stops."""
        return None


#: Makes a runner from its section of the settings.
RunnerFactory = Callable[[Mapping[str, Any]], WorkflowRunner]
