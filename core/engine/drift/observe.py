"""The observation of one resource: its live state, compared with its stored definition.

In the pool. Gives ``Found`` or ``Later``, never what a plug-in raised. Nothing can be stored
through the instance that is asked: its context is read-only, and so is all that it can reach.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from zonda.core.store.schema.rows import DriftRow, ResourceRow
from zonda.core.store.schema.words import DRIFTED, IN_SYNC, MISSING, NOTE
from zonda.hooks import records
from zonda.hooks.errors import (
    NotFound,
    NotReady,
    ReadOnlyCheck,
    ResourceFailure,
    ZondaError,
    show_path,
)
from zonda.hooks.records import dataclass, field
from zonda.hooks.resources.live_state import Comparison, OpaqueState, compare_live_state
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners.base import WorkflowRunner
from zonda.hooks.schema.properties import Properties, is_same_value
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.redaction import secret_texts
from zonda.hooks.text.sanitize import get_retry_delay, require_json, safe_str, truncate_middle

from ..model import row_annotations
from ..model.lending import LentOperation
from ..model.states import FAILED, PRESENT
from ..model.work_item import Observation, WorkItem
from ..plugins.instances import Instances
from ..plugins.reasons import OPEN, Secrets, format_reason
from ..plugins.redaction import scrub
from ..services import EngineServices
from .differences import list_differences, redact_deep
from .exceptions import Exceptions
from .findings import Found, Later, make_unknown

#: The reason why a repair leaves alone what is out of sync as a whole.
_NO_WAY = "a repair leaves it alone: its type names no state that an update would lead away from"

log = logging.getLogger(__name__)


class NotYet(NotReady):
    """The rate limit of the runner delays this observation."""


class Pace:
    """The rate limit of every runner, over all checks. ``rate`` per second; 0: no limit.

    Asked in the pool, when a type asks its context for a runner: so nobody has to know beforehand
    which runner a resource will use. Who is too early is told to come again, and holds no thread.
    """

    def __init__(self, rate: float, monotonic: Callable[[], float]) -> None:
        self._rate = rate
        self._monotonic = monotonic
        self._next: dict[int, float] = {}
        self._lock = threading.Lock()

    def wait_turn(self, turns: set[int], runner: WorkflowRunner) -> None:
        """Raise NotYet while the rate limit delays the first use of ``runner``.

        ``turns``: the runners at which an observation has had, or has been given, its place.
        """
        if self._rate <= 0 or id(runner) in turns:
            return
        turns.add(id(runner))
        with self._lock:
            now = self._monotonic()
            at = max(self._next.get(id(runner), now), now)
            self._next[id(runner)] = at + 1.0 / self._rate
        if at > now:
            raise NotYet(at - now, "it is not its turn yet")


@dataclass(slots=True, eq=False)
class Job:
    """One resource that a check looks at; ``until`` by the monotonic clock, None until it began.

    ``kept``: what its type keeps between two calls; ``turns``: see ``Pace``.
    """

    key: str
    path: str
    op_id: str
    started_at: float = 0.0
    until: float | None = None
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    turns: set[int] = field(default_factory=set)
    #: The last time that was waited for.
    message: str = ""
    #: Whether its call has not come back in time; what it says is of no use any more.
    is_abandoned: bool = False


def explain_unobservable(row: ResourceRow | DriftRow) -> str:
    """The reason why an instance in this state cannot be checked, or ''."""
    if row.op:
        return f"{row.op} is running"
    if row.action == "INIT":
        return "it has not been created"
    if row.suspended:
        return "it is suspended"
    if row.action in ("CREATE", "ADOPT", "DELETE") and row.status == FAILED:
        return f"its {row.action} has failed"
    return "" if row.want == PRESENT else "it is to be deleted"


class Observer:
    """Observes the resources of one check. ``timeout``: seconds for one observation."""

    def __init__(
        self, services: EngineServices, exceptions: Exceptions, pace: Pace, timeout: float
    ) -> None:
        self._services = services
        self._exceptions = exceptions
        self._pace = pace
        self._timeout = timeout

    def look(self, job: Job) -> Found | Later:
        """Ask a resource for its live state and compare it."""
        found = self._observe(job)
        if isinstance(found, Later):
            return found
        found = self._exceptions.apply(job.path, found)
        found.wanted = {}
        return found

    def cancel(self, job: Job) -> None:
        """Have the type cancel an observation that was given up."""
        seen = WorkItem.read(self._services.reader(), job.key) if job.kept else None
        if seen is None:
            return
        try:
            seen = records.replace(seen, observation=self._build_observation(job))
            self._build_instances(job).make(seen).cancel_observation()
        except BaseException as error:  # the border: a plug-in may raise anything
            raise_interruption(error)
            log.warning(
                "A look at %s is given up and may go on: %s", job.path, type(error).__name__
            )

    def _build_observation(self, job: Job) -> Observation:
        until = job.started_at + self._timeout
        return Observation(LentOperation(job.op_id, "CHECK", job.started_at, until, 1), job.kept)

    def _observe(self, job: Job) -> Found | Later:
        seen = WorkItem.read(self._services.reader(), job.key)
        if seen is None or seen.row.want != PRESENT:
            return make_unknown("it is gone from the stack", -1)
        row = seen.row
        reason = explain_unobservable(row) or self._explain_failed_update(row)
        if reason:
            return make_unknown(reason, row.fence)
        try:
            cls = self._services.definitions.class_of(row)
        except ZondaError as error:
            return make_unknown(str(error), row.fence)
        known = self._find_stored_verdict(row, cls)
        if known is not None:
            return known
        seen = records.replace(seen, observation=self._build_observation(job))
        return _Look(self._build_instances(job), seen).run()

    def _explain_failed_update(self, row: ResourceRow) -> str:
        """The reason why the state after a failed update is unknown, or ''."""
        if (row.action, row.status) != ("UPDATE", FAILED) or row.have_hash:
            return ""
        read = self._services.instances.read
        was, wanted = read(row, row.definition), read(row, row.op_definition or row.definition)
        if was.properties == wanted.properties:
            return ""  # it was to be put right
        return "its last UPDATE has failed: what there is may be neither old nor new"

    def _find_stored_verdict(self, row: ResourceRow, cls: type[Resource]) -> Found | None:
        """The verdict of a resource whose type need not, or cannot, be asked."""
        if cls.get_live_state is not Resource.get_live_state and cls.has_side_effects:
            return None
        if cls.is_nested_stack:
            if self._services.reader().child_row(row.id) is None:
                return Found(MISSING, "it has no nested stack", row.fence)
            return Found(IN_SYNC, fence=row.fence)
        if not cls.has_side_effects:
            return Found(IN_SYNC, fence=row.fence)
        return make_unknown(f"the type {row.type} cannot be observed", row.fence)

    def _build_instances(self, job: Job) -> Instances:
        known = self._services.instances.lending
        wait_turn = partial(self._pace.wait_turn, job.turns)
        lending = records.replace(known, wait_turn=wait_turn, durable=_refuse_write)
        return Instances(lending, self._services.definitions)


class _Look:
    """The call of one type, and its result."""

    def __init__(self, instances: Instances, seen: WorkItem) -> None:
        self._instances = instances
        self._seen = seen
        self._row = seen.row

    def run(self) -> Found | Later:
        row = self._row
        try:
            definition = self._instances.read(row, row.definition)
            instance = self._instances.make(self._seen, definition=definition)
            return self._ask(instance)
        except BaseException as error:  # the border: a plug-in may raise anything
            raise_interruption(error)
            return make_unknown(format_reason(row.name, error, self._collect_secrets()), row.fence)

    def _ask(self, instance: Resource) -> Found | Later:
        try:
            return self._compare(instance, instance.get_live_state())
        except NotYet as error:
            return Later(error.delay, error.message, is_turn=True)
        except NotReady as error:
            return Later(get_retry_delay(error), self._redact(error))
        except NotFound as error:
            return Found(MISSING, self._redact(error), self._row.fence)

    def _compare(self, instance: Resource, told: Any) -> Found:
        row = self._row
        if told is None:
            return make_unknown(f"the type {row.type} cannot tell what it is", row.fence)
        if not isinstance(told, Mapping):
            raise ResourceFailure(f"get_live_state gave {type(told).__name__}, not a map")
        require_json("the live state", dict(told))
        # A resource with an external_id has no properties in the template, required or not.
        given = Properties({}, {}) if instance.t.external_id else instance.properties
        found = compare_live_state(given, told)
        require_json("the properties", dict(found.sent))
        if isinstance(told, OpaqueState):
            return self._build_opaque(told, found)
        if found.differing:
            return self._build_drifted(instance, found)
        if not found.is_blind:
            return self._build_in_sync(self._list_unobserved(found))
        nothing = make_unknown("it told nothing of what the template sets", row.fence)
        return records.replace(nothing, unseen=self._list_unobserved(found))

    def _build_drifted(self, instance: Resource, found: Comparison) -> Found:
        names, secrets = found.differing, self._collect_secrets()
        secrets.add_properties(found.sent)
        hidden = [name for name in names if secrets.marks.get(name, OPEN) != OPEN]
        texts = secret_texts([*secrets.values, *(found.live[name] for name in hidden)])
        schemas = instance.properties_schema
        return Found(
            DRIFTED,
            f"differs in {', '.join(names)}",
            self._row.fence,
            list_differences(names, found.sent, found.live, hidden, texts),
            {name: found.live[name] for name in names},
            unseen=self._list_unobserved(found),
            wanted={name: found.sent[name] for name in names},
            fixed=frozenset(name for name in names if not schemas[name].update_allowed),
        )

    def _list_unobserved(self, found: Comparison) -> list[str]:
        """The properties that were sent and not observed; keys inside a value may be secrets."""
        paths = found.unobserved
        if any(len(path) > 1 for path in paths):
            secrets = self._collect_secrets()
            secrets.add_properties(found.sent)
            texts = secret_texts(secrets.values)
            paths = tuple((path[0], *redact_deep(list(path[1:]), texts)) for path in paths)
        return [show_path(path) for path in paths]

    def _build_opaque(self, told: OpaqueState, found: Comparison) -> Found:
        """The result of a type that says only whether the resource is in sync as a whole."""
        blank = self._list_unobserved(found)
        if told.in_sync:
            return self._build_in_sync(blank)
        secrets = self._collect_secrets()
        secrets.add_properties(found.sent)
        reason = truncate_middle(scrub(safe_str(told.reason), secrets.values))
        other = {
            key: told[key] for key in told if not is_same_value(found.sent.get(key), told[key])
        }
        note = "" if other else f"{NOTE}{_NO_WAY}"
        return Found(DRIFTED, reason + note, self._row.fence, live=other, unseen=blank)

    def _build_in_sync(self, blank: list[str]) -> Found:
        owed = row_annotations.read_unfinished_repair(self._instances.lending.sealer, self._row)
        return Found(IN_SYNC, fence=self._row.fence, live=owed, unseen=blank)

    def _collect_secrets(self) -> Secrets:
        """The secrets of the resource: marks, values, and those of resources that it has read."""
        row, found = self._row, Secrets()
        known = self._instances.secrets(self._seen)
        if row.have_template_id is not None:
            definition = self._instances.definitions.get(row.have_template_id)
            if row.name in definition.resources:
                found = Secrets.of(definition, row.name)
                found.add_properties(self._instances.read(row, row.definition).properties)
        found.values += known.values
        return found

    def _redact(self, error: ZondaError) -> str:
        return scrub(error.message, self._collect_secrets().values)


def _refuse_write(run: Callable[[Any], Any]) -> Any:
    raise ReadOnlyCheck("to store anything")
