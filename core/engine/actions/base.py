"""What all actions have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zonda.core.template.source.bundle import Bundle


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for an action, and in which project: a name or an id means what is in that one.

    ``supersedes``: it may take the place of an action that is being carried out, where that can be.
    """

    user: str = ""
    project: str = "default"
    supersedes: bool = True


class Action:
    """Something that is asked of the engine: a dataclass of what JSON has, and of a bundle."""

    __slots__ = ()

    #: Whether every resource of the stack will be worked on.
    touches_all: ClassVar[bool] = True
    #: Whether it can be carried out once another action has ended.
    may_wait: ClassVar[bool] = True


class Templated(Action):
    """An action that brings a template with it."""

    __slots__ = ()

    bundle: Bundle

    def with_bundle(self, bundle: Bundle) -> Templated:
        """The same with another bundle."""
        this: Any = self
        changed: Templated = replace(this, bundle=bundle)
        return changed
