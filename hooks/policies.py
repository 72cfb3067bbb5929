"""Policies: plug-ins that may refuse a request to ``zonda serve``: the part for plug-ins.

A plug-in brings them by ``zonda_policies``. They are asked after the table of roles, in a thread of
the server, several at a time, and can only refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from .records import dataclass, field


@dataclass(frozen=True, slots=True)
class PolicyCaller:
    """The user who asks, with the project and the roles that the token is for."""

    user_id: str
    user: str
    project_id: str
    project: str
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class PolicyStack:
    """The stack that a request is for. Its values are not told."""

    id: str
    name: str
    tags: tuple[str, ...]
    created_by: str


@dataclass(frozen=True, slots=True)
class PolicyTarget:
    """The things that a request is for; '' or None for what it is not about.

    ``project``: whose things it is about. ``find_stack`` looks the stack up, once.
    ``resource_type``: one type that a template names.
    """

    project: str
    resource: str = ""
    resource_type: str = ""
    find_stack: Callable[[], PolicyStack | None] = field(default=lambda: None, repr=False)

    @property
    def stack(self) -> PolicyStack | None:
        """The stack that the URL names; None without one, or where the project has no such."""
        return self.find_stack()


@runtime_checkable
class Policy(Protocol):
    """A policy of a plug-in."""

    def check(self, caller: PolicyCaller, operation: str, target: PolicyTarget) -> str | None:
        """The reason for which a request is refused, or None.

        ``operation``: as in ``[policy]`` of the settings, e.g. ``stacks:delete``; for each type
        that a template names, ``resource_types:NAME``. An exception refuses, too.
        """
