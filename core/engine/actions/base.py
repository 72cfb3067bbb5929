"""The base classes of all actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import TemplateWarning
from zonda.hooks.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits of what a caller may have made.

    ``most``: how many ``stacks``, ``resources``, ``actions`` (at a time) and ``snapshots`` its
    project may have; what is not there is not limited. ``check_definition`` raises for a template
    that it may not use; it stays in its process. ``asked_by``: the JSON values from which a server
    in another one makes it again (``EngineSettings.find_check``); empty where there is nothing to
    check.
    """

    most: Mapping[str, int]
    check_definition: Callable[[Any], None] | None = None
    asked_by: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who asks for an action, and the project in which names and ids are looked up.

    ``supersedes``: it may take the place of an action that is being carried out, where that can be.
    ``request``: the id of the request that lines of the log name; ``traceparent``: its trace.
    ``allowance``: the limits, where there are any. ``attempt``: the id of the request if another
    member of a cluster is asked; '' for a new one. ``wants_warnings``: the answer is to have those
    about the template.
    """

    user: str = ""
    project: str = "default"
    supersedes: bool = True
    request: str = ""
    traceparent: str = ""
    allowance: Allowance | None = field(default=None, repr=False, compare=False)
    attempt: str = ""
    wants_warnings: bool = False

    def list_values(self) -> dict[str, Any]:
        """The values that travel between processes."""
        names = ("user", "project", "supersedes", "request", "traceparent")
        found = {name: getattr(self, name) for name in names}
        if self.allowance is not None:
            limits = {"most": {**self.allowance.most}, "asked_by": {**self.allowance.asked_by}}
            found["allowance"] = limits
        return found


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to an action: planned and committed. ``generation`` is the plan's number.

    ``check_id``: the drift check that was begun, or ''. ``warnings``: those about its template;
    None where nobody has looked.
    """

    stack_id: str
    generation: int
    name: str
    check_id: str = ""
    warnings: tuple[TemplateWarning, ...] | None = None


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
