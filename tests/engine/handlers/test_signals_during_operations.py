"""Signals while their readers are in operation: the readers run once more."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import SignalResource, UpdateStack

READERS = """
a: {{type: Test::Box}}
b:
  type: Test::{kind}
  properties: {{value: {{get_attr: [a, value]}}, secret: "{other}"}}
"""


def test_a_reader_that_is_polled_while_a_signal_comes_is_looked_at_again(bench: Any) -> None:
    bench.create(READERS.format(kind="Slow", other="one"))
    polls = []

    def check(resource: Any) -> bool:
        polls.append(resource.name)
        if len(polls) == 2:
            bench.engine.begin(SignalResource("s", "a", {"word": "signalled"}))
        return len(polls) > 4

    bench.journal.behave["b", "check"] = check
    bench.update(READERS.format(kind="Slow", other="two"))
    assert bench.resource("b").properties["value"] != "signalled"
    bench.heals("b", "check")
    bench.update(READERS.format(kind="Slow", other="two"))
    assert bench.resource("b").properties["value"] == "signalled"


def test_a_signal_between_a_look_and_its_intent_makes_the_reader_look_anew(bench: Any) -> None:
    bench.create(READERS.format(kind="Box", other="one"))
    bundle = bench.bundle(READERS.format(kind="Box", other="two"))
    bench.engine.begin(UpdateStack("s", bundle))
    driver, held = bench.engine.driver, []
    while not held:  # up to the preparation of b, which has not been settled yet
        bench.steps(1)
        held = [task for task, _ in driver._units if task.key == bench.resource("b").id]
    units, driver._units = driver._units, []
    bench.engine.begin(SignalResource("s", "a", {"word": "signalled"}))
    driver._units = units + driver._units
    bench.engine.settle()
    assert bench.resource("b").properties["value"] == "signalled"


def test_what_an_overtaken_update_has_changed_is_not_forgotten(bench: Any) -> None:
    """The newer plan finds it as wanted already; who reads it must learn of it all the same."""
    two = (
        "a: {{type: Test::Slow, properties: {{value: {value}}}}}\n"
        "b: {{type: Test::Box, properties: {{value: {{get_attr: [a, value]}}, secret: s}}}}\n"
        "c: {{type: Test::Box, properties: {{value: {other}}}}}\n"
    )
    bench.create(two.format(value="one", other="one"))
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(UpdateStack("s", bench.bundle(two.format(value="two", other="one"))))
    bench.steps(20)
    assert bench.resource("a").state == "UPDATE_IN_PROGRESS"
    bench.engine.begin(UpdateStack("s", bench.bundle(two.format(value="two", other="two"))))
    bench.steps(20)
    bench.heals("a", "check")
    bench.engine.settle()
    assert bench.stack.state == "UPDATE_COMPLETE"
    assert bench.resource("b").properties["value"] == "two"
