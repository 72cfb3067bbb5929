"""Reads of zonda's own API: what may be asked, by whom, and in which form."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.api.zonda.routes import ALL_READS
from zonda.core.wire.codec import decode

from .conftest import TEMPLATE, Own

#: A value for each argument of a read that is no id.
BUNDLE = {"template": TEMPLATE}
GIVEN: dict[str, Any] = {
    "example": True,
    "version": "2018-08-31",
    "patterns": [],
    "conditions": True,
    "nested": True,
    "wanted": False,
    "absent": True,
    "after": 0,
    "limit": 5,
    "offset": 0,
    "beginning": "0",
    "seconds": 0,
    "seen": 0,
    "refresh": False,
    "reveal": False,
    "keep": False,
    "outside": [],
    "ignore_unknown": False,
    "all_given": False,
    "type_name": "OS::Heat::TestResource",
    "resource": None,
    "given_too": False,
    "generation": 1,
    "since": 0,
    "names": ["one"],
    "depth": 1,
    "first": None,
    "second": None,
    "with_secrets": False,
    "key": "x",
    "at": ["resources"],
    "bundle": BUNDLE,
}


def test_hello_says_whose_project_it_is(own: Own) -> None:
    found = own.send("GET", "hello").body

    assert (found["project"], found["user"], found["is_bound"]) == ("p1", "ann", True)
    assert Own(own.api, "").send("GET", "hello").status == 401


@pytest.mark.parametrize("name", sorted(ALL_READS))
def test_what_is_of_another_project_is_not_there(own: Own, name: str) -> None:
    """Every read with every id of another project says what it says of one that does not exist."""
    reader = own.api.app.reader
    try:
        stack = reader.stack("not-for-p1", "p2").id
    except Exception:
        stack = Own(own.api, "p2").create("not-for-p1")
    resource = reader.list_resources(stack)[0].id
    template = reader.stack_by_id(stack).template_id
    ids = {"stack": stack, "root": stack, "name": stack, "resource_id": resource}
    ids |= {"template_id": template, "check_id": "none"}

    told = _ask(own, name, ids)
    unknown = _ask(own, name, dict.fromkeys(ids, "0" * 8))

    assert told.status == unknown.status
    assert "not-for-p1" not in str(told.body)
    assert "swordfish" not in str(told.body)
    if told.status == 404:
        shown = str(told.body)
        for key in ids.values():
            shown = shown.replace(key, "0" * 8)
        assert shown == str(unknown.body)


def _ask(own: Own, name: str, ids: dict[str, Any]) -> Any:
    import inspect

    expected = [*inspect.signature(ALL_READS[name].function).parameters][1:]
    action = f'{{"action": "DeleteStack", "stack": "{ids["stack"]}"}}'
    given = {**GIVEN, **ids, "action": action}
    if name == "templates.explain_type":
        given["resource"] = ""
    if name == "inspector.build_template_graph":
        given["name"] = "x"
    return own.read(name, **{key: given[key] for key in expected})


def test_hidden_values_are_for_those_who_may_write(own: Own) -> None:
    stack = own.create("hiding")
    plain: dict[str, Any] = {"stack": stack, "refresh": False}

    assert decode(own.read("stacks.outputs", **plain, reveal=False).body["result"])[0].value == (
        "(hidden)"
    )
    reader = Own(own.api, "p1/reader")
    assert reader.read("stacks.outputs", **plain, reveal=True).status == 403
    assert reader.read("exporter.export", stack=stack, with_secrets=True).status == 403
    assert reader.read("exporter.read_sources", stack=stack, with_secrets=True).status == 403
    assert "swordfish" in str(own.read("stacks.outputs", **plain, reveal=True).body)


@pytest.mark.parametrize("name", sorted(ALL_READS))
def test_no_read_shows_a_hidden_value(own: Own, name: str) -> None:
    reader = own.api.app.reader
    try:
        stack = reader.stack("secretive", "p1").id
    except Exception:
        stack = own.create("secretive")
    resource = reader.list_resources(stack)[0]
    template = reader.stack_by_id(stack).template_id
    ids = {"stack": stack, "root": stack, "name": "one", "resource_id": resource.id}
    ids |= {"template_id": template, "check_id": "none"}

    assert "swordfish" not in str(_ask(own, name, ids).body)


def test_arguments_have_their_types(own: Own) -> None:
    for body in ([], {"name": 1}, {}, {"name": "x", "more": 1}):
        assert own.send("POST", "p1/read/stacks.find", body).status == 400
    assert own.read("stacks.nothing").status == 404
    assert (
        own.read("templates.validate", bundle={"template": 1}, ignore_unknown=False).status == 400
    )


@pytest.mark.parametrize("types", [{"": {}}, {"a": {"text": "c"}}, {"a": {"b": "c"}}, [], {"a": 1}])
def test_types_of_a_bundle_without_their_texts_are_refused(own: Own, types: Any) -> None:
    bundle = {"template": "heat_template_version: 2018-08-31", "types": types}
    found = own.read("templates.list_parameters", bundle=bundle, given_too=True)
    assert (found.status, found.error["message"]) == (400, "The bundle's types cannot be read.")
