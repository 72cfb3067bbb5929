"""A plan as data for people and programs: docs/reference/plan-json.md describes its version.

Nothing secret stands in it: changes come without the values that may not be shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import Related, TemplateWarning

from ..diff.changes import Change
from ..model.states import IDLE
from ..plan import drift_schedule
from .preview import Nested, Preview, Resource
from .reasons import list_reasons

#: Raised when a program that reads the shape may have to be changed.
VERSION = 1
#: The verbs of entries, in the order of the output.
ACTIONS = (
    "create", "check", "update", "replace", "delete", "leave", "keep", "fail", "blocked",
)  # fmt: skip


def build_document(plan: Preview) -> dict[str, Any]:
    """The plan, JSON-able."""
    return {
        "zonda_plan": VERSION,
        "stack": _build_stack(plan),
        "does_something": plan.does_something,
        "fails": bool(plan.fails or plan.refusal),
        "summary": _count_actions(plan),
        "notes": list_notes(plan),
        "selection": _build_selection(plan),
        "moved": _list_moves(plan),
        "settings": _build_changes(plan.settings),
        "parameters": _build_changes(plan.parameters),
        "files_outside": list(getattr(getattr(plan.action, "bundle", None), "outside", ())),
        **_build_resources(plan.resources, ()),
        "outputs": _build_changes(plan.outputs),
    }


def _list_moves(plan: Preview) -> list[dict[str, str]]:
    moves = () if plan.proposal is None else plan.proposal.moves
    return [{"from": move.old, "name": move.new} for move in moves]


def _build_resources(resources: Iterable[Resource], path: tuple[str, ...]) -> dict[str, Any]:
    """The entries of the stack at ``path``, with those of the owners that lead to it."""
    shown = [each for each in resources if each.entry.action in ACTIONS or each.entry.may]
    return {
        "resources": [_build_resource(each, path) for each in shown],
        "unchanged": [each.entry.name for each in resources if _is_unchanged(each)],
    }


def _build_nested(nested: Nested, path: tuple[str, ...]) -> dict[str, Any]:
    inside, stack = nested.inside, nested.inside.stack
    name = None if stack.generation == 0 else stack.name
    return {
        "stack": {"name": name, **_build_identity(stack, inside.action)},
        "stack_path": list(path),
        "known_after_apply": not inside.is_known,
        "parameters": _build_changes(nested.parameters),
        **_build_resources(nested.resources, path),
        "outputs": _build_changes(nested.outputs),
    }


def _build_stack(plan: Preview) -> dict[str, Any]:
    stack, proposal = plan.stack, plan.proposal
    return {
        "name": stack.name,
        "project": stack.project,
        **_build_identity(stack, None if proposal is None else proposal.action),
        "in_progress": stack.phase != IDLE,
    }


def _build_identity(stack: StackRow, action: str | None) -> dict[str, Any]:
    is_new = stack.generation == 0
    return {
        "id": None if is_new else stack.id,
        "action": action,
        "generation": stack.generation,
        "state": None if is_new else f"{stack.action}_{stack.status}",
    }


def list_notes(plan: Preview) -> list[str]:
    """The notes on the plan as a whole."""
    said = []
    stack = plan.stack
    if plan.proposal is None:
        said.append(
            f"Stack {stack.name} is {stack.action}_{stack.status}; there is nothing to add."
        )
    elif stack.phase != IDLE:
        said.append(
            f"Stack {stack.name} is {stack.action}_{stack.status}. The plan takes it that what is "
            "running ends well; to carry it out would overtake what is not begun yet."
        )
    elif drift_schedule.is_overridden(stack, plan.proposal.changes):
        said.append(
            "What the environment says of drift schedules does not count: a command has said more. "
            f"'zonda stack drift schedule {stack.name} environment' takes that back."
        )
    if plan.refusal:
        said.append(plan.refusal)
    if plan.fails:
        names = ", ".join(plan.fails)
        said.append(f"This is known to fail, because of {names}.")
    for each in () if plan.definition is None else plan.definition.warnings_of_types:
        also = "".join(f" ({_locate(other)})" for other in each.related)
        said.append(f"{_locate(each)}{also} [{each.code}]")
    return said


def _locate(told: TemplateWarning | Related) -> str:
    return told.message if told.place is None else f"{told.place}: {told.message}"


def _count_actions(plan: Preview) -> dict[str, int]:
    resources = [*_walk_all(plan.resources)]
    selection = None if plan.proposal is None else plan.proposal.selection
    counted = Counter(each.entry.action for each in resources)
    may = Counter(each.entry.may for each in resources if each.entry.may)
    # of what has gone from the template and is not selected there is no entry
    counted["outside"] = 0 if selection is None else len(selection.outside)
    found = {action: counted[action] for action in (*ACTIONS, "outside") if counted[action]}
    found["unchanged"] = sum(1 for each in resources if _is_unchanged(each))
    return {**found, **{f"may {what}": number for what, number in sorted(may.items())}}


def _walk_all(resources: Iterable[Resource]) -> Iterator[Resource]:
    """Resources with those that are nested in them."""
    for each in resources:
        yield each
        for nested in each.nested:
            yield from _walk_all(nested.resources)


def _is_unchanged(each: Resource) -> bool:
    return each.entry.action == "none" and not each.entry.may


def _build_selection(plan: Preview) -> dict[str, Any] | None:
    selection = None if plan.proposal is None else plan.proposal.selection
    if selection is None:
        return None
    return {
        "targets": list(getattr(plan.action, "targets", ())),
        "excludes": list(getattr(plan.action, "excludes", ())),
        "added": list(selection.added),
        "left_alone": list(selection.outside),
    }


def _build_resource(each: Resource, path: tuple[str, ...]) -> dict[str, Any]:
    entry = each.entry
    row = entry.row
    return {
        "name": entry.name,
        "type": entry.type,
        "action": entry.action,
        "may_become": entry.may or None,
        "physical_id": None if row is None else row.physical_id,
        "reasons": [
            {
                "kind": reason.kind,
                "text": reason.text,
                "names": list(reason.names),
                "perhaps": reason.perhaps,
            }
            for reason in list_reasons(entry)
        ],
        "changes": _build_changes(each.changes),
        "nested": [_build_nested(nested, (*path, entry.name)) for nested in each.nested],
    }


def _build_changes(changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [_build_change(change) for change in changes]


def _build_change(change: Change) -> dict[str, Any]:
    shown: dict[str, Any] = {"path": list(change.path), "kind": change.kind}
    if change.secrecy != "open":
        shown["hidden"] = change.secrecy
    else:
        if change.kind != "added":
            shown["before"] = change.before
        if change.kind != "removed" and not change.later:
            shown["after"] = change.after
    if change.later:
        shown["known_after_apply"] = True
    if change.forces:
        shown["forces"] = change.forces
    return shown
