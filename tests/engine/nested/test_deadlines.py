"""The deadline of a nested stack is that of its owner."""

from __future__ import annotations

from tests.engine.conftest import Bench

from zonda.core.engine.actions import CreateStack, UpdateStack

CHILD = """
heat_template_version: 2018-08-31
parameters: {v: {type: string}}
resources:
  inside: {type: Test::Slow, properties: {value: {get_param: v}}}
"""


def test_a_longer_time_reaches_down(bench: Bench) -> None:
    """What is nested had as long as when it was made, and timed out."""
    files = {"child.yaml": CHILD}
    one, two = (f"c: {{type: child.yaml, properties: {{v: {each}}}}}" for each in "ab")
    bench.engine.run(CreateStack("s", bench.bundle(one, files=files), timeout_mins=1))
    bench.journal.behave["inside", "check"] = lambda resource: False
    bench.engine.begin(UpdateStack("s", bench.bundle(two, files=files), timeout_mins=60))
    begun = bench.clock.now()
    bench.steps(30)

    root, child = bench.engine.reader.tree(bench.stack.id)
    (inside,) = bench.engine.reader.resource_rows(child.id)

    assert (inside.op, root.deadline, child.timeout_mins) == ("UPDATE", begun + 3600.0, 60)
    assert child.deadline == inside.deadline == root.deadline
