"""The table of all actions. A new one is a dataclass, a function, and one line here.

Most actions have modules that no other needs. A process that carries out one of them imports those
of that one: the others would be a fifth of what a small command does. Called by ``wire``, ``plan``
and ``handlers``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

#: The shapes of an action, by what its function is:
#: ``(services, stack, action)`` -> plan, or None where there is nothing to do; in the pool.
PLAN = "plan"
#: ``(services, stack, action)`` -> change of the stack, for one transaction; in the pool.
EDIT = "edit"
#: ``(services, action, note)`` -> step that gives ``Accepted``.
FLOW = "flow"


class Entry(NamedTuple):
    """The shape of an action, its function, and the module of this folder with its dataclass."""

    shape: str
    function: str
    module: str


ACTIONS: Mapping[str, Entry] = {
    "CreateStack": Entry(PLAN, "plan.from_template:plan_creation", "templates"),
    "UpdateStack": Entry(PLAN, "plan.from_template:plan_update", "templates"),
    "ApplyPlan": Entry(FLOW, "preview.apply:apply_plan", "templates"),
    "DeleteStack": Entry(PLAN, "plan.snapshots:delete_stack", "stacks"),
    "SuspendStack": Entry(PLAN, "plan.from_template:plan_verb", "stacks"),
    "ResumeStack": Entry(PLAN, "plan.from_template:plan_verb", "stacks"),
    "CheckStack": Entry(PLAN, "plan.from_template:plan_verb", "stacks"),
    "CancelStack": Entry(FLOW, "handlers.cancel:cancel", "stacks"),
    "RollbackStack": Entry(PLAN, "plan.rollback:plan_rollback_to", "stacks"),
    "RetryStack": Entry(PLAN, "plan.retry:plan_retry", "stacks"),
    "AdoptStack": Entry(PLAN, "plan.adoption:plan_adoption", "ownership"),
    "AbandonStack": Entry(EDIT, "handlers.abandon:abandon", "ownership"),
    "ImportResource": Entry(PLAN, "plan.adoption:plan_import", "ownership"),
    "SnapshotStack": Entry(PLAN, "plan.snapshots:create", "snapshots"),
    "DeleteSnapshot": Entry(PLAN, "plan.snapshots:delete", "snapshots"),
    "RestoreSnapshot": Entry(PLAN, "plan.snapshots:restore", "snapshots"),
    "SignalResource": Entry(FLOW, "handlers.signal:signal", "resources"),
    "ClearHooks": Entry(EDIT, "handlers.breakpoints:clear_hooks", "resources"),
    "ProtectStack": Entry(EDIT, "handlers.protect:protect", "resources"),
    "MarkResource": Entry(EDIT, "handlers.health:mark", "resources"),
    "MoveResource": Entry(EDIT, "handlers.move:move", "resources"),
    "CheckDrift": Entry(FLOW, "drift.actions:begin_check", "drift"),
    "RepairDrift": Entry(FLOW, "drift.repair:repair", "drift"),
    "SetDrift": Entry(EDIT, "drift.actions:set_drift", "drift"),
    "IgnoreDrift": Entry(EDIT, "drift.actions:ignore", "drift"),
    "UnignoreDrift": Entry(EDIT, "drift.actions:unignore", "drift"),
}


def find_action_class(name: str) -> type[Any]:
    """The class of an action; raises KeyError where there is none of this name."""
    module = import_module(f".{ACTIONS[name].module}", __package__)
    found: type[Any] = getattr(module, name)
    return found


def load_function(place: str) -> Any:
    """Return the function of ``MODULE:NAME``, a module of the engine, imported if needed."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"..{module}", __package__), name)
