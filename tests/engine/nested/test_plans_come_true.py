"""Plans of nested stacks say what the engine then does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.preview.test_plans_come_true import EVENTS, Engine

from zonda.core.engine.actions import ApplyPlan, CreateStack, UpdateStack
from zonda.core.engine.preview.preview import Resource
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import MEMORY, open_store
from zonda.core.template.source.bundle import Bundle

Path = tuple[str, ...]
GROUP = "OS::Heat::ResourceGroup"
HEADER = {"heat_template_version": "2018-08-31"}
NAMES = ["r0", "r1", "r2", "r3"]
#: The files, each of which may use those behind it.
FILES = ["a.yaml", "b.yaml"]


@st.composite
def texts(draw: st.DrawFn, earlier: list[tuple[str, str]]) -> Any:
    """Something that is a text when it is resolved, and may read what stands before."""
    kind = draw(st.sampled_from(["plain", "param", "attr", "attr", "if", "join"]))
    if kind == "param":
        return {"get_param": "p"}
    if kind == "if":
        return {"if": ["is_x", "x", {"get_param": "p"}]}
    if kind == "plain" or not earlier:
        return draw(st.sampled_from(["x", "y"]))
    name, of = draw(st.sampled_from(earlier))
    attribute = {"OS::Heat::TestResource": "output", "OS::Heat::RandomString": "value"}.get(of)
    if attribute is None:
        attribute = draw(st.sampled_from(["out", "given"]))
    read: Any = {"get_attr": [name, attribute]}
    if of == GROUP:
        read = {"list_join": ["+", read]}
    return {"list_join": ["-", ["a", read]]} if kind == "join" else read


@st.composite
def entries(draw: st.DrawFn, earlier: list[tuple[str, str]], types: list[str]) -> dict[str, Any]:
    """One resource."""
    kind = draw(st.sampled_from(["OS::Heat::TestResource", "OS::Heat::RandomString", *types]))
    entry: dict[str, Any] = {"type": kind, "properties": {}}
    if kind == "OS::Heat::TestResource":
        entry["properties"]["value"] = draw(texts(earlier))
        if draw(st.booleans()):
            entry["properties"]["update_replace_value"] = draw(texts(earlier))
    elif kind == "OS::Heat::RandomString":
        entry["properties"] = {
            "length": draw(st.sampled_from([8, 9])),
            "salt": draw(texts(earlier)),
        }
    elif kind == GROUP:
        member = {"type": "b.yaml", "properties": {"p": draw(texts(earlier))}}
        entry["properties"] = {"count": draw(st.integers(0, 3)), "resource_def": member}
        entry["update_policy"] = {"rolling_update": {"max_batch_size": draw(st.integers(1, 2))}}
    else:
        entry["properties"]["p"] = draw(texts(earlier))
    if draw(st.integers(0, 3)) == 0:
        entry["condition"] = draw(st.sampled_from(["is_x", {"not": "is_x"}]))
    return entry


@st.composite
def templates(draw: st.DrawFn, types: list[str], before: Any = None) -> dict[str, Any]:
    """One template; most of it is as ``before``, if that is given."""
    found: dict[str, Any] = {}
    earlier: list[tuple[str, str]] = []
    for name in NAMES[: 3 if types else 2]:
        old = None if before is None else before["resources"].get(name)
        is_kept = before is not None and draw(st.integers(0, 3))
        entry = old if is_kept else draw(entries(earlier, types))
        if (
            entry is not None
            and _fits(entry, earlier, before if is_kept else None)
            and draw(st.integers(0, 6))
        ):
            found[name] = entry
            if "condition" not in entry:
                earlier.append((name, entry["type"]))
    out = draw(texts(earlier))
    return {
        **HEADER,
        "parameters": {"p": {"type": "string", "default": "x"}},
        "conditions": {"is_x": {"equals": [{"get_param": "p"}, "x"]}},
        "resources": found,
        "outputs": {"out": {"value": out}, "given": {"value": {"get_param": "p"}}},
    }


def _fits(entry: dict[str, Any], earlier: list[tuple[str, str]], before: Any) -> bool:
    """Whether all that an entry reads is there, and has that; groups are groups still."""
    known = dict(earlier)
    for name, attribute in _reads(entry):
        old = None if before is None else before["resources"][name]["type"]
        was_group = known.get(name) == GROUP if old is None else old == GROUP
        if not _has(known.get(name), attribute) or was_group != (known[name] == GROUP):
            return False
    return True


def _reads(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if "get_attr" in value:
            yield tuple(value["get_attr"])
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _reads(item)


def _has(kind: str | None, attribute: str) -> bool:
    if kind is None:
        return False
    own = {"OS::Heat::TestResource": "output", "OS::Heat::RandomString": "value"}
    return attribute == own[kind] if kind in own else attribute in ("out", "given")


@st.composite
def trees(draw: st.DrawFn, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """A root and the files that it uses, as data."""
    old = before or {}
    return {
        "b.yaml": draw(templates([], old.get("b.yaml"))),
        "a.yaml": draw(templates(["b.yaml"], old.get("a.yaml"))),
        "root": draw(templates(["a.yaml", "b.yaml", GROUP], old.get("root"))),
    }


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Bundle, Bundle]:
    """A tree, and one that is much like it."""
    first = draw(trees())
    second = draw(trees(first)) if draw(st.booleans()) else first
    values = draw(st.sampled_from(["xx", "xy", "yx", "yz"]))
    return bundle(first, values[0]), bundle(second, values[1])


def bundle(tree: dict[str, Any], value: str) -> Bundle:
    files = {name: yaml.safe_dump(tree[name]) for name in FILES}
    return Bundle(yaml.safe_dump(tree["root"]), parameters={"p": value}, files=files)


def stacks(engine: Engine, root: str) -> dict[str, Path]:
    """The stacks of a tree, with the resources that lead to them."""
    reader = engine.inline.reader
    names = {
        row.id: (stack.id, row.name)
        for stack in reader.tree(root)
        for row in reader.resource_rows(stack.id)
    }
    owners = {stack.id: stack.owner_resource_id for stack in reader.tree(root)}

    def path(stack: str) -> Path:
        owner = owners[stack]
        return () if owner is None else (*path(names[owner][0]), names[owner][1])

    return {stack: path(stack) for stack in owners}


def done(engine: Engine, known: dict[str, Path], after: int) -> dict[Path, set[str]]:
    """What events tell that was done to each resource."""
    found: dict[Path, set[str]] = {}
    for stack, path in known.items():
        for event in engine.inline.reader.events(stack, after, 1000):
            if event.resource_type:
                found.setdefault((*path, str(event.resource_name)), set()).add(event.action)
    return found


#: What may be done where a plan says that it may become of it.
BETWEEN = {
    "create": ["create"],
    "delete": ["update", "replace", "delete"],
    "update": ["update"],
    "replace": ["update", "replace"],
}


def allowed(
    resources: tuple[Resource, ...], above: Path = (), sure: bool = True, above_type: str = ""
) -> dict[Path, list[set[str]]]:
    """What may be done to each resource: exactly that, or what may become of it."""
    found: dict[Path, list[set[str]]] = {}
    for each in resources:
        entry, path = each.entry, (*above, each.entry.name)
        actions = [entry.action, *BETWEEN.get(entry.may, ())]
        ways = [EVENTS[action] for action in actions]
        if not sure:
            ways.append(set())
        _add(found, path, ways)
        is_sure = sure and entry.action != "none" and entry.may != "delete"
        for nested in each.nested:
            if not nested.inside.is_known:
                assert above_type == GROUP  # one whose turn comes after the first batch
                found[(*path, "*")] = []
            for key, more in allowed(nested.resources, path, is_sure, entry.type).items():
                _add(found, key, more)
        if entry.may in ("create", "delete"):
            found[(*path, "*")] = []
    return found


def _add(found: dict[Path, list[set[str]]], path: Path, ways: list[set[str]]) -> None:
    # several instances of one name: what is done to all of them
    others = found.get(path, [set()])
    found[path] = [one | other for one in ways for other in others]


def is_open(path: Path, ways: dict[Path, Any]) -> bool:
    """Whether an owner above may come or go, so that nothing is told of what is inside."""
    return any((*path[:count], "*") in ways for count in range(1, len(path)))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    store = open_store(MEMORY, sealer=Sealer(make_key()))
    yield Engine(store)
    store.close()


numbers = iter(range(1_000_000))


@settings(max_examples=40)
@given(pair=pairs(), by_file=st.booleans())
def test_what_is_planned_inside_is_what_is_done_inside(
    engine: Engine, pair: tuple[Bundle, Bundle], by_file: bool
) -> None:
    first, second = pair
    name = f"s{next(numbers)}"
    new = CreateStack(name, first)
    plan = engine.preview(new)
    stack = engine.inline.run(new)
    assert stack.state == "CREATE_COMPLETE", stack.status_reason
    known = stacks(engine, stack.id)
    check(plan.resources, done(engine, known, 0))
    action = UpdateStack(name, second)
    plan = engine.preview(action)
    before = engine.inline.reader.last_event()
    ended = engine.inline.run(ApplyPlan(engine.file(plan)) if by_file else action)
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    check(plan.resources, done(engine, known | stacks(engine, stack.id), before))
    assert not engine.preview(action).does_something


def check(resources: tuple[Resource, ...], was_done: dict[Path, set[str]]) -> None:
    """Compare what was planned with what was done."""
    ways = allowed(resources)
    for path, actions in was_done.items():
        assert path in ways or is_open(path, ways), (path, actions)
    for path, possible in ways.items():
        if path[-1] != "*" and not is_open(path, ways):
            assert was_done.get(path, set()) in possible, (path, possible)


LEAF = """
heat_template_version: 2018-08-31
parameters: {p: {type: string}}
conditions: {is_x: {equals: [{get_param: p}, x]}}
resources:
  box: {type: OS::Heat::TestResource, properties: {value: %s}%s}
  random: {type: OS::Heat::RandomString, properties: {length: %s}}
outputs: {out: {value: {get_attr: [random, value]}}}
"""
ROLLING = """
heat_template_version: 2018-08-31
resources:
  g:
    type: OS::Heat::ResourceGroup
    update_policy: {rolling_update: {max_batch_size: 1}}
    properties: {count: %s, resource_def: {type: b.yaml, properties: %s}}
outputs: {out: {value: {get_attr: [g, out]}}}
"""


def turns(engine: Engine, new: tuple[Any, ...], leaf: str, *, by_file: bool) -> tuple[Any, Any]:
    """A rolling update from one member with ``p: y``: the plan, and the stack that it leads to."""
    name = f"s{next(numbers)}"
    old = Bundle(ROLLING % (1, "{p: y}"), files={"b.yaml": LEAF % ("same", "", 8)})
    stack = engine.inline.run(CreateStack(name, old))
    known = stacks(engine, stack.id)
    action = UpdateStack(name, Bundle(ROLLING % new, files={"b.yaml": leaf}))
    plan = engine.preview(action)
    before = engine.inline.reader.last_event()
    ended = engine.inline.run(ApplyPlan(engine.file(plan)) if by_file else action)
    if not plan.fails:
        check(plan.resources, done(engine, known | stacks(engine, stack.id), before))
    return plan, ended


def member(plan: Any, name: str) -> Any:
    (group,) = (each for each in plan.resources if each.entry.name == "g")
    (inside,) = group.nested
    return next(each for each in inside.resources if each.entry.name == name)


@pytest.mark.parametrize("by_file", [True, False])
def test_a_member_that_new_files_reach_before_its_turn_is_known_after_apply(
    engine: Engine, by_file: bool
) -> None:
    leaf = LEAF % ("same", ", condition: is_x", 8)
    plan, ended = turns(engine, (3, "{p: x}"), leaf, by_file=by_file)
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    (nested,) = member(plan, "0").nested
    assert (nested.inside.action, nested.inside.is_known) == ("UPDATE", False)
    (nested,) = member(plan, "1").nested
    assert {each.entry.name: each.entry.action for each in nested.resources} == {
        "box": "create",
        "random": "create",
    }


def test_what_new_files_do_before_a_members_turn_and_at_it_is_told(engine: Engine) -> None:
    plan, ended = turns(engine, (3, "{p: x}"), LEAF % ("other", "", 9), by_file=True)
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    (nested,) = member(plan, "0").nested
    assert {each.entry.name: each.entry.action for each in nested.resources} == {
        "box": "update",
        "random": "replace",
    }


def test_all_in_one_batch_is_known_whatever_the_files(engine: Engine) -> None:
    leaf = LEAF % ("same", ", condition: is_x", 8)
    plan, ended = turns(engine, (1, "{p: x}"), leaf, by_file=True)
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    (nested,) = member(plan, "0").nested
    assert [each.entry.action for each in nested.resources] == ["none", "none"]


def test_a_batch_that_is_known_to_fail_is_in_the_plan(engine: Engine) -> None:
    new = "{p: {type: string}, q: {type: string}}"
    leaf = (LEAF % ("same", "", 8)).replace("{p: {type: string}}", new)
    plan, ended = turns(engine, (3, "{p: x, q: z}"), leaf, by_file=False)
    assert ended.state == "UPDATE_FAILED"
    assert plan.fails
