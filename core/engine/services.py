"""The services that all steps of one engine share. Made by a driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from zonda.core.store.read.reader import Reader
from zonda.core.store.values.sealing import Sealer
from zonda.hooks import records
from zonda.hooks.context import Clock
from zonda.hooks.records import dataclass, field

from .actions import Allowance, Caller
from .model.tracing import PlanRequest
from .model.tree_size import TreeSizes
from .plugins.hanging import Hanging
from .plugins.instances import Instances
from .templates.definitions import Definitions

#: Seconds between two looks at a nested stack whose end nobody has told.
BACKSTOP = 30.0


class Timing(Protocol):
    """Schedules as text: cron expressions and intervals."""

    def compute_next_due(self, text: str, stack_id: str, now: float) -> float:
        """``drift.schedule.compute_next_due``; raises UsageError for other texts."""


#: Makes a check of templates, which raises; see ``Allowance``.
FindCheck = Callable[[Mapping[str, Any]], Callable[[Any], None] | None]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of an engine. Times in seconds.

    ``workers``: threads for plug-in calls. ``poll_first`` and ``poll_last`` bound the time between
    two polls, which is a tenth of the operation's age, less up to ``poll_spread``, from begin to
    begin: so an end is seen a tenth of the operation's length late at most.
    ``user``, ``project``, ``supersedes``, ``request``, ``traceparent``, ``allowance``, ``attempt``
    and ``wants_warnings``: the ``Caller``, if nobody else asks. ``find_check`` makes the
    ``check_definition`` of a caller in another process from ``Allowance.asked_by``; None where this
    process cannot.
    ``cancel_grace``: how long
    a cancelled or rolled back stack waits for what still runs (a deletion only for calls that are
    out). ``backstop``: after which
    time an owner looks
    at its nested stack although nobody has told it to. ``drift_workers``: how many resources are
    looked at for drift at a time; ``drift_rate``: how many observations may begin per second at a
    workflow runner, 0 for any number; ``drift_timeout``: how long one may take. ``timing``: what
    schedules mean; without it none ever fires.
    """

    workers: int = 64
    project: str = "default"
    user: str = ""
    supersedes: bool = True
    request: str = ""
    traceparent: str = ""
    allowance: Allowance | None = None
    attempt: str = ""
    wants_warnings: bool = False
    find_check: FindCheck = lambda asked_by: None
    poll_first: float = 0.5
    poll_last: float = 15.0
    poll_spread: float = 0.2
    cancel_grace: float = 240.0
    keep_events: float = 90 * 86400.0
    max_batch: int = 256
    backstop: float = BACKSTOP
    drift_workers: int = 8
    drift_rate: float = 10.0
    drift_timeout: float = 300.0
    timing: Timing | None = None


@dataclass(frozen=True, slots=True)
class EngineServices:
    """Definitions, instances, the clock, ids, chance, the sealer, settings, the pool's reader.

    ``sizes``: how many resources there are, by trees. ``hanging``: calls that do not come back.
    ``drives``: whether what is planned for a stack and all below it is being carried out here.
    """

    definitions: Definitions
    instances: Instances
    clock: Clock
    ids: Callable[[], str]
    chance: Callable[[], float]
    sealer: Sealer
    settings: EngineSettings
    reader: Callable[[], Reader]
    sizes: TreeSizes = field(default_factory=TreeSizes)
    hanging: Hanging = field(default_factory=Hanging)
    drives: Callable[[str], bool] = lambda root_id: False

    @property
    def request(self) -> PlanRequest:
        """The request of the caller."""
        return PlanRequest(self.settings.request, self.settings.traceparent)

    def for_caller(self, caller: Caller) -> EngineServices:
        """The same services, for an action of ``caller``."""
        given = {item.name: getattr(caller, item.name) for item in records.fields(caller)}
        settings = records.replace(self.settings, **given)
        return records.replace(self, settings=settings)

    def poll_delay(self, begun: float, polled_at: float | None = None) -> float:
        """Seconds until the next poll: a function of the operation's age, so nothing is stored.

        Counted from ``polled_at``, the begin of the last poll. Times of the monotonic clock, since
        the other can be set back while an operation is polled.
        """
        known, now = self.settings, self.clock.monotonic()
        delay = min(max((now - begun) / 10, known.poll_first), known.poll_last)
        delay *= 1 - known.poll_spread * self.chance()
        spent = 0.0 if polled_at is None else now - polled_at
        return max(delay - spent, delay / 2)
