"""The results of plug-in calls, given to the steps: values, never exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal
from typing import Final as Constant

from zonda.hooks.errors import Path
from zonda.hooks.records import dataclass, field

from .unit_of_work import UnitOfWork

#: The kind of a failure that the environment's restricted actions have caused.
RESTRICTED = "Restricted"
Verdict = Literal["begin", "unchanged", "replace", "fail", "refuse"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The decision on an instance, and its resolved definition, sealed where needed.

    ``cause``: why it is updated or replaced, JSON (``causes.py``). ``prepares``: see ``Replace``.
    ``kind``, ``code`` and ``trace``: see ``Failure``.
    """

    verdict: Verdict
    op: str = ""
    reason: str = ""
    definition: str | None = None
    properties: str | None = None
    hidden: str = "{}"
    metadata: str | None = None
    deletion_policy: str = "Delete"
    external_id: str | None = None
    resolved_hash: str = ""
    type: str = ""
    class_type: str = ""
    cause: str = ""
    prepares: bool = False
    kind: str = ""
    code: str = ""
    path: Path = ()
    trace: str = field(default="", repr=False)

    @property
    def failure(self) -> Failure:
        """The failure, where the decision is a failure or a refusal."""
        return Failure(self.reason, self.kind, self.code, "prepare", NO, self.path, self.trace)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The operation goes on: poll with ``token``, after ``delay`` seconds if it is given.

    ``also``: what else is written with the token; False where it does not fit any more, so that
    nothing is written and the call is made once more.
    """

    token: Any
    stored: str | None
    volatile: bool
    delay: float | None = None
    also: Callable[[UnitOfWork], bool] | None = None


@dataclass(frozen=True, slots=True)
class Postponed:
    """The handler asks to be called again after ``delay`` seconds; ``finding``: to look again.

    ``queued``: nothing was begun, so that nothing of it need be stored.
    """

    delay: float
    finding: bool = False
    queued: bool = False


@dataclass(frozen=True, slots=True)
class Final:
    """The operation ended well: the values that others may read, sealed where needed.

    ``hidden`` is what the definition that was achieved hides.
    """

    reference: str | None = None
    outputs: str | None = None
    outputs_hash: str = ""
    reason: str = "state changed"
    hidden: str | None = None


#: Kinds of failure that no plug-in has raised.
TIMED_OUT, STACK_TIMED_OUT, CANCELLED = "TimedOut", "StackTimedOut", "Cancelled"
BROKEN, INTERRUPTED, SUPERSEDED = "Broken", "Interrupted", "Superseded"
HANGING = "Hanging"

#: Whether another attempt may help: none; the same one once more; a new one.
Again = Literal["no", "same", "new"]
NO: Constant = "no"
SAME: Constant = "same"
NEW: Constant = "new"


@dataclass(frozen=True, slots=True)
class Failure:
    """The operation failed; ``reason`` is scrubbed of hidden values.

    ``kind`` is the class of the error, ``code`` its code (``ZONnnn`` or ''); ``during`` what was
    being done: prepare, handle, poll, find, or outside (nobody's call: a deadline, the user).
    ``path`` leads to what is wrong in the template, where that is known.
    ``trace``: where a plug-in has raised it. ``hint``: what to do about it.
    ``again``: what to do about it where the user has asked for several attempts.
    """

    reason: str
    kind: str = "ResourceFailure"
    code: str = ""
    during: str = "outside"
    again: Again = NO
    path: Path = ()
    trace: str = field(default="", repr=False)
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Replace:
    """The handler of an update asks for a replacement.

    ``prepares``: the old instance is to be made ready before (``prepare_for_replace``).
    """

    prepares: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """Another engine has taken the operation over: stop silently."""


LOST = Lost()
Answer = Waiting | Postponed | Final | Failure | Replace | Lost
