"""Actions of clients: planned and committed once for each ``Idempotency-Key``.

The answer is stored by the transaction that accepts the action, under the key, and kept for a day:
a client whose connection broke, or whose server was killed, sends the same again and gets it.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from zonda.core.engine.actions import Accepted, Action, wire
from zonda.core.engine.actions.base import Templated
from zonda.core.engine.actions.table import ACTIONS
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.store.schema.words import KEYED
from zonda.hooks.errors import Conflict, NotFound, UsageError

from ..http.calls import Answer, Call
from ..service.project import Project
from .arguments import parse_action

_KEY = re.compile(r"[\x21-\x7e]{8,128}")


#: Heat's names of what actions do.
_HEAT = {
    "AbandonStack": "stacks:abandon",
    "CancelStack": "actions:cancel_without_rollback",
    "CheckStack": "actions:check",
    "CreateStack": "stacks:create",
    "DeleteSnapshot": "stacks:delete_snapshot",
    "DeleteStack": "stacks:delete",
    "MarkResource": "resource:mark_unhealthy",
    "RestoreSnapshot": "stacks:restore_snapshot",
    "ResumeStack": "actions:resume",
    "SignalResource": "resource:signal",
    "SnapshotStack": "stacks:snapshot",
    "SuspendStack": "actions:suspend",
    "UpdateStack": "stacks:update",
}
#: The operation of each action: Heat's name, else its own.
OPERATIONS = {name: _HEAT.get(name, f"actions:{name}") for name in ACTIONS}


def check_action(project: Project, action: Action) -> None:
    """Raise Forbidden where the caller may not use an action, or the types that it brings."""
    stack = str(getattr(action, "stack", ""))
    project.check_policy("write", OPERATIONS[type(action).__name__], stack)
    if isinstance(action, Templated) and action.bundle.types:
        project.check_policy("declare", "types:declare", stack)


class Repeated(Conflict):
    """Another request with the same key was accepted meanwhile."""


def act(call: Call) -> Answer:
    """Plan and commit an action; the answer of the first time where its key has been used."""
    project, key = call.project, call.headers.get("idempotency-key", "")
    if not _KEY.fullmatch(key):
        raise UsageError("The header Idempotency-Key must have 8 to 128 visible characters.")
    if not isinstance(call.body, dict):
        raise UsageError("The body must be an action as a map.")
    text = json.dumps(call.body, sort_keys=True)
    request = _build_id(call, key)
    digest = project.reader.sealer.hmac(text.encode())
    known = _find_answer(project, request, digest)
    if known is None:
        known = _submit(call, text, request, digest)
    return Answer(200, known)


def _submit(call: Call, text: str, request: str, digest: str) -> Any:
    project, action = call.project, parse_action(text)
    check_action(project, action)
    asked, before = call.body.get("asked by"), project.reader.last_event()

    def note(work: UnitOfWork, accepted: Accepted) -> None:
        answer = {"accepted": wire.list_plan_values(accepted), "events_before": before}
        seal = work.sealer.seal
        if not work.tx.keep_answer(request, seal(digest), seal(json.dumps(answer)), work.now):
            raise Repeated("This was asked for at the same time by another connection.")

    supersedes = not isinstance(asked, dict) or asked.get("supersedes") is not False
    try:
        accepted = project.submit(action, supersedes=supersedes, note=note)
    except Repeated:
        known = _find_answer(project, request, digest)
        if known is None:
            raise
        return known
    return {"accepted": wire.list_plan_values(accepted), "events_before": before}


def _build_id(call: Call, key: str) -> str:
    """The id of a request: the same key of another user or project is another request."""
    parts = json.dumps([call.project.id, call.caller.user_id, key])
    return f"{KEYED}{hashlib.sha256(parts.encode()).hexdigest()}"


def _find_answer(project: Project, request: str, digest: str) -> Any:
    """The answer to an earlier request; raises Conflict if that asked for something else."""
    reader = project.reader
    try:
        known = reader.request(request)
    except NotFound:
        return None
    if known.action != digest:
        raise Conflict("This Idempotency-Key has been used for another action.")
    return json.loads(known.answer or "")
