"""Previews of stacks with nested ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine.preview.test_preview import Loose

from zonda.builtin_resources.groups.resource_group import ResourceGroup
from zonda.core.engine.actions import CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.hooks.errors import UsageError

WEB = """
heat_template_version: 2018-08-31
parameters:
  size: {type: string}
  kind: {type: string, default: plain}
resources:
  db: {type: Test::Box, properties: {value: {get_param: size}, fixed: {get_param: kind}}}
  disk: {type: Test::Box, properties: {value: same}}
outputs:
  size: {value: {get_attr: [db, value]}}
  told: {value: {get_param: kind}}
"""
SITE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: string}
resources:
  web: {type: web.yaml, properties: {size: {get_param: size}}}
outputs:
  size: {value: {get_attr: [web, size]}}
"""
FILES = {"web.yaml": WEB, "site.yaml": SITE}
ONE = "web: {type: web.yaml, properties: {size: %s, kind: %s}}\n"


def shown_of(bench: Any, action: Any) -> dict[str, Any]:
    return json.loads(json.dumps(build_document(build_preview(bench.engine.services, action))))


def update(bench: Any, resources: str, files: dict[str, str] = FILES, **given: Any) -> Any:
    """What a plan of an update shows, as programs read it."""
    return shown_of(bench, UpdateStack("s", bench.bundle(resources, files=files, **given)))


def at(plan: dict[str, Any], *names: str) -> dict[str, Any]:
    """The entry of a resource, by the way down to it."""
    found: dict[str, Any] = {}
    for name in names:
        plans = [plan] if not found else found["nested"]
        found = next(each for one in plans for each in one["resources"] if each["name"] == name)
    return found


def what(plan: dict[str, Any], *names: str) -> tuple[str, str | None]:
    entry = at(plan, *names)
    return entry["action"], entry["may_become"]


def test_a_new_nested_stack_is_shown_with_all_that_is_made_in_it(bench):
    bundle = bench.bundle("site: {type: site.yaml, properties: {size: big}}", files=FILES)
    plan = shown_of(bench, CreateStack("s", bundle))
    assert what(plan, "site", "web", "db") == ("create", None)
    (nested,) = at(plan, "site", "web")["nested"]
    assert nested["stack_path"] == ["site", "web"]
    assert nested["stack"]["action"] == "CREATE"
    assert at(plan, "site", "web", "db")["changes"] == [
        {"path": ["properties", "value"], "kind": "added", "after": "big"},
        {"path": ["properties", "fixed"], "kind": "added", "after": "plain"},
    ]
    assert plan["summary"] == {"create": 4, "unchanged": 0}


def test_an_update_shows_what_changes_inside_and_leaves_out_what_does_not(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    plan = update(bench, ONE % ("big", "x"))
    assert what(plan, "web") == ("update", None)
    assert at(plan, "web")["changes"] == [
        {"path": ["properties", "size"], "kind": "changed", "before": "small", "after": "big"}
    ]
    (nested,) = at(plan, "web")["nested"]
    assert [each["name"] for each in nested["resources"]] == ["db"]
    assert nested["unchanged"] == ["disk"]
    assert nested["parameters"] == [
        {"path": ["size"], "kind": "changed", "before": "small", "after": "big"}
    ]
    assert nested["outputs"] == [
        {"path": ["size"], "kind": "changed", "before": "small", "known_after_apply": True}
    ]
    assert plan["summary"] == {"update": 2, "unchanged": 1}


def test_a_replacement_inside_is_an_update_of_the_owner(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    plan = update(bench, ONE % ("small", "y"))
    assert what(plan, "web") == ("update", None)
    assert what(plan, "web", "db") == ("replace", None)


def test_a_nested_stack_that_nothing_changes_is_not_looked_into(bench, monkeypatch):
    two = ONE + "other: {type: web.yaml, properties: {size: same}}\n"
    bench.create(two % ("small", "x"), files=FILES)
    looked = []
    reader = type(bench.engine.services.reader())
    real = reader.resource_rows
    monkeypatch.setattr(
        reader, "resource_rows", lambda self, key: (looked.append(key), real(self, key))[1]
    )
    plan = update(bench, two % ("big", "x"))
    assert plan["unchanged"] == ["other"]
    inside = {bench.engine.reader.child_row(bench.resource(name).id).id for name in ("web",)}
    assert set(looked) == {bench.stack.id, *inside}


def test_what_goes_goes_with_all_that_is_nested_in_it(bench):
    text = "site: {type: site.yaml, properties: {size: big}}"
    bench.create(text, files=FILES)
    for action in (DeleteStack("s"), UpdateStack("s", bench.bundle("", files=FILES))):
        plan = shown_of(bench, action)
        assert what(plan, "site") == ("delete", None)
        assert what(plan, "site", "web", "disk") == ("delete", None)
        assert plan["summary"] == {"delete": 4, "unchanged": 0}


def test_a_replaced_nested_stack_is_made_anew_and_the_old_one_goes(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    plan = update(bench, "web: {type: 'Test::Box'}")
    assert what(plan, "web") == ("replace", None)
    assert [each["stack"]["action"] for each in at(plan, "web")["nested"]] == ["DELETE"]
    assert what(plan, "web", "db") == ("delete", None)
    bench.update("web: {type: 'Test::Box'}")
    plan = update(bench, ONE % ("small", "x"))
    assert what(plan, "web") == ("replace", None)
    assert [each["stack"]["action"] for each in at(plan, "web")["nested"]] == ["CREATE"]


def test_another_file_is_an_update_of_the_nested_stack(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    plan = update(bench, "web: {type: site.yaml, properties: {size: small}}")
    assert [each["stack"]["action"] for each in at(plan, "web")["nested"]] == ["UPDATE"]
    assert [what(plan, "web", name)[0] for name in ("web", "db", "disk")] == [
        "create",
        "delete",
        "delete",
    ]


def test_a_change_of_a_file_deep_inside_shows_the_way_to_it(bench):
    text = "site: {type: site.yaml, properties: {size: big}}"
    bench.create(text, files=FILES)
    files = {**FILES, "web.yaml": WEB.replace("value: same", "value: other")}
    plan = update(bench, text, files)
    assert what(plan, "site", "web", "disk") == ("update", None)
    assert [reason["kind"] for reason in at(plan, "site")["reasons"]] == ["nested"]
    (nested,) = at(plan, "site", "web")["nested"]
    assert nested["unchanged"] == ["db"]


AROUND = """
a: {type: Test::Box, properties: {value: %s, fixed: %s}}
web: {type: web.yaml, properties: {size: {get_attr: [a, value]}, kind: k}}
b: {type: Test::Box, properties: {value: {get_attr: [web, %s]}}}
"""


def test_what_is_known_later_goes_over_the_border_and_back(bench):
    bench.create(AROUND % ("one", "x", "size"), files=FILES)
    plan = update(bench, AROUND % ("two", "x", "size"))
    assert what(plan, "web") == ("none", "update")
    assert what(plan, "web", "db") == ("none", "update")
    (change,) = at(plan, "web", "db")["changes"]
    assert change == {
        "path": ["properties", "value"],
        "kind": "changed",
        "before": "one",
        "known_after_apply": True,
    }
    assert [reason["names"] for reason in at(plan, "web", "db")["reasons"]] == [["size"]]
    assert what(plan, "b") == ("none", "update")


def test_an_output_that_nothing_open_goes_into_is_known(bench):
    bench.create(AROUND % ("one", "x", "told"), files=FILES)
    plan = update(bench, AROUND % ("two", "x", "told"))
    assert what(plan, "web") == ("none", "update")
    assert "b" in plan["unchanged"]


def test_an_output_of_what_is_not_there_yet_is_known_where_it_only_repeats(bench):
    plan = shown_of(
        bench, CreateStack("s", bench.bundle(AROUND % ("one", "x", "told"), files=FILES))
    )
    (change,) = at(plan, "b")["changes"]
    assert change["after"] == "k"


CONDITIONAL = """
heat_template_version: 2018-08-31
parameters:
  size: {type: string}
conditions:
  is_big: {equals: [{get_param: size}, big]}
resources:
  sometimes: {type: Test::Box, condition: is_big}
  always: {type: Test::Box, properties: {value: {if: [is_big, b, s]}}}
outputs:
  o: {value: x, condition: is_big}
"""


@pytest.mark.parametrize(
    ("size", "sometimes"),
    [
        pytest.param("big", ("none", "delete"), id="there"),
        pytest.param("small", ("none", "create"), id="not-there"),
    ],
)
def test_a_condition_that_is_decided_later(bench, size, sometimes):
    text = """
    a: {type: Test::Box, properties: {value: %s}}
    web: {type: web.yaml, properties: {size: {get_attr: [a, value]}}}
    """
    files = {"web.yaml": CONDITIONAL}
    bench.create(text % size, files=files)
    plan = update(bench, text % "other", files)
    assert what(plan, "web", "sometimes") == sometimes
    assert what(plan, "web", "always") == ("none", "update")
    assert not plan["fails"]


HIDING = """
heat_template_version: 2018-08-31
parameters:
  p: {type: string, hidden: true}
resources:
  a: {type: Test::Box, properties: {value: {get_param: p}}}
outputs:
  o: {value: {get_param: p}}
"""
TAKING = """
heat_template_version: 2018-08-31
parameters:
  p: {type: string}
resources:
  a: {type: Test::Box, properties: {value: {list_join: ['', [x, {get_param: p}]]}}}
  below: {type: hiding.yaml, properties: {p: {get_param: p}}}
outputs:
  o: {value: {get_param: p}}
"""


def test_hidden_values_stay_hidden_over_the_border(bench):
    files = {"hiding.yaml": HIDING, "taking.yaml": TAKING}
    rest = "parameters: {p: {type: string, hidden: true}}\n"
    text = """
    web: {type: taking.yaml, properties: {p: {get_param: p}}}
    b: {type: Test::Box, properties: {value: {get_attr: [web, o]}}}
    """
    secrets = "first-secret", "second-secret"
    new = CreateStack("s", bench.bundle(text, rest=rest, files=files, parameters={"p": secrets[0]}))
    services = bench.engine.services
    kept = [format_plan(build_preview(services, new), bench.store.sealer, services.definitions)]
    bench.run(new)
    action = UpdateStack(
        "s", bench.bundle(text, rest=rest, files=files, parameters={"p": secrets[1]})
    )
    found = build_preview(services, action)
    kept.append(format_plan(found, bench.store.sealer, services.definitions))
    for secret in secrets:
        assert not any(secret in each for each in kept)
    plan = json.loads(kept[1])
    assert [change["hidden"] for change in at(plan, "web", "below", "a")["changes"]] == ["hidden"]
    (nested,) = at(plan, "web")["nested"]
    assert [change["hidden"] for change in nested["parameters"]] == ["hidden"]


NARROW = """
heat_template_version: 2018-08-31
parameters:
  size: {type: string, constraints: [{length: {max: 3}}]}
resources:
  a: {type: Test::Box, properties: {frozen: {get_param: size}}}
"""


def test_what_fails_inside_is_told_with_the_way_to_it(bench):
    text = """
    web: {type: narrow.yaml, properties: {size: %s}}
    b: {type: Test::Box, properties: {value: {get_resource: web}}}
    """
    files = {"narrow.yaml": NARROW}
    bench.create(text % "one", files=files)
    plan = update(bench, text % "two", files)
    assert plan["fails"]
    assert what(plan, "web", "a") == ("fail", None)
    assert any("web/a" in note for note in plan["notes"])


def test_a_part_is_named_at_the_root(bench):
    two = ONE + "other: {type: web.yaml, properties: {size: %s}}\n"
    bench.create(two % ("a", "x", "b"), files=FILES)
    bundle = bench.bundle(two % ("c", "x", "d"), files=FILES)
    plan = shown_of(bench, UpdateStack("s", bundle, targets=("other",)))
    assert what(plan, "other", "db") == ("update", None)
    assert plan["selection"]["left_alone"] == ["web"]
    with pytest.raises(UsageError) as caught:
        shown_of(bench, UpdateStack("s", bundle, targets=("web/db",)))
    assert "nested" in caught.value.hint


GROUP = """
a: {type: Test::Box, properties: {value: %s}}
g:
  type: OS::Heat::ResourceGroup
  update_policy: {rolling_update: {max_batch_size: 1}}
  properties:
    count: %s
    resource_def: {type: Test::Box, properties: {value: %s, fixed: fixed-%%index%%}}
b: {type: Test::Any, properties: {value: {get_attr: [g, %s]}}}
"""


@pytest.fixture
def groups(bench):
    """A bench with groups, and a type that takes any value."""
    bench.types |= {"OS::Heat::ResourceGroup": ResourceGroup, "Test::Any": Loose}
    bench.restart()
    return bench


def test_several_batches_are_one_change(groups):
    groups.create(GROUP % ("one", 3, "x", "refs"))
    plan = update(groups, GROUP % ("one", 4, "y", "refs"))
    actions = {name: what(plan, "g", name)[0] for name in "0123"}
    assert actions == {"0": "update", "1": "update", "2": "update", "3": "create"}
    assert plan["summary"]["update"] == 4
    plan = update(groups, GROUP % ("one", 2, "x", "refs"))
    assert what(plan, "g", "2") == ("delete", None)
    assert plan["resources"][0]["nested"][0]["unchanged"] == ["0", "1"]


def test_what_members_are_given_later_is_open_inside(groups):
    one, two = (GROUP % (value, 2, "{get_attr: [a, value]}", "value") for value in ("1", "2"))
    groups.create(one)
    plan = update(groups, two)
    assert what(plan, "g") == ("none", "update")
    assert what(plan, "g", "0") == ("none", "update")
    (change,) = at(plan, "g", "0")["changes"]
    assert change["known_after_apply"]


def test_the_members_of_a_group_are_asked_what_they_will_show(groups):
    groups.create(GROUP % ("one", 2, "x", "refs"))
    plan = update(groups, GROUP % ("one", 2, "y", "refs"))
    assert "b" in plan["unchanged"]
    plan = update(groups, GROUP % ("one", 3, "x", "refs"))
    assert what(plan, "b") == ("none", "update")


def test_a_number_of_members_that_is_known_later(groups):
    two, three = (GROUP % (value, "{get_attr: [a, value]}", "x", "refs") for value in (2, 3))
    groups.create(two)
    plan = update(groups, three)
    assert what(plan, "g") == ("none", "update")
    (nested,) = at(plan, "g")["nested"]
    assert nested["known_after_apply"]
    assert nested["resources"] == []


def test_what_a_nested_template_hides_itself_is_hidden_above(bench):
    files = {"own.yaml": HIDING.replace("hidden: true", "hidden: true, default: %s")}
    text = """
    web: {type: own.yaml}
    b: {type: Test::Box, properties: {value: {get_attr: [web, o]}}}
    """
    rest = "outputs: {o: {value: {get_attr: [web, o]}}}\n"
    first, second = ({"own.yaml": files["own.yaml"] % f"{each}-secret"} for each in "ab")
    bench.create(text, rest=rest, files=first)
    services = bench.engine.services
    found = build_preview(services, UpdateStack("s", bench.bundle(text, rest=rest, files=second)))
    kept = format_plan(found, bench.store.sealer, services.definitions)
    assert "a-secret" not in kept
    assert "b-secret" not in kept
    plan = json.loads(kept)
    assert [change["hidden"] for change in at(plan, "b")["changes"]] == ["hidden"]
    assert what(plan, "b") == ("update", None)
