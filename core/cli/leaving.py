"""The end of the process, whatever plug-ins have left running in it.

Python waits at its end for every thread that is no daemon, and for those of executors: one that a
plug-in has left behind would hold up a command for ever that has done its work.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from .console import streams

#: Seconds that threads of plug-ins have to end by themselves.
GRACE = 2.0


def leave(code: int) -> int:
    """Give ``code`` back, or end the process with it where threads would hold up its end."""
    threads = _left_behind()
    if not threads:
        return code
    for at, thread in enumerate(threads):
        thread.join(0.0 if at else GRACE)
    names = [thread.name for thread in threads if thread.is_alive()]
    if not names:
        return code
    streams.complain(f"plug-ins have left threads behind, which end now: {', '.join(names)}")
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(code)


def _left_behind() -> list[threading.Thread]:
    """The threads that Python would wait for."""
    executors = sys.modules.get("concurrent.futures.thread")
    awaited = set(getattr(executors, "_threads_queues", ()))
    return [
        thread
        for thread in threading.enumerate()
        if thread is not threading.current_thread() and (not thread.daemon or thread in awaited)
    ]
