"""Actions on existing objects: adoption, import and abandonment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.template.source.bundle import Bundle
from zonda.hooks.records import dataclass

from .base import Action, Templated


@dataclass(frozen=True, slots=True)
class AdoptStack(Templated):
    """Make a stack of existing objects. ``resources``: name -> entry of ``stack abandon``.

    ``force``: although other resources have the same physical ids.
    """

    name: str
    bundle: Bundle
    resources: Mapping[str, Any]
    timeout_mins: int = 60
    rollback: bool = False
    tags: tuple[str, ...] = ()
    force: bool = False


@dataclass(frozen=True, slots=True)
class AbandonStack(Action):
    """Forget a stack and leave its resources alone.

    ``digest``: of the document that was made of it (``documents.compute_digest``); it is refused if
    the stack has changed since. ``force``: although an action is in progress.
    """

    stack: str
    digest: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class ImportResource(Action):
    """Bind an existing object to a resource of the template that does not exist yet.

    ``force``: although another resource has the same physical id.
    """

    stack: str
    resource: str
    physical_id: str
    force: bool = False
