"""The end of the process, also where a plug-in left threads or calls ``os._exit``.

Python waits at its end for every thread that is no daemon, and for those of executors: one that a
plug-in has left behind would hold up a command for ever that has done its work. It does not wait
for daemons, and may crash when one comes back from a call of a plug-in into what is no longer
there. And a plug-in that calls ``os._exit`` would end the engine for all, and every later engine.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from zonda.core.system.clock import SystemClock

from .console import streams

#: Seconds that threads of plug-ins have to end by themselves, all together.
GRACE = 2.0

_end_process = os._exit


@contextmanager
def refuse_exits() -> Iterator[None]:
    """Make ``os._exit`` fail its caller; a forked child ends as usual."""
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


def leave(code: int) -> NoReturn:
    """End the process without the clean-up of Python, which frees one by one what ends anyway."""
    gc.disable()
    clock = SystemClock()
    end = clock.monotonic() + GRACE
    for thread in (threads := _list_awaited()):
        thread.join(max(end - clock.monotonic(), 0.0))
    names = [thread.name for thread in threads if thread.is_alive()]
    if names:
        streams.print_error(f"plug-ins have left threads behind, which end now: {', '.join(names)}")
    else:  # what plug-ins have registered
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    _end_process(code)


def _list_awaited() -> list[threading.Thread]:
    """List the threads that Python would wait for."""
    executors = sys.modules.get("concurrent.futures.thread")
    awaited = set(getattr(executors, "_threads_queues", ()))
    return [
        thread
        for thread in threading.enumerate()
        if thread is not threading.current_thread() and (not thread.daemon or thread in awaited)
    ]
