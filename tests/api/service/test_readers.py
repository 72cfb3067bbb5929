"""Reads of many threads: each has a reader of its own, so that none waits for another."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from zonda.core.api.server.application import THREADS

PATIENCE = 60.0


@pytest.mark.sqlite  # a server has eight connections that read
def test_reads_of_all_threads_go_on_at_the_same_time(api: Any) -> None:
    service = api.dispatcher.service
    together = threading.Barrier(THREADS)
    counts: list[int] = []

    def read() -> None:
        with service.reader.snapshot():  # which holds the lock of the reader
            together.wait(PATIENCE)
            counts.append(len(service.reader.stacks("p1")))

    threads = [threading.Thread(target=read) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert counts == [0] * THREADS


def test_a_request_is_answered_while_another_one_reads(api: Any) -> None:
    service = api.dispatcher.service
    holds, go_on = threading.Event(), threading.Event()

    def read() -> None:
        with service.reader.snapshot():
            holds.set()
            assert go_on.wait(PATIENCE)

    thread = threading.Thread(target=read)
    thread.start()
    assert holds.wait(PATIENCE)
    try:
        assert api("GET", "/stacks").status == 200
        path = api.create("s", {"heat_template_version": "2018-08-31"})
        assert api.state(path) == "CREATE_COMPLETE"
    finally:
        go_on.set()
        thread.join(PATIENCE)
