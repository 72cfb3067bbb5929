"""What all actions have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from zonda.core.template.bundle import Bundle


class Action:
    """Something that is asked of the engine: a dataclass of what JSON has, and of a bundle."""

    __slots__ = ()

    #: Whether every resource of the stack will be worked on.
    touches_all: ClassVar[bool] = True


class Templated(Action):
    """An action that brings a template with it."""

    __slots__ = ()

    bundle: Bundle

    def with_bundle(self, bundle: Bundle) -> Templated:
        """The same with another bundle."""
        this: Any = self
        changed: Templated = replace(this, bundle=bundle)
        return changed
