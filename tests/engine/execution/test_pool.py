"""The end of the threads in which plug-ins run."""

from __future__ import annotations

import importlib.util
import threading

from zonda.core.engine.execution.pool import Pool


def load_threading_again() -> None:
    """Load the module as eventlet does, which takes the lock of the thread that does it."""
    spec = importlib.util.find_spec("threading")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_a_thread_that_cannot_tell_its_end_holds_up_no_stop() -> None:
    ended, loaded = threading.Event(), threading.Event()
    pool = Pool(1, "test", leave=ended.set)
    pool.submit(load_threading_again)
    pool.submit(loaded.set)
    assert loaded.wait(10)
    pool.stop()
    assert ended.wait(10)
