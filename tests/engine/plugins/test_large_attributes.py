"""Large attributes that several expressions read: copied once, never changed."""

from __future__ import annotations

import json
from pathlib import Path

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

LONG = {f"k{number}": "x" * 200 for number in range(150)}
READERS = {
    "whole": ({"get_attr": ["large", "value"]}, "coalesce($.data, {}).get(long, {}).len()"),
    "again": ({"get_attr": ["large", "value"]}, "coalesce($.data, {}).get(list, []).select($ + 1)"),
    "given": ({"get_attr": ["large", "value"]}, "$.data"),
    "below": ({"get_attr": ["large", "value", "list"]}, "coalesce($.data, [0]).sum()"),
    "within": (
        {"a": {"get_attr": ["large", "value", "list", 1]}, "b": 5},
        "coalesce($.data.a, 0) + $.data.b",
    ),
    "nowhere": ({"get_attr": ["large", "value", "no", "such"]}, "$.data = null"),
    "absent": ({"a": {"if": [False, 1]}, "b": 2}, "$.data.len()"),
    "deeper": (
        {"a": [{"get_attr": ["large", "value", "list"]}]},
        "coalesce($.data.a[0], []).len()",
    ),
}


def template(plus: int) -> str:
    large = {"long": LONG, "list": [1, 2, 3 + plus], "map": {"k": [{"deep": plus}]}}
    resources: dict[str, object] = {
        "large": {"type": "OS::Heat::Value", "properties": {"value": large}}
    }
    for name, (data, expression) in READERS.items():
        call = {"yaql": {"expression": expression, "data": data}}
        resources[name] = {"type": "OS::Heat::Value", "properties": {"value": call}}
    outputs = {name: {"value": {"get_attr": [name, "value"]}} for name in READERS}
    return json.dumps(
        {"heat_template_version": "2021-04-16", "resources": resources, "outputs": outputs}
    )


def expected(plus: int) -> dict[str, object]:
    return {
        "whole": 150,
        "again": [2, 3, 4 + plus],
        "given": {"long": LONG, "list": [1, 2, 3 + plus], "map": {"k": [{"deep": plus}]}},
        "below": 6 + plus,
        "within": 7,
        "nowhere": True,
        "absent": 1,
        "deeper": 3,
    }


def test_they_give_what_small_ones_give(tmp_path: Path) -> None:
    stack = InlineStack(tmp_path)
    assert stack.engine.run(CreateStack("test", Bundle(template(0)))).status == "COMPLETE"
    assert stack.outputs == expected(0)
    assert stack.engine.run(UpdateStack("test", Bundle(template(1)))).status == "COMPLETE"
    assert stack.outputs == expected(1)
    stack.close()


def test_one_as_deep_as_may_be_is_read_alike_however_often_it_was_read(
    tmp_path: Path,
) -> None:
    def reason(readers: int, home: Path) -> str:
        deep = "".join(f'{{"{level:0120}":' for level in range(190)) + "1" + "}" * 190
        resources: dict[str, object] = {
            "v": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "deep"}}}
        }
        before = "v"
        for number in range(readers):
            name = f"r{number}"
            resources[name] = {
                "type": "OS::Heat::Value",
                "properties": {"value": {"get_attr": ["v", "value", "nope"]}},
                "depends_on": before,
            }
            before = name
        call = {"yaql": {"expression": "str(1)", "data": {"get_attr": ["v", "value"]}}}
        resources["w"] = {
            "type": "OS::Heat::Value",
            "properties": {"value": call},
            "depends_on": before,
        }
        text = {
            "heat_template_version": "2021-04-16",
            "parameters": {"deep": {"type": "json"}},
            "resources": resources,
        }
        stack = InlineStack(home)
        found = stack.engine.run(
            CreateStack("test", Bundle(json.dumps(text), parameters={"deep": deep}))
        )
        stack.close()
        assert found.state == "CREATE_COMPLETE"
        return found.status_reason

    assert reason(4, tmp_path / "many") == reason(0, tmp_path / "none")
