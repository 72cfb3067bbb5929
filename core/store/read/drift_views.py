"""Views of drift: frozen, plain, without hidden values. Times as in ``views``."""

from __future__ import annotations

from typing import Any

from zonda.hooks.records import dataclass
from zonda.hooks.text.redaction import MASK

from ..schema.words import COMPLETE, DRIFTED, NOTE, RUNNING


@dataclass(frozen=True, slots=True)
class DriftCheckView:
    """One check. ``scope``: the paths that it was for, () for all. ``by``: who has asked for it.

    ``status``: RUNNING, COMPLETE, FAILED or INTERRUPTED (its process has died), with a ``reason``.
    ``cause``: command, schedule or repair. ``verdict`` is that of the stack, '' until COMPLETE;
    ``counts``: how many resources by verdict, and ``IGNORED``: how many of those that are in sync
    are so by an exception only.
    """

    id: str
    stack_id: str
    generation: int
    cause: str
    by: str
    scope: tuple[str, ...]
    started_at: float
    ended_at: float | None
    status: str
    reason: str
    verdict: str
    counts: dict[str, int]

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.status == RUNNING

    @property
    def is_complete(self) -> bool:
        """Whether it has looked at all of its resources."""
        return self.status == COMPLETE


@dataclass(frozen=True, slots=True)
class Difference:
    """One property that is otherwise. ``path`` begins with its name; where only a part of a map or
    list differs it leads to that part. ``template`` and ``live`` are the values; None also where
    there is none. A hidden one is only named. ``ignored``: why it counts as in sync, or ''.
    """

    path: tuple[str | int, ...]
    template: Any
    live: Any
    hidden: bool = False
    ignored: str = ""

    @classmethod
    def read(cls, said: dict[str, Any]) -> Difference:
        """A difference from column ``diff``."""
        hidden = bool(said.get("hidden"))
        template = MASK if hidden else said.get("template")
        live = MASK if hidden else said.get("live")
        return cls(tuple(said["path"]), template, live, hidden, said.get("ignored", ""))


@dataclass(frozen=True, slots=True)
class DriftFindingView:
    """A finding of a check: a resource out of sync, or in sync only by an exception.

    ``path``: ``OWNER/NAME`` from the stack at the top down. ``ignored``: why it counts as in sync
    (its ``verdict`` is IN_SYNC then), or ''.
    """

    check_id: str
    resource_id: str
    stack_id: str
    path: str
    type: str
    verdict: str
    reason: str
    differences: tuple[Difference, ...]
    ignored: str

    @property
    def notes(self) -> list[str]:
        """The parts that a repair would not change, and the reasons."""
        return self.reason.split(NOTE)[1:] if self.verdict == DRIFTED and self.differences else []


@dataclass(frozen=True, slots=True)
class DriftNowView:
    """The newest verdict on one resource, or NOT_CHECKED; ``checked_at``: when it was looked at.

    ``finding`` is there where there is more to tell. ``unseen``: what was sent and not observed:
    properties, or paths inside of them.
    """

    resource_id: str
    stack_id: str
    path: str
    type: str
    verdict: str
    checked_at: float | None
    finding: DriftFindingView | None = None
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DriftIgnoreView:
    """An exception. ``id`` is '' where the environment says it. ``property`` '' means all of it.

    ``path`` may have ``*`` in it. ``until``: it counts before that; None: always.
    """

    id: str
    stack_id: str
    path: str
    property: str
    until: float | None
    reason: str
    by: str
    at: float | None
