"""The policy table: the roles that an operation needs, as Heat has them by default.

A line of the route table names a row of this one.
"""

from __future__ import annotations

from .callers import Caller, Forbidden

#: The roles that stand for each row; an administrator may do everything but what nobody may.
READ = frozenset({"reader", "member"})
WRITE = frozenset({"member"})
AGENT = READ | {"heat_stack_user"}
ADMIN = frozenset({"admin"})
NOBODY = frozenset[str]()

POLICIES = {
    "read": READ,
    "write": WRITE,
    "reveal": WRITE,  # to see hidden values
    "declare": WRITE,  # to bring types of one's own
    "agent": AGENT,
    "admin": ADMIN,
    "nobody": NOBODY,
    "anybody": frozenset({"*"}),
    "signal": frozenset({"signal", "scale"}),
    "metadata": frozenset({"metadata"}),
}


def check_policy(caller: Caller, policy: str, operation: str) -> None:
    """Raise Forbidden unless the caller has a role that the operation needs."""
    roles = POLICIES[policy]
    if "*" in roles or (caller.is_admin and roles) or roles & caller.roles:
        return
    raise Forbidden(f"You are not authorized to use {operation}.")
