"""A second update with the same template starts no operation."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.loading import make_loading

from zonda.builtin_resources import plugin
from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.engine.runtime.inline import InlineEngine
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import MEMORY, Store, open_store
from zonda.core.system.ids import Ids
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.testing.fakes import FakeClock

PLUGINS = gather_plugins(make_manager(plugin, discover=False))

plain = st.sampled_from(["x", "y", 1, True, None, ["a", "b"], {"k": "v"}])


@st.composite
def values(draw: st.DrawFn, earlier: int) -> Any:
    """A value that may read parameters and resources that stand before."""
    value = draw(plain)
    kind = draw(st.sampled_from(["plain", "param", "join", "if", "attr", "ref", "repeat"]))
    if kind == "param":
        return {"get_param": draw(st.sampled_from(["p", "OS::stack_name"]))}
    if kind == "join":
        return {"list_join": ["-", ["a", {"get_param": "p"}]]}
    if kind == "if":
        return {"if": ["c", value, {"get_param": "p"}]}
    if kind == "repeat":
        return {"repeat": {"for_each": {"%x%": ["a", "b"]}, "template": "%x%"}}
    if earlier and kind in ("attr", "ref"):
        name = f"r{draw(st.integers(0, earlier - 1))}"
        return {"get_attr": [name, "value"]} if kind == "attr" else {"get_resource": name}
    return value


@st.composite
def templates(draw: st.DrawFn) -> str:
    """A few resources that read one another."""
    resources: dict[str, Any] = {}
    for number in range(draw(st.integers(1, 4))):
        value = draw(values(number))
        entry: dict[str, Any] = {"type": "OS::Heat::Value", "properties": {"value": value}}
        if draw(st.integers(0, 3)) == 0:
            entry = {"type": "OS::Heat::RandomString", "properties": {"length": 8}}
        if number and draw(st.booleans()):
            entry["depends_on"] = f"r{number - 1}"
        if draw(st.integers(0, 4)) == 0:
            entry["metadata"] = {"m": {"get_param": "p"}}
        resources[f"r{number}"] = entry
    return yaml.safe_dump(
        {
            "heat_template_version": "2018-08-31",
            "parameters": {"p": {"type": "string", "default": draw(st.sampled_from("ab"))}},
            "conditions": {"c": {"equals": [{"get_param": "p"}, "a"]}},
            "resources": resources,
        }
    )


class Engine:
    """An inline engine that notes which operations it starts."""

    def __init__(self, store: Store) -> None:
        clock, source = FakeClock(), random.Random(1)
        self.inline = InlineEngine(
            store,
            PLUGINS,
            clock=clock,
            ids=Ids(clock, source).new,
            random=source,
            lender=SimpleNamespace(setup="", is_shared=False),
            load=make_loading(PLUGINS, clock),
        )

    def events(self, stack: str) -> list[tuple[str, str]]:
        found = self.inline.reader.events(stack, 0, 1000)
        return [(str(event.resource_name), event.action) for event in found if event.resource_type]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    store = open_store(MEMORY, sealer=Sealer(make_key()))
    yield Engine(store)
    store.close()


names = iter(range(1_000_000))


@given(template=templates())
def test_the_same_template_again_changes_nothing(engine: Engine, template: str) -> None:
    name = f"s{next(names)}"
    stack = engine.inline.run(CreateStack(name, Bundle(template)))
    before = engine.events(stack.id)
    assert ("r0", "CREATE") in before
    again = engine.inline.run(UpdateStack(name, Bundle(template)))
    new = engine.events(stack.id)[len(before) :]
    if stack.status == "COMPLETE":
        assert (again.action, again.status) == ("UPDATE", "COMPLETE")
        assert [event for event in new if event[0] != name] == []
