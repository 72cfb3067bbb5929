"""Creation, update, deletion and actions: rows of the contract."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

EMPTY = {"heat_template_version": "2018-08-31"}
NEED = {**EMPTY, "parameters": {"need": {"type": "string"}}}
LIMITED = {
    **EMPTY,
    "parameters": {
        "p": {"type": "string", "default": "ab", "constraints": [{"length": {"max": 3}}]}
    },
}


def with_resource(**resource: Any) -> dict[str, Any]:
    return {**EMPTY, "resources": {"a": {"type": "OS::Heat::TestResource", **resource}}}


def test_a_creation_is_answered_with_the_place_of_the_stack(api: Any) -> None:
    made = api("POST", "/stacks", {"stack_name": "c1", "template": EMPTY})
    stack = made.body["stack"]
    assert (made.status, set(stack)) == (201, {"id", "links"})
    assert made.headers["Location"] == f"http://heat.example:8004/v1/p1/stacks/c1/{stack['id']}"
    assert stack["links"] == [{"href": made.headers["Location"], "rel": "self"}]
    assert api("GET", made.headers["Location"]).body["stack"]["stack_name"] == "c1"


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        ({}, "HTTPBadRequest", "No stack name specified"),
        ({"stack_name": ""}, "HTTPBadRequest", "No stack name specified"),
        ({"stack_name": 7}, "StackValidationFailed", "must be a string"),
        ({"stack_name": "7up", "template": EMPTY}, "StackValidationFailed", "7up"),
        ({"stack_name": "a b", "template": EMPTY}, "StackValidationFailed", "a b"),
        ({"stack_name": "x" * 256, "template": EMPTY}, "StackValidationFailed", "255"),
        ({"stack_name": "b"}, "HTTPBadRequest", "No template specified"),
        ({"stack_name": "b", "template": {}}, "HTTPBadRequest", "No template specified"),
        ({"stack_name": "b", "template": 7}, "HTTPBadRequest", "neither an object nor a text"),
        ({"stack_name": "b", "template": "{"}, None, "Template not in valid format"),
        (
            {"stack_name": "b", "template_url": "file:///etc/passwd"},
            "HTTPBadRequest",
            "Could not retrieve template: Invalid URL scheme file",
        ),
        (
            {"stack_name": "b", "template": EMPTY, "converge": True},
            "HTTPBadRequest",
            "converge flag only supported in stack update",
        ),
        (
            {"stack_name": "b", "template": EMPTY, "parameters": {"nope": 1}},
            "UnknownUserParameter",
            "The Parameter (nope) was not defined in template.",
        ),
        (
            {"stack_name": "b", "template": NEED},
            "UserParameterMissing",
            "The Parameter (need) was not provided.",
        ),
        (
            {"stack_name": "b", "template": LIMITED, "parameters": {"p": "abcd"}},
            "StackValidationFailed",
            "Parameter 'p' is invalid: ",
        ),
        (
            {"stack_name": "b", "template": EMPTY, "environment": {"x": 1}},
            None,
            'environment has wrong section "x"',
        ),
        (
            {"stack_name": "b", "template": EMPTY, "environment_files": ["e.yaml"]},
            "HTTPBadRequest",
            "e.yaml",
        ),
        ({"stack_name": "b2", "template": EMPTY, "files": []}, None, None),
        ({"stack_name": "b", "template": EMPTY, "files": [1]}, "HTTPBadRequest", "files"),
        ({"stack_name": "b", "template": EMPTY, "parameters": "x"}, "HTTPBadRequest", "parameters"),
        ({"stack_name": "b", "template": EMPTY, "tags": "a,,b"}, "ValueError", "empty"),
        ({"stack_name": "b", "template": EMPTY, "tags": "x" * 81}, "ValueError", "80"),
        (
            {"stack_name": "b", "template": EMPTY, "timeout_mins": "x"},
            "ValueError",
            "Only integer is acceptable by 'timeout_mins'.",
        ),
        (
            {"stack_name": "b", "template": EMPTY, "timeout_mins": -1},
            "ValueError",
            "Value '-1' is invalid for 'timeout_mins' which only accepts non-negative integer.",
        ),
        (
            {"stack_name": "b", "template": EMPTY, "disable_rollback": "maybe"},
            "ValueError",
            'Unrecognized value "maybe" for "disable_rollback", acceptable values are: true, false',
        ),
        (
            {"stack_name": "b", "adopt_stack_data": "{}"},
            "HTTPBadRequest",
            "Invalid adopt data: 'template'",
        ),
        (
            {"stack_name": "b", "adopt_stack_data": json.dumps({"template": EMPTY, "tags": 5})},
            "ValueError",
            "tags must be a text with commas",
        ),
        (
            {"stack_name": "b", "adopt_stack_data": json.dumps({"template": EMPTY, "files": [1]})},
            "HTTPBadRequest",
            "files must be a map",
        ),
        (
            {"stack_name": "b", "template_url": "http://[::1"},
            "HTTPBadRequest",
            "Could not retrieve template: Invalid IPv6 URL",
        ),
        (
            {"stack_name": "b", "template": {"heat_template_version": "x"}},
            "InvalidTemplateVersion",
            'The template version is invalid: "heat_template_version: x". '
            '"heat_template_version" should be one of: ',
        ),
        (
            {"stack_name": "b", "template": {**EMPTY, "bogus": 1}},
            None,
            "The template section is invalid: bogus",
        ),
        (
            {"stack_name": "b", "template": {**EMPTY, "resources": {"a": {}}}},
            None,
            "Each resource must contain a type key.",
        ),
        (
            {"stack_name": "b", "template": with_resource(zzz=1)},
            None,
            '"zzz" is not a valid keyword inside a resource definition',
        ),
        (
            {"stack_name": "b", "template": with_resource(properties={"zzz": 1})},
            "StackValidationFailed",
            "Property error: : resources.a.properties: : Unknown Property zzz",
        ),
        (
            {
                "stack_name": "b",
                "template": with_resource(properties={"value": {"get_resource": "zz"}}),
            },
            "InvalidTemplateReference",
            'The specified reference "zz" (in a.Properties.value) is incorrect.',
        ),
        (
            {"stack_name": "b", "template": with_resource(type="OS::No::Such")},
            None,
            "The Resource Type (OS::No::Such) could not be found.",
        ),
        (
            {"stack_name": "b", "template": with_resource(type="OS::Nova::Server")},
            "ResourceTypeUnavailable",
            "HEAT-E99001 Service nova is not available for resource type OS::Nova::Server, reason:",
        ),
        (
            {"stack_name": "b", "template": with_resource(depends_on="a")},
            "CircularDependencyException",
            "Circular Dependency Found: ",
        ),
        (
            {"stack_name": "b", "template": with_resource(type="child.yaml")},
            None,
            'Could not fetch remote template "child.yaml": Invalid URL scheme ',
        ),
    ],
)
def test_what_a_creation_is_refused_for(
    api: Any, body: dict[str, Any], kind: str | None, says: str | None
) -> None:
    reply = api("POST", "/stacks", body)
    if says is None:
        assert reply.status == 201
        return
    assert (reply.status, reply.body["title"]) == (400, "Bad Request"), reply.body
    assert says in reply.message
    assert kind in (None, reply.kind)


def test_a_type_for_administrators_is_forbidden_to_a_member(api: Any) -> None:
    body = {"stack_name": "b", "template": with_resource(type="OS::Nova::Flavor")}
    reply = api("POST", "/stacks", body)
    assert (reply.status, reply.kind) == (403, "Forbidden")
    assert reply.message == "You are not authorized to use resource_types:OS::Nova::Flavor."
    assert api.become("p1/admin")("POST", "/stacks", body).status == 400


def test_a_name_in_use_is_a_conflict(api: Any) -> None:
    api.create("pr1")
    reply = api("POST", "/stacks", {"stack_name": "pr1", "template": EMPTY})
    assert (reply.status, reply.kind) == (409, "StackExists")
    assert reply.message == "The Stack (pr1) already exists."


def test_errors_of_a_template_come_with_places_of_ours(api: Any) -> None:
    text = "heat_template_version: 2018-08-31\nresources:\n  a: {type: No::Such}\n"
    reply = api("POST", "/stacks", {"stack_name": "b", "template": text})
    assert reply.body["zonda"]["errors"][0]["place"] == "template:3:7"


def test_environment_files_are_merged_in_order_and_win(api: Any) -> None:
    path = api.create(
        "envs",
        NEED,
        environment={"parameters": {"need": "ignored"}},
        environment_files=["one.yaml", "two.yaml"],
        files={"one.yaml": "parameters: {need: one}", "two.yaml": "parameters: {need: two}"},
    )
    assert api("GET", path).body["stack"]["parameters"]["need"] == "two"


@pytest.mark.parametrize(
    ("given", "shown"),
    [({}, True), ({"disable_rollback": False}, False), ({"disable_rollback": "TRUE"}, True)],
)
def test_rollback_is_off_unless_it_is_asked_for(api: Any, given: Any, shown: bool) -> None:
    path = api.create(f"rollback{len(str(given))}", EMPTY, **given)
    assert api("GET", path).body["stack"]["disable_rollback"] is shown


@pytest.mark.parametrize(("given", "shown"), [(None, None), (0, None), (7, 7), ("8", 8)])
def test_the_time_of_a_stack_is_shown_where_it_was_given(
    api: Any, given: int | str | None, shown: int | None
) -> None:
    path = api.create(f"time{given}", EMPTY, timeout_mins=given)
    assert api("GET", path).body["stack"]["timeout_mins"] == shown
    assert api("PATCH", path, {"timeout_mins": 9}).status == 202
    assert api("GET", path).body["stack"]["timeout_mins"] == 9


def test_a_whole_update_forgets_what_it_does_not_bring(api: Any) -> None:
    path = api.create("put", parameters={"text": "mine"}, tags="x")
    template = json.loads(api("GET", f"{path}/template").body and "null") or EMPTY
    assert api("PUT", path, {"template": template}).status == 202
    api.wait(path)
    stack = api("GET", path).body["stack"]
    assert (stack["stack_status"], stack["tags"]) == ("UPDATE_COMPLETE", [])
    assert "text" not in stack["parameters"]


@pytest.mark.parametrize(("converge", "status"), [(True, 202), ("true", 202), ("maybe", 400)])
def test_an_update_may_ask_to_converge(api: Any, converge: Any, status: int) -> None:
    path = api.create(f"converge-{converge}", template=EMPTY)
    assert api("PUT", path, {"template": EMPTY, "converge": converge}).status == status
    assert api("PATCH", path, {"converge": converge}).status == status


def test_a_whole_update_needs_a_template(api: Any) -> None:
    path = api.create("put2", EMPTY)
    reply = api("PUT", path, {})
    assert (reply.status, reply.message) == (400, "No template specified")


def test_a_patch_keeps_what_it_does_not_bring(api: Any) -> None:
    path = api.create("patch", parameters={"names": "x,y"}, tags="x")
    body = {"parameters": {"text": "two", "unknown": "dropped"}}
    assert api("PATCH", path, body).status == 202
    api.wait(path)
    stack = api("GET", path).body["stack"]
    assert stack["stack_status"] == "UPDATE_COMPLETE"
    assert stack["parameters"]["text"] == "two"
    assert stack["parameters"]["names"] == '["x", "y"]'
    assert stack["tags"] == ["x"]
    assert api("PATCH", path, {}).status == 202


def test_the_environment_of_a_patch_comes_on_top_of_the_stored_one(api: Any) -> None:
    template = {
        **EMPTY,
        "parameters": {"p": {"type": "string"}, "q": {"type": "string"}},
        "resources": {"a": {"type": "My::T"}, "b": {"type": "My::U"}},
    }
    registry = {"My::T": "OS::Heat::None", "My::U": "OS::Heat::None"}
    path = api.create(
        "layers",
        template,
        environment={"parameters": {"p": "1", "q": "1"}, "resource_registry": registry},
    )
    newer = {
        "parameters": {"q": "2"},
        "resource_registry": {"My::U": "OS::Heat::RandomString"},
    }
    assert api("PATCH", path, {"environment": newer}).status == 202
    assert api.wait(path) == "UPDATE_COMPLETE"
    stack = api("GET", path).body["stack"]
    assert (stack["parameters"]["p"], stack["parameters"]["q"]) == ("1", "2")
    shown = api("GET", f"{path}/environment").body
    assert shown["resource_registry"] == {**registry, "My::U": "OS::Heat::RandomString"}
    assert api("PATCH", path, {"parameters": {"p": "3"}}).status == 202
    assert api.wait(path) == "UPDATE_COMPLETE"
    stack = api("GET", path).body["stack"]
    assert (stack["parameters"]["p"], stack["parameters"]["q"]) == ("3", "2")
    files = {"more.yaml": "parameters: {q: '4'}"}
    assert api("PATCH", path, {"environment_files": ["more.yaml"], "files": files}).status == 202
    assert api.wait(path) == "UPDATE_COMPLETE"
    stack = api("GET", path).body["stack"]
    assert (stack["parameters"]["p"], stack["parameters"]["q"]) == ("3", "4")


@pytest.mark.parametrize("is_file", [False, True])
def test_a_patch_drops_parameters_of_an_environment_that_the_template_lacks(
    api: Any, is_file: bool
) -> None:
    path = api.create(f"shared{is_file:d}")
    text = "parameters: {text: mine, nope: 1}"
    body = (
        {"environment_files": ["shared.yaml"], "files": {"shared.yaml": text}}
        if is_file
        else {"environment": text}
    )
    assert api("PATCH", f"{path}/preview", body).status == 200
    assert api("PATCH", path, body).status == 202
    api.wait(path)
    parameters = api("GET", path).body["stack"]["parameters"]
    assert (parameters["text"], "nope" in parameters) == ("mine", False)
    assert api("PUT", path, {"template": EMPTY, **body}).kind == "UnknownUserParameter"
    broken = {"environment_files": ["e.yaml"], "files": {"e.yaml": ": :"}}
    assert "Error parsing environment e.yaml" in api("PATCH", path, broken).message


def test_cleared_parameters_go_back_to_their_defaults(api: Any) -> None:
    path = api.create("clear", parameters={"text": "mine"})
    assert api("PATCH", path, {"clear_parameters": ["text"]}).status == 202
    api.wait(path)
    assert api("GET", path).body["stack"]["parameters"]["text"] == "one"


def test_a_value_that_comes_with_the_clearing_of_its_parameter_counts(api: Any) -> None:
    path = api.create("refill", parameters={"text": "mine"})
    body = {"clear_parameters": ["text", "names"], "parameters": {"text": "newer"}}
    assert api("PATCH", path, body).status == 202
    api.wait(path)
    parameters = api("GET", path).body["stack"]["parameters"]
    assert (parameters["text"], parameters["names"]) == ("newer", '["a", "b"]')


def test_a_deletion_is_answered_at_once_and_may_be_repeated(api: Any) -> None:
    path = api.create("gone")
    assert api("DELETE", path).status == 204
    api.wait(path)
    stack = api("GET", path).body["stack"]
    assert stack["stack_status"] == "DELETE_COMPLETE"
    assert stack["deletion_time"] is not None
    assert api("DELETE", path).status == 404
    assert api("PUT", path, {"template": EMPTY}).status == 404


def test_a_nested_stack_may_be_deleted_before_the_one_above(api: Any) -> None:
    files = {"child.yaml": json.dumps(with_resource())}
    template = {**EMPTY, "resources": {"c": {"type": "child.yaml"}}}
    path = api.create("above", template=template, files=files)
    above = api("GET", path).body["stack"]["id"]
    (nested,) = api("GET", "/stacks", owner_id=above).body["stacks"]
    below = f"/stacks/{nested['stack_name']}/{nested['id']}"
    for each in (below, path):
        assert api("DELETE", each).status == 204
        api.wait(each)
        assert api("GET", each).body["stack"]["stack_status"] == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "No action specified"),
        ({"suspend": None, "resume": None}, "Multiple actions specified"),
        ({"bogus": None}, "Invalid action bogus specified"),
    ],
)
def test_an_action_is_named_by_one_key(api: Any, body: Any, says: str) -> None:
    path = api.create(f"action{len(body)}{len(says)}", EMPTY)
    reply = api("POST", f"{path}/actions", body)
    assert (reply.status, reply.kind, reply.message) == (400, "HTTPBadRequest", says)


def test_actions_lead_through_the_states(api: Any) -> None:
    path = api.create("acts")
    for action, state in [
        ("suspend", "SUSPEND_COMPLETE"),
        ("resume", "RESUME_COMPLETE"),
        ("check", "CHECK_COMPLETE"),
    ]:
        reply = api("POST", f"{path}/actions", {action: None})
        assert (reply.status, reply.body) == (200, None)
        api.wait(path)
        assert api.state(path) == state
    for action in ("cancel_update", "cancel_without_rollback"):
        reply = api("POST", f"{path}/actions", {action: None})
        assert (reply.status, reply.kind) == (400, "NotSupported")
        assert reply.message == ("Cancelling update when stack is CHECK_COMPLETE is not supported.")


def test_a_suspended_stack_takes_no_update(api: Any) -> None:
    path = api.create("asleep")
    api("POST", f"{path}/actions", {"suspend": None})
    api.wait(path)
    reply = api("PUT", path, {"template": EMPTY})
    assert (reply.status, reply.kind) == (400, "NotSupported")
    assert reply.message == "Updating a stack when it is suspended is not supported."


def test_a_reader_may_check_and_not_suspend(api: Any) -> None:
    path = api.create("checked", EMPTY)
    reader = api.become("p1/reader")
    assert reader("POST", f"{path}/actions", {"check": None}).status == 200
    reply = reader("POST", f"{path}/actions", {"suspend": None})
    assert (reply.status, reply.message) == (
        403,
        "You are not authorized to use actions:suspend.",
    )


def test_a_failed_creation_may_be_rolled_back(api: Any) -> None:
    template = with_resource(properties={"value": "x", "fail": True})
    kept = api.create("fails", template)
    assert api.state(kept) == "CREATE_FAILED"
    undone = api.create("undone", template, disable_rollback=False)
    assert api.state(undone) == "ROLLBACK_COMPLETE"


def test_an_update_takes_over_a_running_one_and_can_be_cancelled(api: Any) -> None:
    slow = with_resource(properties={"value": "y", "action_wait_secs": {"update": 3600}})
    path = api.create("slow", with_resource(properties={"value": "x"}))
    assert api("PUT", path, {"template": slow}).status == 202
    assert api.state(path) == "UPDATE_IN_PROGRESS"
    assert api("POST", f"{path}/actions", {"cancel_without_rollback": None}).status == 200
    reply = api("POST", f"{path}/actions", {"suspend": None})
    assert reply.status in (200, 409)
    assert api("DELETE", path).status == 204


PATCHED = {
    "heat_template_version": "2018-08-31",
    "parameters": {
        "a": {"type": "string", "default": "a"},
        "b": {"type": "string", "default": "b"},
        "list": {"type": "comma_delimited_list", "default": ""},
    },
}


def read_parameters(api: Any, path: str) -> dict[str, Any]:
    """The parameters of a stack that its template declares."""
    shown = api("GET", path).body["stack"]["parameters"]
    return {name: shown[name] for name in ("a", "b", "list") if name in shown}


def test_of_two_patches_at_once_none_loses_what_the_other_sets(api: Any) -> None:
    """Each environment is merged with what is stored when its own update is planned."""
    path = api.create("at-once", PATCHED)
    barrier = threading.Barrier(2)

    def patch(body: dict[str, Any]) -> None:
        barrier.wait()
        assert api("PATCH", path, body).status == 202

    for number in range(5):
        bodies = [{"environment": {"parameters": {name: f"{name}{number}"}}} for name in "ab"]
        threads = [threading.Thread(target=patch, args=(body,)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        api.wait(path)
        found = read_parameters(api, path)
        assert (found["a"], found["b"]) == (f"a{number}", f"b{number}")


def test_a_patch_merges_its_environment_files_by_their_strategies(api: Any) -> None:
    path = api.create("strategies", PATCHED, parameters={"a": "given", "list": "0"})
    first = {"parameters": {"list": "1"}, "parameter_merge_strategies": {"list": "merge"}}
    second = {**first, "parameters": {"list": "2"}}
    body = {
        "environment_files": ["one", "two"],
        "files": {"one": json.dumps(first), "two": json.dumps(second)},
    }
    for _ in range(2):  # once more it is the same, and not twice as long
        assert api("PATCH", path, body).status == 202
        api.wait(path)
        assert read_parameters(api, path) == {"a": "given", "b": "b", "list": '["1", "2"]'}


def test_a_patch_drops_parameters_that_its_template_has_no_more(api: Any) -> None:
    environment = {"parameters": {"a": "spam"}, "parameter_defaults": {"b": "kept"}}
    path = api.create("fewer", PATCHED, environment=environment)
    template = {**PATCHED, "parameters": {"b": {"type": "string"}}}
    body = {"template": template, "environment": {"parameter_defaults": {"other": "egg"}}}
    assert api("PATCH", path, body).status == 202
    assert api.wait(path) == "UPDATE_COMPLETE"
    assert read_parameters(api, path) == {"b": "kept"}
    assert api("PATCH", path, {"template": template}).status == 202
    assert api.wait(path) == "UPDATE_COMPLETE"
    faulty = {"environment": {"nonsense": {}}}
    assert api("PATCH", path, faulty).status == 400


def test_parameters_of_a_template_in_the_other_notation_can_be_patched(api: Any) -> None:
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"p": {"Type": "String", "Default": "1"}},
        "Outputs": {"o": {"Value": {"Ref": "p"}}},
    }
    path = api.create("cfn", template)
    assert api("PATCH", path, {"template": template, "parameters": {"p": "2"}}).status == 202
    assert api("GET", f"{path}/outputs/o").body["output"]["output_value"] == "2"
