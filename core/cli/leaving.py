"""The end of the process, whatever plug-ins do in it.

Python waits at its end for every thread that is no daemon, and for those of executors: one that a
plug-in has left behind would hold up a command for ever that has done its work. And a plug-in that
calls ``os._exit`` would end the engine for all, and every later engine.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from .console import streams

#: Seconds that threads of plug-ins have to end by themselves.
GRACE = 2.0

_end_process = os._exit


@contextmanager
def refusing_exits() -> Iterator[None]:
    """Have ``os._exit`` fail the call that makes it; a forked child ends as it wants to."""
    process = os.getpid()

    def _exit(status: int) -> NoReturn:
        if os.getpid() != process:
            _end_process(status)
        raise SystemExit(f"os._exit({status!r}) would end the process of zonda")

    os._exit = _exit
    try:
        yield
    finally:
        os._exit = _end_process


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
    _end_process(code)


def _left_behind() -> list[threading.Thread]:
    """The threads that Python would wait for."""
    executors = sys.modules.get("concurrent.futures.thread")
    awaited = set(getattr(executors, "_threads_queues", ()))
    return [
        thread
        for thread in threading.enumerate()
        if thread is not threading.current_thread() and (not thread.daemon or thread in awaited)
    ]
