"""Of what exists already, and of what is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zonda.core.template.source.bundle import Bundle

from .base import Action, Templated


@dataclass(frozen=True, slots=True)
class AdoptStack(Templated):
    """Make a stack of what exists. ``resources``: name -> what Heat's ``stack abandon`` tells.

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

    ``digest``: of the document that was made of it (``documents.digest``); it is refused if the
    stack has changed since. ``force``: although an action is in progress.
    """

    stack: str
    digest: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class ImportResource(Action):
    """Bind an object that exists to a resource of the template that does not.

    ``force``: although another resource has the same physical id.
    """

    stack: str
    resource: str
    physical_id: str
    force: bool = False
