"""The states as data, and the only functions that check a change of them.

A resource instance has a visible state (action, status), as Heat shows it, and the state of its
operation: '' (none), STARTING (``handle_X`` may be running), RETRY (it came back and asked to be
called again), POLLING (its token is stored), BACKOFF (an attempt has failed, a new one is to be
made), CLEANING (what the one before has left is being removed).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IDLE, UP, DOWN = "IDLE", "UP", "DOWN"
PRESENT, ABSENT = "PRESENT", "ABSENT"
#: Whether an instance takes part in the running plan. LEAVING: only until its operation ends.
CLOSED, OPEN, LEAVING = 0, 1, 2
#: Whether an instance must be looked at. MARKED: what it reads has changed while it was looked at
#: or worked on, so that it stays dirty when that has ended.
CLEAN, DIRTY, MARKED = 0, 1, 2
NONE, STARTING, RETRY, POLLING = "", "STARTING", "RETRY", "POLLING"
BACKOFF, CLEANING = "BACKOFF", "CLEANING"
IN_PROGRESS, COMPLETE, FAILED = "IN_PROGRESS", "COMPLETE", "FAILED"
#: Other ends of an action in its history.
CANCELLED, TIMED_OUT, SUPERSEDED = "CANCELLED", "TIMED_OUT", "SUPERSEDED"
#: The failure of an action that the user has cancelled.
USER_CANCELLED = "User cancelled operation"

#: (state of the operation, event) -> next state of the operation.
OPERATION: Final[Mapping[tuple[str, str], str]] = {
    (NONE, "begin"): STARTING,
    (STARTING, "again"): RETRY,
    (STARTING, "started"): POLLING,
    (STARTING, "finished"): NONE,
    (STARTING, "failed"): NONE,
    (STARTING, "replaced"): NONE,
    (RETRY, "retry"): STARTING,
    (RETRY, "failed"): NONE,
    (POLLING, "polled"): POLLING,
    (POLLING, "finished"): NONE,
    (POLLING, "failed"): NONE,
    (POLLING, "replaced"): NONE,
    (STARTING, "put off"): BACKOFF,
    (POLLING, "put off"): BACKOFF,
    (CLEANING, "put off"): BACKOFF,
    (BACKOFF, "clean"): CLEANING,
    (CLEANING, "clean"): CLEANING,
    (BACKOFF, "retry"): STARTING,
    (CLEANING, "retry"): STARTING,
    (BACKOFF, "failed"): NONE,
    (CLEANING, "failed"): NONE,
}

_MADE: Final = frozenset({"CREATE", "ADOPT", "UPDATE", "CHECK", "SNAPSHOT", "SUSPEND", "RESUME"})
_WELL: Final = frozenset(f"{action}_{COMPLETE}" for action in _MADE)

#: The actions that may follow the last one (or only one with that status); INIT is an instance
#: that nothing was done to.
FOLLOWS: Final[Mapping[str, frozenset[str]]] = {
    "CREATE": frozenset({"INIT"}),
    "ADOPT": frozenset({"INIT", f"ADOPT_{FAILED}"}),
    "UPDATE": _MADE,
    "DELETE": _MADE | {"DELETE"},
    "CHECK": _MADE | {"DELETE", "INIT"},
    "SNAPSHOT": _WELL | {f"SNAPSHOT_{FAILED}"},
    "DELETE_SNAPSHOT": _MADE | {"DELETE"},
    "SUSPEND": _WELL | {f"SUSPEND_{FAILED}"},
    "RESUME": frozenset({"SUSPEND", "RESUME"}),
    "SIGNAL": _MADE,
}

#: The first phase of a stack's action: requirements first (UP) or dependants first (DOWN).
FIRST_PHASE: Final[Mapping[str, str]] = {
    "CREATE": UP,
    "ADOPT": UP,
    "UPDATE": UP,
    "ROLLBACK": UP,
    "RESTORE": UP,
    "CHECK": UP,
    "RESUME": UP,
    "SNAPSHOT": UP,
    "DELETE_SNAPSHOT": UP,
    "IMPORT": UP,
    "SUSPEND": DOWN,
    "DELETE": DOWN,
}

#: (running action of the stack, asked for) that may overtake; anything else is a conflict.
OVERTAKES: Final[Mapping[str, frozenset[str]]] = {
    "UPDATE": frozenset({"CREATE", "UPDATE", "ROLLBACK", "RESTORE"}),
    "RESTORE": frozenset(),
    "ROLLBACK": frozenset({"CREATE", "ADOPT", "UPDATE", "RESTORE"}),
    "DELETE": frozenset(FIRST_PHASE),
    "SUSPEND": frozenset(),
    "RESUME": frozenset(),
    "CHECK": frozenset(),
    "ADOPT": frozenset(),
    "SNAPSHOT": frozenset(),
    "DELETE_SNAPSHOT": frozenset(),
    "IMPORT": frozenset(),
}

#: Actions of a stack that it is not shown as once they have ended.
PASSING: Final = frozenset({"DELETE_SNAPSHOT", "IMPORT"})
#: Operations that a resource is not shown as once they have ended.
PASSING_OPERATIONS: Final = frozenset({"DELETE_SNAPSHOT", "SIGNAL"})
#: Operations that give an instance a definition.
MAKING: Final = frozenset({"CREATE", "ADOPT", "UPDATE"})
#: Operations after whose failure an instance may still be what it was: an update that could not be
#: begun (its hash is there then), a snapshot.
UNHARMED: Final = frozenset({"UPDATE", "SNAPSHOT"})

#: Actions that are rolled back when they fail, where the stack says so.
UNDONE: Final = OVERTAKES["ROLLBACK"]


class IllegalTransition(Exception):
    """The engine tried a change of state that the tables do not allow: a bug in zonda."""


def advance_state(state: str, event: str) -> str:
    """The state of an operation after ``event``."""
    try:
        return OPERATION[state, event]
    except KeyError:
        raise IllegalTransition(f"{event} in state {state or 'none'}") from None


def may_follow(last: str, status: str, action: str, *, suspended: bool = False) -> bool:
    """Whether ``action`` may begin after ``last`` has ended with ``status``.

    ``suspended``: it is, whatever was done to it since (a CHECK, a SNAPSHOT).
    """
    if action == "RESUME" and suspended:
        return last in _MADE
    return last in FOLLOWS[action] or f"{last}_{status}" in FOLLOWS[action]


def check_may_follow(last: str, status: str, action: str, *, suspended: bool = False) -> None:
    """Raise IllegalTransition unless ``action`` may begin."""
    if not may_follow(last, status, action, suspended=suspended):
        raise IllegalTransition(f"{action} after {last}_{status}")
