"""Tells exceptions of plug-ins from those that end the program: used around plug-in calls.

A plug-in may raise anything, ``SystemExit`` and ``KeyboardInterrupt`` too, and none of that ends
more than what the plug-in was asked for. What zonda itself raises to end what runs is an
``Interruption``: it passes every border.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn


class Interruption(BaseException):
    """Ends the running code, whoever wrote it."""


class Interrupted(Interruption, KeyboardInterrupt):
    """The user has pressed Ctrl-C."""


class Terminated(Interruption, KeyboardInterrupt):
    """SIGTERM has come: everything ends as after Ctrl-C."""


#: By signal: what handles it where nobody has chosen otherwise, and what is raised instead.
_RAISED: Final[dict[signal.Signals, tuple[Any, type[Interruption]]]] = {
    signal.SIGINT: (signal.default_int_handler, Interrupted),
    signal.SIGTERM: (signal.SIG_DFL, Terminated),
}


def raise_interruption(error: BaseException) -> None:
    """Raise ``error`` again if it is no plug-in's.

    A ``KeyboardInterrupt`` is the user's where nothing tells it from a plug-in's: in the main
    thread, outside of ``interruptible``.
    """
    kind = type(error)  # what ``isinstance`` asks may be a plug-in's
    if issubclass(kind, Interruption):
        raise error
    if issubclass(kind, KeyboardInterrupt) and _is_main_thread() and _is_free(signal.SIGINT):
        raise error


@contextmanager
def interruptible(*numbers: signal.Signals) -> Iterator[None]:
    """Make these signals raise an ``Interruption``, unless they are handled or ignored already.

    Only in the main thread, which alone gets signals.
    """
    ours = [each for each in numbers if _is_main_thread() and _is_free(each)]
    for number in ours:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _RAISED[number][0])


@contextmanager
def preserve_signals() -> Iterator[None]:
    """Restore the handlers of SIGINT and SIGTERM afterwards: a plug-in may change them."""
    before = {number: signal.getsignal(number) for number in _RAISED} if _is_main_thread() else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)


def _is_free(number: signal.Signals) -> bool:
    return bool(signal.getsignal(number) == _RAISED[number][0])


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise _RAISED[signal.Signals(number)][1]


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
