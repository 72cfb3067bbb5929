"""The data model of a manifest, the result of parsing one. See docs/reference/manifest.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks import TypeText

from ..resources import workflow_call

#: The key at the top of a manifest, and the versions of the format.
KEY = "zonda_type"
VERSIONS = (1,)
ACTIONS = ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME", "CHECK")


@dataclass(frozen=True, slots=True)
class Action:
    """The workflow of one action. ``input``, ``params`` and ``output`` are mappings.

    Without ``input`` every property is sent that has a value; without ``output`` all outputs are
    kept.
    """

    workflow: str
    runner: str = ""
    input: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    output: Mapping[str, Any] | None = None
    timeout: float | None = None
    on_timeout: str = workflow_call.FAIL
    retries: int = 0
    delay: float = workflow_call.RETRY_DELAY

    @property
    def reference(self) -> str:
        """The workflow as ``context.runner`` takes it."""
        return f"{self.runner}:{self.workflow}" if self.runner else self.workflow


@dataclass(frozen=True, slots=True)
class Manifest:
    """One type. ``observes``: property -> mapping on CHECK's outputs."""

    source: TypeText
    actions: Mapping[str, Action]
    description: str = ""
    observes: Mapping[str, Any] = field(default_factory=dict)
    exists: Any = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    allow_id_change: bool = False
    always_update: bool = False
