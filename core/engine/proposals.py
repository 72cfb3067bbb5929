"""From an action to a proposal: names looked up, rules checked, templates loaded. In the pool.

Raises the errors of ``hooks/errors.py`` for whatever the caller did wrong.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.store.rows import StackRow
from zonda.core.template.bundle import Bundle, Identity
from zonda.core.template.source import load_document
from zonda.hooks.errors import Conflict, NotFound, NotSupported
from zonda.hooks.resource import Resource

from . import actions
from .cone import Wanted
from .definitions import Definition, body_of, bundle_of, merged
from .planning import Proposal
from .reasons import HIDDEN
from .recording import Given, hashes
from .room import Room
from .selection import select
from .states import COMPLETE, IDLE, OVERTAKES, PRESENT

UNCHECKED = ". 'CHECK' not fully supported (see resources)"


def propose(room: Room, action: Any) -> tuple[Proposal | None, StackRow]:
    """The plan for an action, and the stack it is for; None where there is nothing to do."""
    proposal: Proposal | None
    if isinstance(action, actions.CreateStack):
        proposal, stack = _create(room, action)
    else:
        stack = named(room, action.stack)
        proposal = PLANS[type(action)](room, stack, action)
    if proposal is not None:
        proposal = _signed(room, _part(room, proposal, action))
    return proposal, stack


def _part(room: Room, proposal: Proposal, action: Any) -> Proposal:
    """The proposal for that part of the template that the action names, if it names one."""
    targets, excludes = getattr(action, "targets", ()), getattr(action, "excludes", ())
    if proposal.wanted is None or not (targets or excludes):
        return proposal
    rows = room.reader().resource_rows(proposal.stack_id)
    found = select(
        {item.name: item.requires for item in proposal.wanted},
        {row.name: json.loads(row.requires) for row in rows if row.want == PRESENT},
        targets,
        excludes,
    )
    named = {"targets": list(targets), "excludes": list(excludes)}
    given = dataclasses.replace(proposal.given, detail={**proposal.given.detail, **named})
    return dataclasses.replace(proposal, selection=found, given=given)


def _signed(room: Room, proposal: Proposal) -> Proposal:
    """The proposal with who asks for it."""
    given = dataclasses.replace(proposal.given, by=room.settings.user)
    return dataclasses.replace(proposal, given=given)


def named(room: Room, name: str) -> StackRow:
    """The live stack of a name or an id; raises NotFound."""
    reader, project = room.reader(), room.settings.project
    try:
        stack = reader.stack_row(name, project)
    except NotFound as error:
        error.hint = reader.near(name, project)
        raise
    if stack.deleted_at is not None:
        raise NotFound("Stack", name)
    return stack


def rollback(room: Room, stack_id: str) -> tuple[Proposal | None, StackRow]:
    """The plan back to the last good template; None if none is owed any more."""
    stack = room.reader().stack_row(stack_id)
    if stack.next_action != "ROLLBACK":
        return None, stack
    given = Given(detail={"because": stack.generation})
    return dataclasses.replace(_back(room, stack), owed=True, given=given), stack


def _back(room: Room, stack: StackRow) -> Proposal:
    good = stack.good_template_id
    wanted = [] if good is None else _wanted(room, room.definitions.get(good))
    return Proposal(stack.id, "ROLLBACK", stack.generation, wanted, good)


def _create(room: Room, action: actions.CreateStack) -> tuple[Proposal, StackRow]:
    stack = StackRow(
        room.ids(),
        room.settings.project,
        action.name,
        disable_rollback=int(not action.rollback),
        timeout_mins=action.timeout_mins,
        tags=json.dumps(action.tags),
    )
    try:
        room.reader().stack_row(action.name, room.settings.project)
    except NotFound:
        pass
    else:
        raise exists(action.name)
    definition = _load(room, stack, action.bundle, None)
    return _template(room, stack, "CREATE", action.bundle, definition, {}), stack


def exists(name: str) -> Conflict:
    """The error for a name that is taken."""
    error = Conflict(
        f"The Stack ({name}) already exists.",
        hint="Choose another name, or update that stack.",
        code="ZON206",
    )
    error.heat_type = "StackExists"
    return error


def _update(room: Room, stack: StackRow, action: actions.UpdateStack) -> Proposal:
    if stack.action == "SUSPEND":
        raise NotSupported(
            "Updating a stack when it is suspended is not supported.", hint="Resume it first."
        )
    check_overtakes(stack, "UPDATE")
    before = None if stack.template_id is None else room.definitions.get(stack.template_id)
    bundle = action.bundle
    if action.existing and before is not None and stack.template_id is not None:
        old = bundle_of(room.reader().template(stack.template_id).body)
        bundle = merged(old, before.environment.parameters, bundle, _declared)
    previous = None if before is None else before.parameters.values
    definition = _load(room, stack, bundle, previous)
    changes: dict[str, Any] = {}
    if action.timeout_mins is not None:
        changes["timeout_mins"] = action.timeout_mins
    if action.rollback is not None:
        changes["disable_rollback"] = int(not action.rollback)
    if action.tags is not None:
        changes["tags"] = json.dumps(action.tags)
    return _template(room, stack, "UPDATE", bundle, definition, changes)


def _declared(text: str) -> set[str]:
    found = load_document(text, "template").data
    section = found.get("parameters") if isinstance(found, Mapping) else None
    return set(section) if isinstance(section, Mapping) else set()


def _load(
    room: Room, stack: StackRow, bundle: Bundle, previous: Mapping[str, Any] | None
) -> Definition:
    identity = Identity(stack.id, stack.name, stack.project)
    return room.definitions.load(bundle, identity, previous, True)


def _template(
    room: Room,
    stack: StackRow,
    action: str,
    bundle: Bundle,
    definition: Definition,
    changes: dict[str, Any],
) -> Proposal:
    template_id = room.ids()
    room.definitions.keep(template_id, definition)
    sealed = _holds_secrets(definition)
    description = definition.description
    return Proposal(
        stack.id,
        action,
        stack.generation,
        _wanted(room, definition),
        template_id,
        room.sealer.dump(body_of(bundle), sealed=sealed),
        {
            **changes,
            "description": description if isinstance(description, str) else str(description),
            "note": "",
        },
        given=Given("", {}, *hashes(room.sealer, bundle)),
    )


def _holds_secrets(definition: Definition) -> bool:
    """Whether hidden values may stand in a bundle: of parameters, or as hidden properties."""
    return bool(definition.parameters.hidden) or any(
        HIDDEN in node.secrecy.values() for node in definition.resources.values()
    )


def _wanted(room: Room, definition: Definition) -> list[Wanted]:
    hashed = room.sealer.hmac
    return [
        Wanted(
            name,
            node.type,
            hashed(node.fingerprint.encode()),
            tuple(sorted(node.requires)),
            node.cls.always_update is not Resource.always_update,
        )
        for name, node in definition.resources.items()
    ]


def _delete(room: Room, stack: StackRow, action: actions.DeleteStack) -> Proposal | None:
    if stack.action == "DELETE" and stack.phase != IDLE:
        return None
    return Proposal(
        stack.id, "DELETE", stack.generation, [], stack.template_id, changes={"note": ""}
    )


def _cancel(room: Room, stack: StackRow, action: actions.CancelStack) -> Proposal:
    if stack.phase == IDLE or stack.action not in OVERTAKES["ROLLBACK"]:
        raise NotSupported(
            f"Cancelling update when stack is ('{stack.action}', '{stack.status}') "
            "is not supported."
        )
    return _back(room, stack)


def _verb(room: Room, stack: StackRow, action: Any) -> Proposal | None:
    verb = _VERBS[type(action)]
    check_overtakes(stack, verb)
    if (stack.action, stack.status) == (verb, COMPLETE) and verb != "CHECK":
        return None
    note = UNCHECKED if verb == "CHECK" and not _all_checked(room, stack) else ""
    return Proposal(stack.id, verb, stack.generation, changes={"note": note})


def _all_checked(room: Room, stack: StackRow) -> bool:
    if stack.template_id is None:
        return True
    nodes = room.definitions.get(stack.template_id).resources.values()
    return all(callable(getattr(node.cls, "handle_check", None)) for node in nodes)


def check_overtakes(stack: StackRow, action: str) -> None:
    """Raise Conflict unless ``action`` may begin now."""
    if stack.phase == IDLE or stack.action in OVERTAKES[action]:
        return
    raise Conflict(
        f"Stack {stack.name} already has an action ({stack.action}) in progress.",
        hint="Wait for it, cancel it, or delete the stack.",
    )


_VERBS = {
    actions.SuspendStack: "SUSPEND",
    actions.ResumeStack: "RESUME",
    actions.CheckStack: "CHECK",
}

#: Actions on a stack that exists: (room, stack, action) -> proposal; None: nothing to do.
PLANS: Mapping[type[Any], Callable[[Room, StackRow, Any], Proposal | None]] = {
    actions.UpdateStack: _update,
    actions.DeleteStack: _delete,
    actions.CancelStack: _cancel,
    **dict.fromkeys(_VERBS, _verb),
}
