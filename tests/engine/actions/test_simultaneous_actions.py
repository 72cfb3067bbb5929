"""Two commands at the same instant: each is planned for what the other has left."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import UpdateStack
from zonda.core.engine.handlers.runners import act

PARAMETERS = "parameters: {left: {type: string}, right: {type: string}}\n"
BOTH = (
    "a: {type: Test::Box, properties: {value: {get_param: left}}}\n"
    "b: {type: Test::Box, properties: {value: {get_param: right}}}\n"
)


def test_two_patches_at_once_both_count(bench: Any) -> None:
    bench.create(BOTH, rest=PARAMETERS, parameters={"left": "one", "right": "one"})
    ended: list[BaseException | None] = []
    for given in ({"left": "two"}, {"right": "two"}):
        bundle = bench.bundle(BOTH, rest=PARAMETERS, parameters=given)
        action = UpdateStack("s", bundle, existing=True)
        steps = act(bench.engine.services, action)
        bench.engine.driver.start(steps, lambda value, error: ended.append(error))
    bench.engine.settle()
    assert ended == [None, None]
    assert bench.stack.state == "UPDATE_COMPLETE"
    assert [bench.resource(name).properties["value"] for name in "ab"] == ["two", "two"]
