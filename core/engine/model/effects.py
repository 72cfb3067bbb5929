"""Effects: the requests of a step to its driver. A step is a generator; results are sent back.

``Tx``: run a function on the engine's rows, resume when it is committed. ``Call``: run plug-in
code (or parsing and planning) outside the engine thread. ``Wait``: resume when time has passed or
somebody pokes the resource.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any

from zonda.hooks.errors import PluginError, ZondaError
from zonda.hooks.records import dataclass
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception

from .unit_of_work import UnitOfWork

#: The order of calls that wait for a thread: of what is under way, of a run whose turn to be sent
#: has come, and of what is new.
UNDER_WAY, IN_TURN, LAST = range(3)
#: Seconds that a call may take which nobody else gives up (an operation has its deadline).
LONGEST_CALL = 3600.0


@dataclass(frozen=True, slots=True)
class Tx:
    """One unit of a transaction. ``run`` may be called twice if the first commit fails."""

    run: Callable[[UnitOfWork], Any]


@dataclass(frozen=True, slots=True)
class Call:
    """Work for the pool; an exception is raised inside the step.

    ``light``: it only computes, so that a few threads make them all; what acts outside never is.
    After ``seconds`` it is given up: ``TookTooLong`` is raised in the step. ``tell`` shows to users
    what the call waits for, and that it does so no more. ``order``: UNDER_WAY, IN_TURN or LAST.
    """

    run: Callable[[], Any]
    light: bool = False
    seconds: float = LONGEST_CALL
    tell: Callable[[str], None] | None = None
    order: int = UNDER_WAY

    def make(self) -> tuple[Any, Exception | None]:
        """Make the call; returns its value, and the error that it has raised instead."""
        try:
            return self.run(), None
        except Exception as error:  # the border: the step is told
            return None, error
        except BaseException as error:  # what a plug-in raises must not end a thread
            raise_interruption(error)
            made = PluginError(
                f"A plug-in broke off: {describe_exception(error)}",
                hint="That is a fault of its own.",
            )
            made.__cause__ = error
            return None, made


@dataclass(frozen=True, slots=True)
class Wait:
    """Resume after ``seconds``, or when resource ``key`` is poked."""

    seconds: float
    key: str


class TookTooLong(ZondaError):
    """Raised inside a step whose call has not come back."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"A plug-in has not come back within {seconds:g} s.")


Effect = Tx | Call | Wait
Step = Generator[Effect, Any, Any]


def make_operation_call(
    run: Callable[[], Any],
    *,
    light: bool = False,
    tell: Callable[[str], None] | None = None,
    order: int = UNDER_WAY,
) -> Call:
    """A call of an operation; the operation's deadline limits it."""
    return Call(run, light, math.inf, tell, order)


def make_step(effect: Effect) -> Step:
    """A step of one effect; gives what that gave."""
    return (yield effect)


class GivenUp(Exception):
    """Raised inside a step that waits: its operation was ended from outside."""
