"""Timers: due in order, once each, and nothing is kept of past ones."""

from __future__ import annotations

import gc
import weakref

from zonda.core.engine.execution.timers import AT_ONCE, Timetable


class Thing:
    """Something that can be waited for."""


def test_what_is_due_comes_in_order() -> None:
    table: Timetable[str] = Timetable()
    for due, what in ((3.0, "c"), (1.0, "a"), (1.0, "b"), (AT_ONCE, "now")):
        table.put(due, what)
    assert [table.take(2.0) for _ in range(4)] == ["now", "a", "b", None]
    assert table.next_due() == 3.0


def test_what_is_entered_again_stands_there_once() -> None:
    table: Timetable[str] = Timetable()
    table.put(10.0, "a")
    table.put(AT_ONCE, "a")
    assert [table.take(20.0), table.take(20.0)] == ["a", None]
    assert table.next_due() is None


def test_what_is_over_is_not_kept_until_it_would_have_been_due() -> None:
    table: Timetable[Thing] = Timetable()
    things = [Thing() for _ in range(1000)]
    known = [weakref.ref(thing) for thing in things]
    for number, thing in enumerate(things):
        table.put(1e9 + number, thing)
    for thing in things[1:]:
        table.drop(thing)
    del things[1:], thing
    gc.collect()
    assert [ref() is not None for ref in known].count(True) == 1
    assert len(table._heap) < 200
    assert table.next_due() == 1e9


def test_what_is_poked_again_and_again_does_not_pile_up() -> None:
    table: Timetable[str] = Timetable()
    for number in range(10_000):
        table.put(1e9 + number, "a")
        table.put(AT_ONCE, "a")
        assert table.take(0.0) == "a"
    assert len(table._heap) < 200
