"""The base classes of all actions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zonda.core.template.source.bundle import Bundle


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who asks for an action, and the project in which names and ids are looked up.

    ``supersedes``: it may take the place of an action that is being carried out, where that can be.
    """

    user: str = ""
    project: str = "default"
    supersedes: bool = True


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to an action: planned and committed. ``generation`` is the plan's number.

    ``check_id``: the drift check that was begun, or ''.
    """

    stack_id: str
    generation: int
    name: str
    check_id: str = ""


class Action:
    """A request to the engine: a dataclass of JSON values, and a bundle where it has a template."""

    __slots__ = ()

    #: Whether every resource of the stack will be worked on.
    touches_all: ClassVar[bool] = True
    #: Whether it can be carried out once another action has ended.
    may_wait: ClassVar[bool] = True
    #: Whether it is for the action that is being carried out, and may disturb it.
    ends_another: ClassVar[bool] = False


class Templated(Action):
    """An action that brings a template with it."""

    __slots__ = ()

    bundle: Bundle

    def with_bundle(self, bundle: Bundle) -> Templated:
        """The same action with another bundle."""
        this: Any = self
        changed: Templated = replace(this, bundle=bundle)
        return changed
