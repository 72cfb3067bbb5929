"""Event sinks, which are told of everything that happens to stacks: the part for plug-ins.

A sink is made from its section ``[sinks.NAME]`` of the settings by a factory that a plug-in brings
(``zonda_event_sinks``). zonda keeps how far each sink is and calls ``deliver`` until it returns: an
event may come twice, after a crash or a failure in the middle, and none is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from .records import dataclass


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One change of state of a stack (``resource_name`` is '') or of a resource.

    ``id`` never changes, so that whoever is told twice can tell; ``seq`` grows. ``at``: seconds
    since the epoch. ``stack_name`` is that of the stack at the top, to which ``path`` leads down
    (``OWNER/RESOURCE``; '' for the stack itself); ``stack_id`` is the stack that has the resource.
    Nothing hidden stands in a ``reason``.
    """

    id: str
    seq: int
    at: float
    project: str
    stack_id: str
    stack_name: str
    path: str
    resource_name: str
    resource_type: str
    physical_id: str | None
    action: str
    status: str
    reason: str
    generation: int = 0

    @property
    def state(self) -> str:
        """``ACTION_STATUS``, e.g. ``CREATE_FAILED`` or ``DRIFT_MISSING``."""
        return f"{self.action}_{self.status}"


class SinkError(Exception):
    """Delivering failed. ``delivered``: how many events, from the first, have arrived all the same.

    ``delay``: seconds until the next try, where the receiver has said so. The text is shown to
    users: no URL with a secret in it.
    """

    def __init__(self, message: str, *, delivered: int = 0, delay: float | None = None) -> None:
        super().__init__(message)
        self.delivered = delivered
        self.delay = delay


class EventSink(ABC):
    """Base class of event sinks. Used by one thread at a time, never by that of the engine.

    ``timeout``: seconds after which the delivery of one event has come to an end at the latest; a
    short command does not end in the middle of it, if the last one has arrived. 0: it waits no
    longer than for all others.
    """

    timeout: float = 0.0
    #: The ``SettingsSchema`` of its sections; without one they are not checked ahead.
    settings_schema: ClassVar[Any] = None

    @abstractmethod
    def deliver(self, events: Sequence[EventRecord]) -> None:
        """Hand on ``events``, the oldest first; return when they have arrived.

        Whatever it raises (best a ``SinkError``) has them delivered again later, in this order,
        after a time that grows. It should come to an end by itself: nothing cuts it off.
        """

    def close(self) -> None:
        """Let go of connections; called when zonda stops."""
        return None


#: Makes a sink from its section of the settings, without what zonda itself reads there (``kind``,
#: ``events``, ``scope``) and with a ``clock`` and a ``random`` added. Raises ``UsageError``.
SinkFactory = Callable[[Mapping[str, Any]], EventSink]

__all__ = ["EventRecord", "EventSink", "SinkError", "SinkFactory"]
