"""Operations that are woken before their time are polled once more."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import CreateStack
from zonda.hooks.errors import NotReady

ONE = "a: {type: Test::Slow, properties: {value: one}}"


def test_to_be_woken_does_not_multiply_the_polls(bench: Any) -> None:
    asked: list[float] = []

    def check(resource: Any) -> bool:
        asked.append(bench.clock.monotonic())
        raise NotReady(10.0)

    bench.journal.behave["a", "check"] = check
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.steps(3)
    [row] = bench.engine.reader.resource_rows(bench.stack.id)
    for _ in range(5):
        bench.clock.advance(1.0)
        bench.engine.driver.poke(row.id)
        bench.steps(2)  # it is woken, and asked
    begun = bench.clock.monotonic()
    while bench.clock.monotonic() < begun + 100.0:
        bench.steps(1)
    later = [when for when in asked if when > begun]
    assert 9 <= len(later) <= 11
