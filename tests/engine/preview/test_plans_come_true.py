"""Plans say what the engine then does, and a second plan is empty."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.loading import make_loading

from zonda.builtin_resources import plugin
from zonda.core.engine.actions import ApplyPlan, CreateStack, UpdateStack
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import Preview, build_preview
from zonda.core.engine.runtime.inline import InlineEngine
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import MEMORY, Store, open_store
from zonda.core.system.ids import Ids
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.testing.fakes import FakeClock

PLUGINS = gather_plugins(make_manager(plugin, discover=False))
NAMES = ["r0", "r1", "r2", "r3", "r4"]


@st.composite
def texts(draw: st.DrawFn, earlier: list[tuple[str, str]]) -> Any:
    """Something that is a text when it is resolved, and may read what stands before."""
    kind = draw(st.sampled_from(["plain", "param", "attr", "ref", "join"]))
    if kind == "param":
        return {"get_param": "p"}
    if kind == "plain" or not earlier:
        return draw(st.sampled_from(["x", "y"]))
    name, of = draw(st.sampled_from(earlier))
    attribute = {"OS::Heat::TestResource": "output"}.get(of, "value")
    if kind == "ref" or of == "OS::Heat::Value":
        read: Any = {"get_resource": name}
    else:
        read = {"get_attr": [name, attribute]}
    return {"list_join": ["-", ["a", read]]} if kind == "join" else read


@st.composite
def entries(
    draw: st.DrawFn, earlier: list[tuple[str, str]], old: dict[str, Any] | None
) -> dict[str, Any]:
    """One resource, mostly of the type that it had."""
    kind = draw(st.sampled_from(["TestResource", "TestResource", "Value", "RandomString", "None"]))
    if old is not None and draw(st.integers(0, 4)):
        kind = old["type"].rpartition(":")[2]
    given: dict[str, Any] = {}
    if kind == "TestResource":
        given["value"] = draw(texts(earlier))
        if draw(st.booleans()):
            given["update_replace_value"] = draw(texts(earlier))
        if draw(st.booleans()):
            given["update_replace"] = draw(st.booleans())
    elif kind == "Value":
        given["value"] = {"k": draw(texts(earlier)), "n": draw(st.sampled_from([1, 2]))}
    elif kind == "RandomString":
        given["length"] = draw(st.sampled_from([8, 9]))
        given["salt"] = draw(texts(earlier))
    else:
        given["any"] = draw(texts(earlier))
    entry: dict[str, Any] = {"type": f"OS::Heat::{kind}", "properties": given}
    if earlier and draw(st.integers(0, 3)) == 0:
        entry["depends_on"] = draw(st.sampled_from(earlier))[0]
    if draw(st.integers(0, 4)) == 0:
        entry["metadata"] = {"m": draw(texts(earlier))}
    if draw(st.integers(0, 5)) == 0:
        entry["deletion_policy"] = "Retain"
    return entry


@st.composite
def resources(draw: st.DrawFn, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Some resources that read one another; most are as ``before``, if that is given."""
    found: dict[str, Any] = {}
    earlier: list[tuple[str, str]] = []
    for name in NAMES:
        old = None if before is None else before.get(name)
        if before is not None and draw(st.integers(0, 2)):
            entry = old if before is not None and _fits(old, before, found) else None
        else:
            entry = draw(entries(earlier, old)) if draw(st.integers(0, 5)) else None
        if entry is not None:
            found[name] = entry
            earlier.append((name, entry["type"]))
    return found


def _fits(entry: Any, before: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether all that an entry reads is there again, and of its type."""
    reads = [name for name in NAMES if name in json.dumps(entry)]
    return all(name in found and found[name]["type"] == before[name]["type"] for name in reads)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A template, and one that is much like it."""
    first = draw(resources())
    second = draw(resources(first))
    if draw(st.integers(0, 3)) == 0:
        first = {name: _failing(entry) for name, entry in first.items()}
    values = draw(st.sampled_from(["aa", "ab"]))
    return _template(first, values[0]), _template(second, values[1])


def _failing(entry: dict[str, Any]) -> dict[str, Any]:
    """The same, which fails when it is made, if it can."""
    if entry["type"] != "OS::Heat::TestResource":
        return entry
    return {**entry, "properties": {**entry["properties"], "fail": True}}


def _template(found: dict[str, Any], value: str) -> str:
    return yaml.safe_dump(
        {
            "heat_template_version": "2018-08-31",
            "parameters": {"p": {"type": "string", "default": value}},
            "resources": found,
            "outputs": {name: {"value": {"get_resource": name}} for name in found},
        }
    )


class Engine:
    """An inline engine; ``done`` tells what events say was done to each resource."""

    def __init__(self, store: Store) -> None:
        clock, source = FakeClock(), random.Random(1)
        self.sealer = store.sealer
        self.inline = InlineEngine(
            store,
            PLUGINS,
            clock=clock,
            ids=Ids(clock, source).new,
            random=source,
            lender=SimpleNamespace(setup="", is_shared=False),
            load=make_loading(PLUGINS, clock),
        )

    def preview(self, action: Any) -> Preview:
        return build_preview(self.inline.services, action)

    def file(self, plan: Preview) -> str:
        return format_plan(plan, self.sealer, self.inline.services.definitions)

    def done(self, stack: str, after: int) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for event in self.inline.reader.events(stack, after, 1000):
            if event.resource_type:
                found.setdefault(str(event.resource_name), set()).add(event.action)
        return found


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    store = open_store(MEMORY, sealer=Sealer(make_key()))
    yield Engine(store)
    store.close()


numbers = iter(range(1_000_000))

#: What events tell of each thing that a plan may say.
EVENTS = {
    "none": set(),
    "create": {"CREATE"},
    "update": {"UPDATE"},
    "replace": {"CREATE", "DELETE"},
    "delete": {"DELETE"},
    "leave": {"DELETE"},
    "outside": set(),
    "keep": set(),
}


def allowed(plan: Preview, *, part: bool = False) -> dict[str, list[set[str]]]:
    """What may be done to each resource: exactly that, or what may become of it.

    Of a ``part`` the old instance of what is replaced may have to stay.
    """
    found: dict[str, list[set[str]]] = {}
    for each in plan.resources:
        entry = each.entry
        actions = [entry.action]
        if entry.may:
            between = ["none", "update", "replace"]
            actions += between[: between.index(entry.may) + 1]
        ways = [EVENTS[action] for action in actions]
        if part and "replace" in actions:
            ways.append({"CREATE"})
        # several instances of one name: what is done to all of them
        others = found.get(entry.name, [set()])
        found[entry.name] = [one | other for one in ways for other in others]
    return found


@settings(max_examples=80)
@given(pair=pairs(), by_file=st.booleans())
def test_what_is_planned_is_what_is_done_and_then_nothing_is_left(
    engine: Engine, pair: tuple[str, str], by_file: bool
) -> None:
    first, second = pair
    name = f"s{next(numbers)}"
    stack = engine.inline.run(CreateStack(name, Bundle(first)))
    assert stack.action == "CREATE"
    action = UpdateStack(name, Bundle(second))
    plan = engine.preview(action)
    before = engine.inline.reader.last_event()
    ended = engine.inline.run(ApplyPlan(engine.file(plan)) if by_file else action)
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    done = engine.done(stack.id, before)
    ways = allowed(plan)
    assert set(done) <= set(ways)
    for resource, possible in ways.items():
        assert done.get(resource, set()) in possible, resource
    again = engine.preview(action)
    assert not again.does_something
    assert {each.entry.action for each in again.resources} <= {"none"}


@settings(max_examples=40)
@given(pair=pairs(), data=st.data())
def test_parts_one_after_the_other_are_the_whole(
    engine: Engine, pair: tuple[str, str], data: Any
) -> None:
    first, second = pair
    name = f"s{next(numbers)}"
    engine.inline.run(CreateStack(name, Bundle(first)))
    known = sorted({*yaml.safe_load(first)["resources"], *yaml.safe_load(second)["resources"]})
    if known:
        part = data.draw(st.sampled_from(known))
        kind = data.draw(st.sampled_from(["targets", "excludes"]))
        action = UpdateStack(name, Bundle(second), **{kind: (part,)})
        plan = engine.preview(action)
        before = engine.inline.reader.last_event()
        stack = engine.inline.run(ApplyPlan(engine.file(plan)))
        assert stack.state == "UPDATE_COMPLETE", stack.status_reason
        done = engine.done(stack.id, before)
        for resource, possible in allowed(plan, part=True).items():
            assert done.pop(resource, set()) in possible, resource
        assert done == {}
        if part in yaml.safe_load(second)["resources"]:
            left = {each.entry.action for each in engine.preview(action).resources}
            assert left <= {"none", "outside", "keep"}
    stack = engine.inline.run(UpdateStack(name, Bundle(second)))
    assert stack.state == "UPDATE_COMPLETE"
    assert set(yaml.safe_load(second)["resources"]) == {
        view.name for view in engine.inline.reader.resources(stack.id, absent=True)
    }
    assert not engine.preview(UpdateStack(name, Bundle(second))).does_something
