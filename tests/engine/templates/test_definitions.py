"""Definitions that are loaded again after a restart."""

from __future__ import annotations

import threading
from typing import Any

from tests.engine.conftest import Bench

LONG = 20.0


def test_threads_that_need_the_same_template_load_it_once(bench: Bench) -> None:
    bench.create("a: {type: Test::Box}")
    template_id = bench.resource_rows()[0].have_template_id
    assert template_id is not None
    definitions = bench.restart().services.definitions
    load, loads, go_on = definitions.load, [], threading.Event()

    def slow(*given: Any) -> Any:
        loads.append(given)
        go_on.wait(LONG)
        return load(*given)

    definitions.load = slow  # type: ignore[assignment]
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(definitions.get(template_id)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    tick = threading.Event()
    while definitions._turns.get(template_id, (None, 0))[1] < len(threads):
        tick.wait(0.001)
    go_on.set()
    for thread in threads:
        thread.join(LONG)

    assert len(loads) == 1
    assert len(found) == 4
    assert len({id(each) for each in found}) == 1
    assert definitions._turns == {}
