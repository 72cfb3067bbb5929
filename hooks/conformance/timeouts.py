"""Time limits of a check, for calls that never come back.

It needs the signals of the main thread. Elsewhere (another thread, Windows) a call may take as long
as it likes.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..text.borders import Interruption

#: Seconds that one try of a rule may take.
DEFAULT_LIMIT: Final = 60.0
#: Seconds between one interruption and the next, for what cleans up without an end.
_AGAIN: Final = 1.0


class TookTooLong(Interruption):
    """A call took longer than its limit; raised wherever the code is."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TookTooLong where the block takes longer than ``seconds``; 0: no limit.

    Where somebody else has set the timer (of a test run), theirs is left alone.
    """
    if not seconds or not _has_signals() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def raise_too_long(*_: object) -> None:
        raise TookTooLong(f"it takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, raise_too_long)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _has_signals() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")
