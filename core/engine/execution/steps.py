"""One step of one instance, as a generator of effects. Always safe to run once too often.

A step looks at the row: an operation that nobody drives is taken over and driven to its end;
else what is missing between desired and actual side is begun. Drivers run it (``effects``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, copy_row
from zonda.hooks.errors import RequestError

from ..model.effects import IN_TURN, LAST, Call, GivenUp, Step, Tx, Wait, make_operation_call
from ..model.lending import Write
from ..model.outcomes import (
    HANGING,
    LOST,
    Answer,
    Failure,
    Final,
    Lost,
    Postponed,
    Prepared,
    Replace,
    Waiting,
)
from ..model.states import (
    COMPLETE,
    DIRTY,
    IDLE,
    MARKED,
    OPEN,
    POLLING,
    PRESENT,
    RETRY,
    STARTING,
    may_follow,
)
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..nested.operation_kinds import make_operation
from ..operations import cut_off, limits, replacement, retries, transitions
from ..operations.replacement import is_left_alone
from ..operations.transitions import Lease
from ..plugins.operation import PluginOperation
from ..progress import breakpoints, history, protection
from ..progress.progress import has_work
from ..services import EngineServices
from . import retry
from .draft import Draft, Intent, prepare
from .give_up import watch_given_up

#: The breakpoint before what a verdict says.
_HOOKS = {
    ("begin", "CREATE"): "pre-create",
    ("begin", "ADOPT"): "pre-create",
    ("begin", "UPDATE"): "pre-update",
    ("replace", ""): "pre-update",
}

#: The value of column ``requires`` for a resource that requires none.
NOTHING = "[]"
#: The write of a token does not fit the stored row any more.
STALE = object()


def step(services: EngineServices, key: str, *, alone: bool = False) -> Step:
    """Look at the instance ``key`` and do what is due; ``alone``: see ``cut_off``."""
    seen: WorkItem | None = yield Tx(lambda work: look(work, services, key, alone=alone))
    if seen is not None:
        yield from proceed(services, seen)


def proceed(services: EngineServices, seen: WorkItem) -> Step:
    """Do the work that a look has found."""
    if seen.row.op:
        yield from drive(services, Intent(seen))
        return
    draft: Draft = yield Call(lambda: prepare(services, seen), light=True)
    intent: Intent | None = yield Tx(lambda work: settle(work, services, draft))
    if intent is not None:
        yield from drive(services, intent)
    draft.release()


def look(
    work: UnitOfWork, services: EngineServices, key: str, *, alone: bool = False
) -> WorkItem | None:
    """Find what is to be done: None, an operation to drive, or an instance to prepare."""
    row = work.tx.resource(key)
    if row is None:
        return None
    if row.op:
        transitions.take_over(work, row)
        if cut_off.has_ended_engines(row):
            transitions.fail(work, transitions.get_lease(row), cut_off.build_failure(row))
            return None
        return _build_seen(work, row)
    stack = work.stack_of(row)
    if row.open != OPEN or row.waiting > 0 or stack.phase == IDLE or stack.halted:
        return None
    if breakpoints.is_waiting(row):
        return None
    if row.want != PRESENT:
        return _begin_deletion(work, services, row, alone)
    if row.verb:
        return _begin_verb(work, row)
    if not has_work(row):
        transitions.record_unchanged(work, row)
        return None
    row.dirty = DIRTY if row.dirty == MARKED else row.dirty
    return _unbegun(work, row, alone)


def _unbegun(work: UnitOfWork, row: ResourceRow, alone: bool) -> WorkItem | None:
    """Build the work before its operation begins; None if that has ended engine after engine."""
    if not alone:
        return _build_seen(work, row, to_prepare=True)
    row.take_overs += 1
    if not cut_off.has_ended_engines(row):
        return _build_seen(work, row, to_prepare=True)
    op, failure = cut_off.build_early_failure(row)
    row.take_overs = 0
    transitions.fail_unbegun(work, row, op, failure)
    return None


def _begin_verb(work: UnitOfWork, row: ResourceRow) -> WorkItem | None:
    if not may_follow(row.action, row.status, row.verb, suspended=bool(row.suspended)):
        state = (row.action, row.status)
        text = f"resources.{row.name}: State {state} invalid for {row.verb.lower()}"
        failure = Failure(f"Error: {text}", "InvalidState", during="prepare")
        transitions.refuse(work, row, row.verb, failure)
        return None
    transitions.begin(work, row, row.verb, None)
    return _build_seen(work, row, fresh=True)


def _begin_deletion(
    work: UnitOfWork, services: EngineServices, row: ResourceRow, alone: bool
) -> WorkItem | None:
    if is_left_alone(row) and not transitions.has_adopted_below(work, row):
        transitions.leave_alone(work, row)
        return None
    reason = protection.explain_no_deletion(work, row)
    if reason:
        failure = Failure(reason, protection.KIND, protection.CODE, "prepare")
        transitions.refuse(work, row, "DELETE", failure)
        return None
    if (row.action, row.status) == ("DELETE", COMPLETE):
        transitions.remove(work, row)
        return None
    if transitions.drop_missing(work, row):
        return None
    if breakpoints.stop_at(work, row, "pre-delete"):
        return None
    if services.definitions.is_inward(row) and not work.stack_of(row).policies:
        return _unbegun(work, row, alone)
    transitions.begin(work, row, "DELETE", None)
    return _build_seen(work, row, fresh=True)


def _build_seen(
    work: UnitOfWork, row: ResourceRow, *, fresh: bool = False, to_prepare: bool = False
) -> WorkItem:
    """Read what a call needs; ``to_prepare``: what its definition reads of others, too."""
    required = []
    if to_prepare and row.want == PRESENT and row.requires != NOTHING:
        required = work.tx.list_required(row)
    # what was never begun before has stored nothing yet
    data = work.tx.request_data(row.id) if row.fence > int(fresh) else []
    return WorkItem(copy_row(row), work.stack_of(row), data, required, fresh)


def settle(work: UnitOfWork, services: EngineServices, draft: Draft) -> Intent | None:
    """Carry out what was worked out, if it is still what there is; what is to be driven."""
    row = work.tx.resource(draft.seen.row.id)
    if row is None:
        return None
    if row.dirty == MARKED and row.open == OPEN and not row.op:
        work.look(row)  # what it reads has changed since it was looked at
        return None
    if not _is_unchanged(work, row, draft.seen.row):
        return None
    row.take_overs = 0
    if draft.prepared.op == "CREATE" and replacement.must_wait(work, row):
        return None
    if draft.intent is not None:
        return _begin_on_draft(work, row, draft, draft.intent)
    seen = decide(work, services, row, draft)
    return None if seen is None else Intent(seen)


def _begin_on_draft(
    work: UnitOfWork, row: ResourceRow, draft: Draft, intent: Intent
) -> Intent | None:
    handle = transitions.get_lease(intent.seen.row)
    transitions.begin(work, row, draft.prepared.op, draft.desired, op_id=handle.op_id)
    if not isinstance(intent.answer, Final):
        return intent
    for write in intent.writes:
        write(work)
    transitions.complete(work, handle, intent.answer)
    return None


def decide(
    work: UnitOfWork, services: EngineServices, row: ResourceRow, draft: Draft
) -> WorkItem | None:
    """Carry out the verdict on an instance."""
    prepared = draft.prepared
    hook = _HOOKS.get((prepared.verdict, prepared.op))
    if prepared.verdict == "unchanged" and row.have_template_id != row.want_template_id:
        hook = "pre-update"  # an update stops once at what it does not change
    if hook is not None and breakpoints.stop_at(work, row, hook):
        return None
    if prepared.verdict == "begin":
        transitions.begin(work, row, prepared.op, draft.desired)
        return _build_seen(work, row, fresh=True)
    if prepared.verdict == "unchanged":
        transitions.record_unchanged(work, row, prepared)
        _seal_all(services, row, prepared)
    elif prepared.verdict == "replace":
        return _replace(work, row, prepared)
    elif prepared.verdict == "refuse":
        transitions.refuse(work, row, prepared.op, prepared.failure)
    else:
        transitions.fail_unbegun(work, row, prepared.op, prepared.failure)
    return None


def _seal_all(services: EngineServices, row: ResourceRow, prepared: Prepared) -> None:
    """Seal what else is kept of an instance whose definition is a secret by now."""
    sealer = services.sealer
    if not sealer.is_sealed(prepared.definition):
        return
    for column in ("outputs", "meta"):
        text = getattr(row, column)
        if text is not None and not sealer.is_sealed(text):
            setattr(row, column, sealer.dump(sealer.load(text), sealed=True))


def _replace(work: UnitOfWork, row: ResourceRow, prepared: Prepared) -> WorkItem | None:
    """Replace an instance, unless it has been protected since that was decided.

    Gives its own operation where one comes first.
    """
    reason = protection.explain_no_replacement(work.stack_of(row), row)
    reason = reason or protection.explain_protected_below(work, row)
    if reason:
        failure = Failure(reason, protection.KIND, protection.CODE, "prepare")
        transitions.refuse(work, row, "UPDATE", failure)
        return None
    transitions.replace(work, row, prepared.cause, prepares=prepared.prepares)
    return _build_seen(work, row, fresh=True) if row.op else None


def _is_unchanged(work: UnitOfWork, row: ResourceRow, then: ResourceRow) -> bool:
    """Whether the desired side is what was prepared, and nothing was begun meanwhile.

    If a newer plan changed it, that plan (or the release that it waits for) looks again.
    """
    return bool(
        row.open == OPEN
        and not row.op
        and row.waiting == 0
        and row.want == then.want
        and not row.verb
        and not breakpoints.is_waiting(row)
        and row.fence == then.fence
        and row.generation == then.generation
        and not work.stack_of(row).halted
    )


def drive(services: EngineServices, intent: Intent) -> Step:
    """Drive an operation to its end."""
    writes = intent.writes
    operation = intent.operation or make_operation(services, intent.seen, writes)
    try:
        answer: Answer = yield from attempt(services, operation, intent)
        while retries.may_retry(operation.row, answer):
            answer = yield from _try_again(services, operation, answer, writes)
        if not isinstance(answer, Lost):
            handle = transitions.get_lease(operation.row)
            yield Tx(_with_writes(writes, handle, _build_end_unit(handle, answer)))
    except GivenUp:
        if not (yield Tx(lambda work: history.is_abandoned(work, operation.row.stack_id))):
            yield Call(operation.abort)
            yield from watch_given_up(services, operation)
    operation.release()


def _try_again(
    services: EngineServices, operation: PluginOperation, failure: Answer, writes: list[Write]
) -> Step:
    """The answer of the attempt after a failed one."""
    handle, chance = transitions.get_lease(operation.row), services.chance()
    carried = operation.seal_carried_data()

    def put_off(work: UnitOfWork) -> WorkItem | None:
        assert isinstance(failure, Failure)
        return retries.postpone(work, handle, failure, chance, carried)

    seen: WorkItem | None = yield Tx(_with_writes(writes, handle, put_off))
    if seen is None:
        return LOST
    operation.start_anew(seen)
    answer: Answer = yield from retry.begin_next_attempt(services, operation)
    return (
        yield from attempt(services, operation, Intent(operation.seen, operation, answer, writes))
    )


def attempt(services: EngineServices, operation: PluginOperation, intent: Intent) -> Step:
    """Call the handler (unless ``intent`` holds its answer), and poll; gives how that ended."""
    writes = intent.writes
    answer: Answer = yield from begin_driving(services, operation, intent)
    if not isinstance(answer, Waiting):
        return answer
    handle = transitions.get_lease(operation.row)
    polling = not operation.seen.fresh and operation.row.op_state == POLLING
    event = "polled" if polling else "started"
    call = operation.poll if polling else operation.handle
    kept: Answer = yield from keep(services, operation, answer, event, call, writes)
    if not isinstance(kept, Waiting):
        return kept
    return (yield from poll(services, operation, handle, kept, writes))


def keep(
    services: EngineServices,
    operation: PluginOperation,
    answer: Waiting,
    event: str,
    call: Callable[[], Answer],
    writes: list[Write],
) -> Step:
    """Store a token with all that goes with it; gives the answer that was stored, or another end.

    ``call`` is made once more where what goes with it does not fit any more.
    """
    handle = transitions.get_lease(operation.row)
    found: Answer = answer
    while isinstance(found, Waiting):
        try:
            kept = yield Tx(
                _with_writes(writes, handle, _build_store_unit(services, handle, found, event))
            )
        except RequestError as error:  # what goes with the token is refused
            return operation.answer_refused(error)
        if kept is not STALE:
            operation.note_stored(found)
            return found if kept else LOST
        found = yield make_operation_call(call, light=operation.is_light)
    return found


def begin_driving(services: EngineServices, operation: PluginOperation, intent: Intent) -> Step:
    """Call the handler, or take an interrupted operation up again; gives an answer."""
    resume = operation.guard(lambda: resume_operation(operation))
    fresh, writes, light = intent.seen.fresh, intent.writes, operation.is_light
    refused = _explain_hanging(services, operation)
    if intent.answer is not None:
        answer: Answer = intent.answer
    elif refused:
        return Failure(refused, HANGING)
    elif not fresh and retries.is_put_off(operation.row):
        answer = yield from retry.begin_next_attempt(services, operation)
    elif not fresh and operation.row.op_state == RETRY:
        answer = yield from call_again(operation, transitions.get_lease(operation.row))
    else:
        call = operation.handle if fresh else resume
        answer = yield make_operation_call(call, light=light, tell=operation.tell, order=LAST)
    handle = transitions.get_lease(operation.row)
    while isinstance(answer, Postponed):
        again = "" if answer.finding or answer.queued else "again"
        if not answer.queued or operation.row.take_overs:
            record = partial(transitions.record_call, handle=handle, event=again)
            if not (yield Tx(_with_writes(writes, handle, record))):
                return LOST
        yield Wait(answer.delay, handle.key)
        if answer.queued:
            answer = yield make_operation_call(operation.handle, order=IN_TURN)
        elif answer.finding:
            answer = yield make_operation_call(operation.find, light=light)
        else:
            answer = yield from call_again(operation, handle)
    return answer


def _explain_hanging(services: EngineServices, operation: PluginOperation) -> str:
    """The reason why an operation is not begun: too many calls hang. A removal may wait longer."""
    row, hanging = operation.row, services.hanging
    root_id = operation.seen.stack.root_id
    why = hanging.forbids_all() if row.op == "DELETE" else hanging.forbids(root_id)
    text = f"{row.op} was not begun: {why}. Restart the engine"
    return f"ResourceFailure: resources.{row.name}: {text}" if why else ""


def call_again(operation: PluginOperation, handle: Lease) -> Step:
    """Call the handler that has asked for another call; the call is recorded before."""
    if not (yield Tx(lambda work: transitions.record_call(work, handle, "retry"))):
        return LOST
    operation.next_attempt()
    return (yield make_operation_call(operation.handle, light=operation.is_light, order=LAST))


def resume_operation(operation: PluginOperation) -> Answer:
    """Go on with an operation that another engine has begun."""
    row = operation.row
    if row.op_state == STARTING:
        policy = operation.policy()
        if policy == "idempotent":
            return operation.handle()
        return operation.find() if policy == "find" else cut_off.build_interruption(row)
    if row.is_volatile:
        return cut_off.build_interruption(row)
    operation.restore()
    return operation.poll()


def poll(
    services: EngineServices,
    operation: PluginOperation,
    handle: Lease,
    answer: Waiting,
    writes: list[Write],
) -> Step:
    """Poll until the operation has ended, storing a token that changed; gives an answer."""
    known, first, polled_at = answer.stored, answer.delay is None, None
    limit = limits.compute_deadline(operation.row, operation.seen.stack)
    clock = services.clock
    until = None if limit is None else clock.monotonic() + limit - clock.now()
    begun = clock.monotonic() - max(0.0, clock.now() - operation.started_at)
    while True:
        if not first:
            delay = answer.delay
            delay = services.poll_delay(begun, polled_at) if delay is None else delay
            if until is not None:
                delay = min(delay, max(0.0, until - clock.monotonic()))
            yield Wait(delay, handle.key)
        first, polled_at = False, clock.monotonic()
        said: Answer = yield make_operation_call(operation.poll, light=operation.is_light)
        if not isinstance(said, Waiting):
            return said
        if until is not None and clock.monotonic() >= until:
            yield Call(operation.abort)
            yield from watch_given_up(services, operation)
            return limits.build_timeout(operation.row)
        answer = said
        if answer.stored != known or writes:
            kept: Answer = yield from keep(
                services, operation, answer, "polled", operation.poll, writes
            )
            if not isinstance(kept, Waiting):
                return kept
            answer, known = kept, kept.stored


def _with_writes(
    writes: list[Write], handle: Lease, run: Callable[[UnitOfWork], Any]
) -> Callable[[UnitOfWork], Any]:
    """``run`` after what the plug-in has gathered since: both are committed, or neither."""
    gathered = tuple(writes)
    writes.clear()

    def both(work: UnitOfWork) -> Any:
        if gathered and transitions.find_leased(work, handle) is not None:
            for write in gathered:
                write(work)
        return run(work)

    return both if gathered else run


def _build_store_unit(
    services: EngineServices, handle: Lease, answer: Waiting, event: str
) -> Callable[[UnitOfWork], Any]:
    token = None if answer.stored is None else services.sealer.seal_text(answer.stored)

    def store(work: UnitOfWork) -> Any:
        also = answer.also if transitions.find_leased(work, handle) is not None else None
        if also is not None and not also(work):
            return STALE
        return transitions.record_token(work, handle, event, token, answer.volatile)

    return store


def _build_end_unit(handle: Lease, answer: Answer) -> Callable[[UnitOfWork], Any]:
    if isinstance(answer, Final):
        return lambda work: transitions.complete(work, handle, answer)
    if isinstance(answer, Replace):
        return lambda work: transitions.replace_running(work, handle, answer)
    assert isinstance(answer, Failure)
    return lambda work: transitions.fail(work, handle, answer)
