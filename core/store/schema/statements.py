"""Every statement of the project, in SQLAlchemy Core. ``compile.py`` turns them into text.

The order of the parameters is the order in which they stand in the text; ``prepared.py`` shows
it beside each statement.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    union,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.base import Executable

from .clauses import IsOneOf, Most, build_insert, build_put, build_update
from .cluster_statements import ROOT, TREE
from .drift_tables import DRIFT_CHECK, DRIFT_FINDING, DRIFT_IGNORE, DRIFT_STATE
from .rows import (
    PREFIX,
    DriftRow,
    EventRow,
    PlanRow,
    list_columns,
)
from .software_tables import SOFTWARE_CONFIG, SOFTWARE_DEPLOYMENT
from .tables import (
    ACTION,
    DATA,
    EDGE,
    EVENT,
    EVENT_PROPERTIES,
    FAILED,
    META,
    REQUEST,
    RESOURCE,
    SINK,
    SNAPSHOT,
    STACK,
    TEMPLATE,
)
from .words import KEYED

P: Any = bindparam
R, S, E, A = RESOURCE.c, STACK.c, EDGE.c, ACTION.c
SC, SD = SOFTWARE_CONFIG.c, SOFTWARE_DEPLOYMENT.c
C, F, D, X = DRIFT_CHECK.c, DRIFT_FINDING.c, DRIFT_STATE.c, DRIFT_IGNORE.c

L: Any = literal_column
IDLE, ABSENT, RUNNING = L("'IDLE'"), L("'ABSENT'"), L("'RUNNING'")
NOTHING, ZERO, ONE = L("''"), L("0"), L("1")
_RUNNING = R.op != NOTHING
#: Actions that are plans of no template, and not of its absence.
_VERBS = ("SUSPEND", "RESUME", "CHECK", "SNAPSHOT", "DELETE_SNAPSHOT")
_OWN = (S.project == P("project"), S.deleted_at.is_(None))
#: Stacks that are there, or were a short time ago.
_REMEMBERED = or_(S.deleted_at.is_(None), S.deleted_at >= P("gone"))
_BUILT_ON = TEMPLATE.alias("built_on").c.base_id
_USED_TEMPLATES = union(
    *(
        select(used).where(used.is_not(None), _REMEMBERED)
        for used in (S.template_id, S.good_template_id)
    ),
    *(
        select(used).where(used.is_not(None))
        for used in (
            R.want_template_id,
            R.have_template_id,
            R.op_template_id,
            A.template_id,
            SNAPSHOT.c.template_id,
            _BUILT_ON,
        )
    ),
)
_THERE = STACK.alias("there").c
_CHILDREN = STACK.alias("child")
_ROOT = STACK.alias("root")
_CHILD = _CHILDREN.c
_LIVE = select(_THERE.id).where(_THERE.deleted_at.is_(None))
_KEPT = EVENT.alias("kept").c
_READY = (R.open == ONE) & (R.waiting == ZERO)


STATEMENTS: dict[str, Executable] = {
    # -- stacks
    "insert_stack": build_insert(STACK),
    "update_stack": build_update(STACK).where(S.id == P("id")),
    "stack_by_id": select(STACK).where(S.id == P("id")),
    "stack_by_name": select(STACK).where(
        S.project == P("project"), S.name == P("name"), S.deleted_at.is_(None)
    ),
    "stack_deleted_by_name": select(STACK)
    .where(S.project == P("project"), S.name == P("name"), S.deleted_at.is_not(None))
    .order_by(S.deleted_at.desc(), S.id.desc()),
    # what completion in a shell asks for
    "stack_names": select(S.name).where(*_OWN, S.owner_resource_id.is_(None)).order_by(S.name),
    "stack_id_named": select(S.id).where(
        S.project == P("project"), S.name == P("name"), S.deleted_at.is_(None)
    ),
    "resource_names": select(R.name, _CHILD.id)
    .select_from(
        RESOURCE.outerjoin(
            _CHILDREN, (_CHILD.owner_resource_id == R.id) & _CHILD.deleted_at.is_(None)
        )
    )
    .where(R.stack_id == P("stack_id"), R.want != ABSENT)
    .order_by(R.name),
    "child_of": select(STACK).where(S.owner_resource_id == P("owner"), S.deleted_at.is_(None)),
    "stacks_of_root": select(STACK)
    .where(S.root_id == P("root"), S.deleted_at.is_(None))
    .order_by(S.created_at, S.id),
    "tree_busy": select(ONE).where(
        exists().where(
            S.root_id == P("root"),
            or_(S.phase != IDLE, exists().where(R.stack_id == S.id, _RUNNING)),
        )
    ),
    # of those that are deleted, too: their events are told by what owned them
    "names_of_root": select(S.id, S.name, S.owner_resource_id)
    .where(S.root_id == P("root"))
    .order_by(S.created_at, S.id),
    "owners_of_root": select(S.id, R.id, R.stack_id, R.name).where(
        S.root_id == P("root"), S.owner_resource_id == R.id, S.deleted_at.is_(None)
    ),
    "owners_live": select(S.id, R.id, R.stack_id, R.name).where(
        S.owner_resource_id == R.id, S.deleted_at.is_(None)
    ),
    "stacks_live": select(STACK).where(S.deleted_at.is_(None)).order_by(S.created_at, S.id),
    "stacks_pending": select(*TREE).where(S.next_action != NOTHING),
    "stacks_overdue": select(*TREE).where(S.phase != IDLE, S.deadline < P("now")),
    "delete_old_stacks": delete(STACK).where(
        S.deleted_at < P("before"), S.id.not_in(select(TEMPLATE.c.stack_id))
    ),
    # -- templates
    "insert_template": build_insert(TEMPLATE),
    "template_by_id": select(
        TEMPLATE.c.id,
        TEMPLATE.c.stack_id,
        TEMPLATE.c.body,
        TEMPLATE.c.created_at,
        TEMPLATE.c.base_id,
    ).where(TEMPLATE.c.id == P("id")),
    "template_checked": select(TEMPLATE.c.checked).where(TEMPLATE.c.id == P("id")),
    # Each table is gone through once: what is used is listed first. When it was made stands behind
    # the body, so that it is the last thing to be asked.
    "delete_unused_templates": delete(TEMPLATE).where(
        TEMPLATE.c.id.not_in(_USED_TEMPLATES),
        TEMPLATE.c.created_at < P("before"),
        ~exists().where(
            S.id == TEMPLATE.c.stack_id, _REMEMBERED, S.good_parts.contains(TEMPLATE.c.id)
        ),
    ),
    # -- resources
    "insert_resource": build_insert(RESOURCE),
    "update_resource": build_update(RESOURCE).where(R.id == P("id"), R.fence == P("fence")),
    "delete_resource": delete(RESOURCE).where(R.id == P("id"), R.fence == P("fence")),
    "resource_by_id": select(RESOURCE).where(R.id == P("id")),
    "resources_by_id": select(RESOURCE).where(IsOneOf(R.id, "ids")),
    "resources_with_ids": select(
        R.id, R.stack_id, R.name, R.type, R.class_type, R.physical_id, R.given, S.name
    )
    .where(
        R.stack_id == S.id,
        IsOneOf(R.physical_id, "ids"),
        R.external_id.is_(None),
    )
    .order_by(R.id),
    "resources_with_id": select(R.id, R.type, R.class_type, R.given)
    .where(R.physical_id == P("physical_id"), R.external_id.is_(None))
    .order_by(R.id),
    "protected_of_tree": select(R.id)
    .where(R.stack_id == S.id, S.root_id == P("root"), R.protect == ONE)
    .order_by(R.id),
    "resources_of_stack": select(RESOURCE).where(R.stack_id == P("stack_id")).order_by(R.id),
    # in no order: these are large rows, and sorting them takes longer than reading them
    "resources_of_root": select(RESOURCE).where(
        R.stack_id == S.id, S.root_id == P("root"), S.deleted_at.is_(None)
    ),
    # Sealed references are to be opened by who asks.
    "referred_in_tree": select(R.id, R.physical_id, R.reference)
    .where(
        R.stack_id == S.id,
        S.root_id == P("root"),
        S.deleted_at.is_(None),
        R.want != ABSENT,
        or_(
            R.id == P("id"),
            R.physical_id == P("physical_id"),
            R.reference == P("reference"),
            func.substr(R.reference, ONE, L(str(len(PREFIX)))) == L(f"'{PREFIX}'"),
        ),
    )
    .order_by(S.created_at, S.id, R.id),
    "size_of_root": select(func.count()).where(R.stack_id == S.id, S.root_id == P("root")),
    "wanted_of_root": select(func.count()).where(
        R.stack_id == S.id, S.root_id == P("root"), R.want != ABSENT
    ),
    "stacks_of_project": select(func.count()).where(*_OWN, S.owner_resource_id.is_(None)),
    "actions_of_project": select(func.count()).where(
        *_OWN, S.owner_resource_id.is_(None), S.phase != IDLE
    ),
    "resources_of_project": select(func.count()).where(R.stack_id == S.id, *_OWN, R.want != ABSENT),
    "snapshots_of_project": select(func.count()).where(SNAPSHOT.c.stack_id == S.id, *_OWN),
    "resources_named": select(RESOURCE)
    .where(R.stack_id == P("stack_id"), R.name == P("name"))
    .order_by(R.id),
    "required_by": select(RESOURCE)
    .join(EDGE, E.dst == R.id)
    .where(E.src == P("id"))
    .order_by(R.id),
    "plan_rows": select(*(R[name] for name in list_columns(PlanRow)))
    .where(R.stack_id == P("stack_id"))
    .order_by(R.id),
    # What a plan that was looked at stands on: one row for each stack and each instance.
    "tree_facts": union_all(
        select(
            S.id, S.generation, S.phase, S.action, S.status, S.protect, S.suspended, S.note
        ).where(S.root_id == P("root"), S.deleted_at.is_(None)),
        select(R.id, R.fence, R.want, R.action, R.status, R.protect, R.dirty, R.outputs_hash).where(
            R.stack_id == S.id, S.root_id == P("root"), S.deleted_at.is_(None)
        ),
    ),
    "promised_of_tree": select(RESOURCE)
    .where(R.stack_id == S.id, S.root_id == P("root"), R.given.like(L("'%promised:%'")))
    .order_by(R.id),
    "rehome_resource": update(RESOURCE).where(R.id == P("key")).values(stack_id=P("home")),
    "running_ids": select(R.id).where(R.stack_id == P("stack_id"), _RUNNING).order_by(R.id),
    "absent_ids": select(R.id).where(R.stack_id == P("stack_id"), R.want == ABSENT).order_by(R.id),
    # Apart from each other, so that each has its index: what runs, and what is ready in a stack
    # that is there.
    "runnable": union(
        select(R.id, S.root_id).where(R.stack_id == S.id, _RUNNING),
        select(R.id, S.root_id).where(R.stack_id == S.id, R.stack_id.in_(_LIVE), _READY),
    ),
    "runnable_of_tree": select(R.id, S.root_id)
    .where(R.stack_id == S.id, S.root_id == P("root"), or_(_RUNNING, _READY))
    .order_by(R.id),
    "signalled_of_tree": select(RESOURCE).where(
        _RUNNING, R.op == L("'SIGNAL'"), exists().where(S.id == R.stack_id, S.root_id == P("root"))
    ),
    # An owner that was never complete shows nothing: its operation that makes it looks below.
    "behind": select(R.id, S.root_id).where(
        R.stack_id == S.id, R.below != R.below_seen, R.outputs_hash != NOTHING
    ),
    # Asked every second. In order of their ids they would be looked for by their ids: in the whole
    # table instead of the index of what is running.
    "paused_too_long": select(R.id, ROOT).where(R.hook_until < P("now")),
    "paused_ids": select(R.id).where(R.stack_id == P("stack_id"), R.hook != NOTHING).order_by(R.id),
    "begun_after": select(R.id, ROOT).where(_RUNNING, R.started_at > P("now")),
    "overdue": select(R.id, ROOT).where(_RUNNING, R.deadline < P("now")),
    "open_ids": select(R.id).where(R.stack_id == P("stack_id"), R.open != ZERO),
    "close_idle": update(RESOURCE)
    .where(R.stack_id == P("stack_id"), R.open == ONE, R.op == NOTHING)
    .values(open=ZERO),
    "close_all": update(RESOURCE)
    .where(R.stack_id == P("stack_id"), R.open != ZERO)
    .values(open=ZERO),
    # -- edges
    "insert_edge": build_insert(EDGE).on_conflict_do_nothing(),
    "edges_of_stack": select(E.src, E.dst).where(E.stack_id == P("stack_id")),
    "delete_edge": delete(EDGE).where(E.src == P("src"), E.dst == P("dst")),
    # -- data of resources
    "data_of": select(DATA.c.name, DATA.c.value, DATA.c.redact).where(
        DATA.c.resource_id == P("resource_id")
    ),
    "data_of_several": select(*DATA.columns).where(IsOneOf(DATA.c.resource_id, "ids")),
    "put_data": build_put(DATA),
    "drop_data": delete(DATA).where(
        DATA.c.resource_id == P("resource_id"), DATA.c.name == P("name")
    ),
    # -- events
    "insert_event": insert(EVENT).values({name: P(name) for name in list_columns(EventRow)}),
    "events_of_stack": select(EVENT)
    .where(EVENT.c.stack_id == P("stack_id"), EVENT.c.seq > P("after"))
    .order_by(EVENT.c.seq)
    .limit(Most("limit"))
    .offset(P("offset")),
    "events_of_root": select(EVENT)
    .where(
        EVENT.c.stack_id.in_(select(S.id).where(S.root_id == P("root"))),
        EVENT.c.seq > P("after"),
    )
    .order_by(EVENT.c.seq)
    .limit(Most("limit"))
    .offset(P("offset")),
    "events_counted": select(EVENT.c.generation, EVENT.c.action, EVENT.c.status, func.count())
    .where(EVENT.c.stack_id == P("stack_id"), EVENT.c.resource_name != NOTHING)
    .group_by(EVENT.c.generation, EVENT.c.action, EVENT.c.status),
    "stacks_counted": select(STACK.c.action, STACK.c.status, func.count())
    .where(STACK.c.deleted_at.is_(None))
    .group_by(STACK.c.action, STACK.c.status),
    "events_after": select(EVENT)
    .where(EVENT.c.seq > P("after"))
    .order_by(EVENT.c.seq)
    .limit(Most("limit"))
    .offset(P("offset")),
    "last_event": select(func.max(EVENT.c.seq)),
    # They come in the order of their times: the first that is kept ends the look.
    "insert_event_properties": insert(EVENT_PROPERTIES).values(
        {name: P(name) for name in ("event_id", "properties", "hidden", "at")}
    ),
    "delete_old_event_properties": delete(EVENT_PROPERTIES).where(
        EVENT_PROPERTIES.c.at < P("before")
    ),
    "delete_old_events": delete(EVENT).where(
        EVENT.c.seq
        < func.coalesce(
            select(func.min(_KEPT.seq)).where(_KEPT.at >= P("before")).scalar_subquery(),
            L("9223372036854775807"),
        )
    ),
    # -- actions: what was planned, and how it ended
    "insert_action": build_insert(ACTION),
    "end_action": update(ACTION)
    .where(A.stack_id == P("key"), A.ended_at.is_(None))
    .values(ended_at=P("at"), status=P("new_status"), status_reason=P("reason")),
    "note_on_action": update(ACTION)
    .where(A.stack_id == P("key"), A.ended_at.is_(None))
    .values(detail=P("text")),
    "actions_of_stack": select(ACTION)
    .where(A.stack_id == P("stack_id"))
    .order_by(A.generation, A.id),
    "last_change": select(ACTION)
    .where(A.stack_id == P("stack_id"), A.action.not_in([L(f"'{verb}'") for verb in _VERBS]))
    .order_by(A.generation.desc(), A.id.desc()),
    "last_action": select(ACTION)
    .where(A.stack_id == P("stack_id"))
    .order_by(A.generation.desc(), A.id.desc()),
    "template_hashes": select(A.template_hash, A.environment_hash)
    .where(A.stack_id == P("stack_id"), A.template_id == P("template_id"))
    .order_by(A.generation.desc()),
    "delete_old_actions": delete(ACTION).where(
        A.ended_at < P("before"),
        ~exists().where(S.id == A.stack_id, S.deleted_at.is_(None), S.generation == A.generation),
    ),
    "insert_failed": build_insert(FAILED),
    "failed_of_stack": select(FAILED)
    .where(FAILED.c.stack_id == P("stack_id"))
    .order_by(FAILED.c.at, FAILED.c.id),
    "delete_old_failed": delete(FAILED).where(FAILED.c.at < P("before")),
    # -- snapshots
    "put_snapshot": build_put(SNAPSHOT),
    "delete_snapshot": delete(SNAPSHOT).where(SNAPSHOT.c.id == P("id")),
    "delete_snapshots_of_stack": delete(SNAPSHOT).where(SNAPSHOT.c.stack_id == P("stack_id")),
    "snapshots_of_stack": select(SNAPSHOT)
    .where(SNAPSHOT.c.stack_id == P("stack_id"))
    .order_by(SNAPSHOT.c.id),
    # -- configurations and deployments by API
    "insert_software_config": build_insert(SOFTWARE_CONFIG),
    "software_config": select(SOFTWARE_CONFIG).where(SC.id == P("id"), SC.project == P("project")),
    "software_configs": select(SOFTWARE_CONFIG)
    .where(SC.project == P("project"), SC.id > P("marker"))
    .order_by(SC.id)
    .limit(Most("limit"))
    .offset(P("offset")),
    "delete_software_config": delete(SOFTWARE_CONFIG).where(
        SC.id == P("id"),
        SC.project == P("project"),
        ~exists().where(SD.config_id == SC.id),
    ),
    "resource_data_named": select(RESOURCE, DATA.c.value)
    .where(
        DATA.c.name == P("name"),
        DATA.c.resource_id == R.id,
        R.want != ABSENT,
        R.stack_id == S.id,
        S.project == P("project"),
        S.deleted_at.is_(None),
    )
    .order_by(R.id),
    "insert_software_deployment": build_insert(SOFTWARE_DEPLOYMENT),
    "software_deployment": select(SOFTWARE_DEPLOYMENT).where(
        SD.id == P("id"), SD.project == P("project")
    ),
    "software_deployments": select(SOFTWARE_DEPLOYMENT)
    .where(SD.project == P("project"))
    .order_by(SD.id),
    "software_deployments_of_server": select(SOFTWARE_DEPLOYMENT)
    .where(SD.project == P("project"), SD.server_id == P("server_id"))
    .order_by(SD.created_at, SD.id),
    "update_software_deployment": update(SOFTWARE_DEPLOYMENT)
    .where(SD.id == P("key"), SD.project == P("of_project"))
    .values(
        config_id=P("new_config_id"),
        body=P("new_body"),
        action=P("new_action"),
        status=P("new_status"),
        status_reason=P("new_status_reason"),
        updated_at=P("new_updated_at"),
    ),
    "delete_software_deployment": delete(SOFTWARE_DEPLOYMENT).where(
        SD.id == P("id"), SD.project == P("project")
    ),
    # -- drift
    "insert_drift_check": build_insert(DRIFT_CHECK),
    "end_drift_check": update(DRIFT_CHECK)
    .where(C.id == P("key"), C.status == RUNNING)
    .values(
        ended_at=P("at"),
        status=P("new_status"),
        reason=P("new_reason"),
        verdict=P("new_verdict"),
        counts=P("new_counts"),
    ),
    "drift_check_by_id": select(DRIFT_CHECK).where(C.id == P("id")),
    # two are enough to tell whether the beginning of an id means one check
    "drift_checks_from": select(DRIFT_CHECK)
    .where(C.stack_id == P("stack_id"), C.id >= P("first"), C.id < P("last"))
    .limit(Most("limit"))
    .offset(P("offset")),
    "drift_checks_of_stack": select(DRIFT_CHECK)
    .where(C.stack_id == P("stack_id"))
    .order_by(L("drift_check.rowid").desc())
    .limit(Most("limit"))
    .offset(P("offset")),
    "drift_checks_running": select(DRIFT_CHECK).where(C.status == RUNNING),
    "drift_check_running": select(DRIFT_CHECK).where(
        C.stack_id == P("stack_id"), C.status == RUNNING
    ),
    "drift_check_before": select(DRIFT_CHECK)
    .where(
        C.stack_id == P("stack_id"),
        C.id != P("id"),
        C.status == L("'COMPLETE'"),
        C.scope == L("'[]'"),
    )
    .order_by(L("drift_check.rowid").desc()),
    "delete_old_drift_checks": delete(DRIFT_CHECK).where(C.ended_at < P("before")),
    "insert_drift_finding": build_insert(DRIFT_FINDING),
    "drift_findings": select(DRIFT_FINDING).where(F.check_id == P("check_id")).order_by(F.path),
    "drift_rows": select(
        *(R[name] for name in list_columns(DriftRow)[:13]), D.check_id, D.fence, D.verdict, D.unseen
    )
    .select_from(
        RESOURCE.join(STACK, R.stack_id == S.id)
        .join(_ROOT, _ROOT.c.id == S.root_id)
        .outerjoin(DRIFT_STATE, D.resource_id == R.id)
    )
    .where(
        S.root_id == P("root"),
        S.deleted_at.is_(None),
        or_(R.want == L("'PRESENT'"), _ROOT.c.action == L("'DELETE'")),
    ),
    "put_drift_state": build_put(DRIFT_STATE),
    "insert_drift_ignore": build_insert(DRIFT_IGNORE),
    "drift_ignores_of_stack": select(DRIFT_IGNORE)
    .where(X.stack_id == P("stack_id"))
    .order_by(X.id),
    "delete_drift_ignore": delete(DRIFT_IGNORE).where(X.id == P("id"), X.stack_id == P("stack_id")),
    "stacks_drift_due": select(*TREE, S.drift_next).where(
        S.drift_next <= P("now"), S.deleted_at.is_(None)
    ),
    "stacks_repaired_by_schedule": select(*TREE).where(
        S.drift_policy == L("'repair'"), S.drift_next.is_not(None), S.deleted_at.is_(None)
    ),
    "stacks_with_drift": select(*TREE).where(S.drift_next.is_not(None), S.deleted_at.is_(None)),
    "advance_drift": update(STACK)
    .where(S.id == P("key"), S.drift_next == P("known"))
    .values(drift_next=P("new_next")),
    # -- requests
    "insert_request": build_insert(REQUEST),
    "request_by_id": select(REQUEST).where(REQUEST.c.id == P("id")),
    "requests_open": select(REQUEST)
    .where(REQUEST.c.answered_at.is_(None))
    .order_by(L("request.rowid")),
    "keep_answer": build_insert(REQUEST).on_conflict_do_nothing(),
    "answer_request": update(REQUEST)
    .where(REQUEST.c.id == P("key"), REQUEST.c.answered_at.is_(None))
    .values(answer=P("text"), answered_at=P("at")),
    "withdraw_request": delete(REQUEST).where(
        REQUEST.c.id == P("key"), REQUEST.c.answered_at.is_(None)
    ),
    "delete_old_requests": delete(REQUEST).where(
        REQUEST.c.answered_at < P("before"),
        (REQUEST.c.answered_at < P("keyed_before")) | L(f"request.id NOT LIKE '{KEYED}%'"),
    ),
    # -- event sinks
    "sinks": select(SINK).order_by(SINK.c.name),
    "sink_by_name": select(SINK).where(SINK.c.name == P("name")),
    "insert_sink": build_insert(SINK).on_conflict_do_nothing(),
    "move_sink": build_update(SINK, "name").where(
        SINK.c.name == P("key"), SINK.c.seq == P("known")
    ),
    # -- meta
    "meta_value": select(META.c.value).where(META.c.name == P("name")),
    "put_meta": build_put(META),
}
