"""What keeps a check going: an end to calls that never come back, and Ctrl-C told from plug-ins.

Both need the signals of the main thread. Elsewhere (another thread, Windows) a call may take as
long as it likes, and every ``KeyboardInterrupt`` is taken for the user's.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

#: Seconds that one try of a rule may take.
USUAL: Final = 60.0
#: Seconds between one interruption and the next, for what cleans up without an end.
_AGAIN: Final = 1.0


class TookTooLong(BaseException):
    """Raised wherever the code is; a ``BaseException``, so that ``except Exception`` lets it by."""


class Stopped:
    """Whether it was the user who stopped what runs; a plug-in may raise KeyboardInterrupt, too."""

    by_user = True


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TookTooLong where the block takes longer; 0: it may take as long as it likes.

    Where somebody else has set the timer (of a test run), theirs is left alone.
    """
    if not seconds or not _has_signals() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    before = signal.signal(signal.SIGALRM, _too_long)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_long(*_: object) -> None:
    raise TookTooLong


@contextmanager
def stops() -> Iterator[Stopped]:
    """Know whether the user has pressed Ctrl-C (or sent SIGTERM) while the block ran.

    Where Ctrl-C is ignored (in the background, under ``nohup``) it raises nothing, so that whatever
    is raised is a plug-in's.
    """
    stopped = Stopped()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = {number: each for number, each in before.items() if callable(each)}
    if not _has_signals() or before[signal.SIGINT] is None:  # a handler that is not Python's
        yield stopped
        return

    def noted(number: int, frame: Any) -> None:
        stopped.by_user = True
        ours[signal.Signals(number)](number, frame)

    stopped.by_user = False
    for number in ours:
        signal.signal(number, noted)
    try:
        yield stopped
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)


def _has_signals() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")
