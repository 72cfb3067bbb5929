"""Groups, chains and members by key in the engine: stacks of their own, made and changed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import ProtectStack
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import Conflict, ZondaError

from .lives import Life, template

TEST, VALUE = "OS::Heat::TestResource", "OS::Heat::Value"


def group(count: int, value: str = "n%index%", policy: str = "{}", more: str = "") -> str:
    return f"""
        resources:
          g:
            type: OS::Heat::ResourceGroup
            update_policy: {policy}
            properties:
              count: {count}
              resource_def: {{type: OS::Heat::TestResource, properties: {{value: "{value}"}}}}
              {more}
        outputs:
          list: {{value: {{get_attr: [g, output]}}}}
          map: {{value: {{get_attr: [g, attributes, output]}}}}
          refs: {{value: {{get_attr: [g, refs]}}}}
          removed: {{value: {{get_attr: [g, removed_rsrc_list]}}}}
        """


# -- OS::Heat::ResourceGroup --------------------------------------------------------------------


def test_a_group_is_made_changed_and_removed(life: Life) -> None:
    assert life.create(group(2)).state == "CREATE_COMPLETE"
    assert life.outputs["map"] == {"0": "n0", "1": "n1"}
    before = {name: member.id for name, member in life.members("g").items()}
    child = life.child("g")
    assert life.update(group(3, "m%index%")).state == "UPDATE_COMPLETE"
    assert life.outputs["list"] == ["m0", "m1", "m2"]
    after = {name: member.id for name, member in life.members("g").items()}
    assert {name: after[name] for name in before} == before
    assert life.child("g").id == child.id
    assert life.update(group(0)).state == "UPDATE_COMPLETE"
    assert life.outputs == {"list": [], "map": {}, "refs": [], "removed": []}
    assert life.stack.delete().state == "DELETE_COMPLETE"
    assert all(row.action == "DELETE" for row in life.engine.reader.tree(child.root_id or ""))


@pytest.mark.parametrize("policy", ["{}", "{rolling_update: {max_batch_size: 1}}"])
def test_a_group_that_would_lose_a_protected_member_is_left_as_it_is(
    life: Life, policy: str
) -> None:
    more = "  x: {type: OS::Heat::TestResource, properties: {value: %s}}\n        outputs:"

    def wanted(count: int, value: str) -> str:
        return group(count, value, policy).replace("outputs:", more % value)

    life.create(wanted(3, "a"))
    life.run(ProtectStack(life.child("g").name, ("2",)))
    before = life.now
    with pytest.raises(Conflict, match=r"^2 \(of test-g-.*\) in stack test is protected"):
        life.update(wanted(1, "b"))
    assert life.now == before
    life.run(ProtectStack(life.child("g").name, ("2",), on=False))
    assert life.update(wanted(1, "b")).state == "UPDATE_COMPLETE"


def test_a_group_of_a_thousand_grows_and_shrinks_by_one(life: Life) -> None:
    life.create(group(1000))
    for count, member, action in ((1001, "1000", "CREATE"), (999, "1000", "DELETE")):
        since = life.now
        assert life.update(group(count)).state == "UPDATE_COMPLETE"
        touched = {(name, what) for name, what in life.touched("g", since)}
        assert (member, action) in touched
        assert len(touched) == abs(count - 1000) + (count < 1000)
        assert len(life.outputs["list"]) == count


@pytest.mark.sqlite
def test_growing_by_one_takes_as_many_statements_however_large_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    counts = []
    for size in (20, 400):
        stack = InlineStack(tmp_path)
        stack.create(template(group(size)))
        for after in (size + 1, size - 1):
            del statements[:]
            stack.update(template(group(after)))
            counts.append(len(statements))
        stack.close()
    assert counts[0] > 20  # they are counted
    assert counts[:2] == counts[2:]


def test_members_are_made_in_batches(life: Life) -> None:
    started = life.stack.clock.now()
    life.create(group(5, policy="{batch_create: {max_batch_size: 2, pause_time: 100}}"))
    assert life.outputs["list"] == [f"n{index}" for index in range(5)]
    born = sorted(member.created_at - started for member in life.members("g").values())
    assert [round(age) // 100 for age in born] == [0, 0, 1, 1, 2]


def test_members_are_changed_in_batches_the_last_ones_first(life: Life) -> None:
    policy = "{rolling_update: {max_batch_size: 2, pause_time: 100, min_in_service: 3}}"
    life.create(group(4, policy=policy))
    life.update(group(4, "m%index%", policy=policy))
    assert life.outputs["list"] == ["m0", "m1", "m2", "m3"]
    changed = {name: member.updated_at or 0 for name, member in life.members("g").items()}
    assert changed["3"] + 90 < changed["1"]
    assert changed["1"] == changed["0"] or changed["1"] < changed["0"] + 10


def test_a_failed_rolling_update_leaves_the_rest_alone_and_goes_on_later(life: Life) -> None:
    policy = "{rolling_update: {}}"
    life.create(group(3, policy=policy))
    broken = group(3, 'x", fail: true, update_replace_value: "', policy=policy)
    failed = life.update(broken)
    assert failed.state == "UPDATE_FAILED"
    assert "resources.g.resources[2]: Test Resource failed 2" in failed.status_reason
    assert life.outputs["list"][:2] == ["n0", "n1"]
    assert life.update(group(3, "m%index%", policy=policy)).state == "UPDATE_COMPLETE"
    assert life.outputs["list"] == ["m0", "m1", "m2"]


def test_a_group_is_rolled_back(life: Life) -> None:
    life.create(group(2))
    failed = life.update(group(3, 'x", fail: true, update_replace_value: "'), rollback=True)
    assert failed.state == "ROLLBACK_COMPLETE"
    assert life.outputs["list"] == ["n0", "n1"]


def test_removal_policies_take_references(life: Life) -> None:
    life.create(group(3))
    reference = life.outputs["refs"][1]
    more = f"removal_policies: [{{resource_list: [{reference}]}}]"
    life.update(group(2, more=more))
    assert life.outputs["map"] == {"0": "n0", "2": "n2"}
    assert life.outputs["removed"] == ["1"]
    life.update(group(3))
    assert life.outputs["map"] == {"0": "n0", "2": "n2", "3": "n3"}


def test_the_life_of_a_group(life: Life) -> None:
    life.create(group(2))
    assert life.stack.suspend().state == "SUSPEND_COMPLETE"
    assert {member.state for member in life.members("g").values()} == {"SUSPEND_COMPLETE"}
    assert life.stack.resume().state == "RESUME_COMPLETE"
    assert life.outputs["list"] == ["n0", "n1"]


def test_who_reads_a_group_is_told_that_it_has_changed(life: Life) -> None:
    reader = "r: {type: OS::Heat::Value, properties: {value: {get_attr: [g, attributes, output]}}}"
    output = "read: {value: {get_attr: [r, value]}}"
    head, end = "resources:\n          ", " " * 10
    for count in (1, 2):
        text = group(count).replace(head, f"{head}{reader}\n{end}", 1).rstrip()
        (life.create if count == 1 else life.update)(f"{text}\n{end}{output}\n")
    assert life.outputs["read"] == {"0": "n0", "1": "n1"}


def test_all_attributes_at_once(life: Life) -> None:
    life.create(group(1).rstrip() + "\n          all: {value: {get_attr: [g]}}\n")
    found = life.outputs["all"]
    assert found["refs"] == life.outputs["refs"]
    assert found["refs_map"] == {"0": life.outputs["refs"][0]}
    assert found["removed_rsrc_list"] == []


# -- OS::Heat::ResourceChain --------------------------------------------------------------------


def chain(types: str, more: str = "concurrent: false", value: str = "v") -> str:
    return f"""
        resources:
          c:
            type: OS::Heat::ResourceChain
            properties:
              resources: [{types}]
              resource_properties: {{value: {value}}}
              {more}
        outputs:
          refs: {{value: {{get_attr: [c, refs]}}}}
          second: {{value: {{get_attr: [c, refs, 1]}}}}
        """


def test_a_chain_changes_by_position_and_in_place(life: Life) -> None:
    life.create(chain(f"{TEST}, {TEST}"))
    first, second = life.outputs["refs"]
    assert life.outputs["second"] == second
    life.update(chain(f"{TEST}, {TEST}, {TEST}", "concurrent: true"))
    assert life.outputs["refs"][:2] == [first, second]
    since = life.now
    life.update(chain(f"{TEST}, {VALUE}", "concurrent: true"))
    assert life.outputs["refs"][0] == first
    assert life.outputs["second"] != second
    assert {name for name, _ in life.touched("c", since)} == {"1", "2"}
    since = life.now
    life.update(chain(f"{TEST}, {VALUE}", "concurrent: true", value="w"))
    assert life.outputs["refs"][0] == first
    assert life.touched("c", since) == {("0", "UPDATE"), ("1", "UPDATE")}


@pytest.mark.parametrize(
    ("concurrent", "others"),
    [
        pytest.param("false", {"INIT_COMPLETE"}, id="one-after-the-other"),
        pytest.param("true", {"CREATE_COMPLETE"}, id="concurrent"),
    ],
)
def test_a_failure_ends_a_chain_but_not_what_is_concurrent(
    inline: InlineStack, concurrent: str, others: set[str]
) -> None:
    broken = "resources: {t: {type: OS::Heat::TestResource, properties: {fail: true}}}"
    fine = "resources: {t: {type: OS::Heat::TestResource}}"
    life = Life(inline, {"bad.yaml": broken, "good.yaml": fine})
    text = chain("bad.yaml, good.yaml, good.yaml", f"concurrent: {concurrent}")
    failed = life.create(text.replace("resource_properties: {value: v}", ""))
    assert failed.state == "CREATE_FAILED"
    assert "resources.c.resources[0].resources.t: Test Resource failed t" in failed.status_reason
    members = life.members("c")
    assert members["0"].state == "CREATE_FAILED"
    assert {members[name].state for name in ("1", "2") if name in members} <= others


def test_a_chain_of_a_hundred(life: Life) -> None:
    assert life.create(chain(", ".join([TEST] * 100))).state == "CREATE_COMPLETE"
    assert len(life.outputs["refs"]) == 100
    for length, action in ((101, "CREATE"), (100, "DELETE")):
        since = life.now
        assert life.update(chain(", ".join([TEST] * length))).state == "UPDATE_COMPLETE"
        assert life.touched("c", since) == {("100", action)}
        assert len(life.outputs["refs"]) == length


def test_a_property_that_one_member_does_not_know_is_a_fault(life: Life) -> None:
    text = chain(f"{VALUE}, {TEST}").replace("value: v", "value: v, type: string")
    with pytest.raises(ZondaError, match="Unknown Property type"):
        life.create(text)


STEPS = """
    parameters:
      servers: {type: json, default: {one: 192.0.2.1}}
      ControllerDeploymentSteps:
        type: json
        default:
          step1: [controller/loadbalancer.yaml]
          step2: [controller/db.yaml, controller/rabbit.yaml]
          step3: [controller/keystone.yaml, controller/glance-api.yaml]
    resources:
      DeploymentStep1:
        type: OS::Heat::ResourceChain
        properties:
          resources: {get_param: [ControllerDeploymentSteps, step1]}
          resource_properties:
            servers: {get_param: servers}
      DeploymentStep2:
        type: OS::Heat::ResourceChain
        properties:
          resources: {get_param: [ControllerDeploymentSteps, step2]}
          resource_properties:
            servers: {get_param: servers}
    outputs:
      one: {value: {get_attr: [DeploymentStep1, done]}}
      two: {value: {get_attr: [DeploymentStep2, done]}}
    """


def test_the_steps_of_the_specification(inline: InlineStack) -> None:
    step = """
        parameters: {servers: {type: json}}
        resources: {t: {type: OS::Heat::Value, properties: {value: {get_param: servers}}}}
        outputs: {done: {value: {get_attr: [t, value]}}}
        """
    names = ("loadbalancer", "db", "rabbit")
    life = Life(inline, {f"controller/{name}.yaml": step for name in names})
    assert life.create(STEPS).state == "CREATE_COMPLETE"
    servers = {"one": "192.0.2.1"}
    assert life.outputs == {"one": [servers], "two": [servers, servers]}
    types = [member.type for member in life.members("DeploymentStep2").values()]
    assert types == ["controller/db.yaml", "controller/rabbit.yaml"]
    since = life.now
    life.update(STEPS.replace("controller/rabbit.yaml", "controller/db.yaml"))
    assert {name for name, _ in life.touched("DeploymentStep2", since)} == {"1"}


# -- Zonda::ForEach -----------------------------------------------------------------------------


def each(keys: str, value: str = "%key% has %value.size%") -> str:
    return f"""
        resources:
          f:
            type: Zonda::ForEach
            properties:
              for_each: {keys}
              resource_def: {{type: {TEST}, properties: {{value: "{value}"}}}}
        outputs:
          map: {{value: {{get_attr: [f, output]}}}}
          one: {{value: {{get_attr: [f, resource.c, output]}}}}
          refs: {{value: {{get_attr: [f, refs_map]}}}}
          keys: {{value: {{get_attr: [f, keys]}}}}
        """


def test_removing_one_in_the_middle_removes_only_that_one(life: Life) -> None:
    life.create(each("{a: {size: 1}, b: {size: 2}, c: {size: 3}}"))
    assert life.outputs["map"] == {"a": "a has 1", "b": "b has 2", "c": "c has 3"}
    assert life.outputs["one"] == "c has 3"
    before, since = life.outputs["refs"], life.now
    assert life.update(each("{a: {size: 1}, c: {size: 3}}")).state == "UPDATE_COMPLETE"
    assert life.outputs["refs"] == {name: before[name] for name in ("a", "c")}
    assert life.touched("f", since) == {("b", "DELETE")}
    assert life.outputs["keys"] == ["a", "c"]


def test_keys_may_come_from_another_resource(life: Life) -> None:
    text = each("{get_attr: [src, value]}", "%key%").replace(
        "resources:\n",
        f"resources:\n          src: {{type: {VALUE}, properties: {{value: [x, c]}}}}\n",
    )
    assert life.create(text).state == "CREATE_COMPLETE"
    assert life.outputs["map"] == {"x": "x", "c": "c"}
