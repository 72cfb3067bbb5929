"""Resources and events: rows, filters, attributes, metadata, signals, health."""

from __future__ import annotations

import json
from typing import Any

import pytest

NESTED = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "owner": {"type": "child.yaml", "metadata": {"k": "v"}},
        "after": {
            "type": "OS::Heat::RandomString",
            "properties": {"length": 32},
            "depends_on": "owner",
        },
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
    },
}
FILES = {
    "child.yaml": "heat_template_version: 2018-08-31\n"
    "resources: {inner: {type: OS::Heat::TestResource, properties: {value: x}}}"
}
ROW = {
    "resource_name",
    "logical_resource_id",
    "physical_resource_id",
    "resource_status",
    "resource_status_reason",
    "resource_type",
    "creation_time",
    "updated_time",
    "required_by",
    "links",
}


@pytest.fixture(scope="module")
def path(api: Any) -> str:
    """A stack with a nested one."""
    return str(api.create("tree", NESTED, files=FILES))


def test_a_row_has_the_keys_of_heat(api: Any, path: str) -> None:
    rows = api("GET", f"{path}/resources").body["resources"]
    assert [set(row) for row in rows] == [ROW] * 3
    owner = next(row for row in rows if row["resource_name"] == "owner")
    assert owner["logical_resource_id"] == "owner"
    assert owner["required_by"] == ["after"]
    assert owner["resource_status"] == "CREATE_COMPLETE"
    rels = {link["rel"]: link["href"] for link in owner["links"]}
    base = f"http://heat.example:8004/v1/p1{path}"
    assert rels["self"] == f"{base}/resources/owner"
    assert rels["stack"] == base
    assert api("GET", rels["nested"]).body["stack"]["parent"] == path.rpartition("/")[2]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, {"owner", "after", "handle"}),
        ({"nested_depth": 1}, {"owner", "after", "handle", "inner"}),
        ({"nested_depth": 0}, {"owner", "after", "handle"}),
        ({"name": "after"}, {"after"}),
        ({"name": ["after", "owner"]}, {"after", "owner"}),
        ({"type": "OS::Heat::RandomString"}, {"after"}),
        ({"type": "OS::Heat::TestResource", "nested_depth": 2}, {"inner"}),
        ({"status": "FAILED"}, set()),
        ({"status": "COMPLETE", "action": "CREATE"}, {"owner", "after", "handle"}),
        ({"physical_resource_id": "nope"}, set()),
    ],
)
def test_a_list_has_what_its_query_wants(api: Any, path: str, query: Any, found: set[str]) -> None:
    rows = api("GET", f"{path}/resources", **query).body["resources"]
    assert {row["resource_name"] for row in rows} == found


def test_a_nested_row_names_its_owner_and_its_own_stack(api: Any, path: str) -> None:
    rows = api("GET", f"{path}/resources", nested_depth=5).body["resources"]
    inner = next(row for row in rows if row["resource_name"] == "inner")
    assert inner["parent_resource"] == "owner"
    shown = api("GET", inner["links"][0]["href"]).body["resource"]
    assert (shown["resource_name"], shown["parent_resource"]) == ("inner", "owner")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"bad": "1"}, "Invalid filter parameters ['bad']"),
        ({"nested_depth": "x"}, "Only integer is acceptable by 'nested_depth'."),
        ({"with_detail": "x"}, "acceptable values are: true, false"),
    ],
)
def test_what_a_query_is_refused_for(api: Any, path: str, query: Any, says: str) -> None:
    reply = api("GET", f"{path}/resources", **query)
    assert reply.status == 400
    assert says in reply.message


def test_details_are_a_description_and_all_attributes(api: Any, path: str) -> None:
    shown = api("GET", f"{path}/resources/after", with_attr=["nope", "value"]).body["resource"]
    assert set(shown) == ROW | {"description", "attributes"}
    assert set(shown["attributes"]) == {"value", "nope"}
    assert len(shown["attributes"]["value"]) == 32
    assert shown["attributes"]["nope"] is None
    rows = api("GET", f"{path}/resources", with_detail="true", name="after").body["resources"]
    assert rows[0]["attributes"]["value"] == shown["attributes"]["value"]


def test_metadata_has_a_place_of_its_own(api: Any, path: str) -> None:
    assert api("GET", f"{path}/resources/owner/metadata").body == {"metadata": {"k": "v"}}


@pytest.mark.parametrize("part", ["", "/metadata"])
def test_an_unknown_resource_is_not_found(api: Any, path: str, part: str) -> None:
    reply = api("GET", f"{path}/resources/zz{part}")
    assert (reply.status, reply.kind) == (404, "ResourceNotFound")
    assert reply.message == "The Resource (zz) could not be found in Stack tree."


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "Missing mandatory (mark_unhealthy) key from mark unhealthy request"),
        ({"mark_unhealthy": True, "bad": 1}, "Invalid keys in resource mark unhealthy {'bad'}"),
        ({"mark_unhealthy": "x"}, "acceptable values are: true, false"),
    ],
)
def test_what_health_is_refused_for(api: Any, path: str, body: Any, says: str) -> None:
    reply = api("PATCH", f"{path}/resources/after", body)
    assert reply.status == 400
    assert says in reply.message


def test_health_is_marked_and_taken_back(api: Any, path: str) -> None:
    place = f"{path}/resources/after"
    body = {"mark_unhealthy": True, "resource_status_reason": "it smokes"}
    reply = api("PATCH", place, body)
    assert (reply.status, reply.body) == (200, None)
    shown = api("GET", place).body["resource"]
    assert shown["resource_status"] == "CHECK_FAILED"
    assert shown["resource_status_reason"] == "it smokes"
    assert api.state(path) == "CREATE_COMPLETE"
    assert api("PATCH", place, {"mark_unhealthy": False}).status == 200
    shown = api("GET", place).body["resource"]
    assert shown["resource_status"] == "CHECK_COMPLETE"
    assert shown["resource_status_reason"] == "state changed by resource_mark_unhealthy api"


def test_a_signal_reaches_a_handle(api: Any, path: str) -> None:
    place = f"{path}/resources/handle"
    body = {"id": "1", "status": "SUCCESS", "data": "d", "reason": "r"}
    reply = api("POST", f"{place}/signal", body)
    assert (reply.status, reply.body) == (200, None)
    assert api("POST", f"{place}/signal").status == 200
    assert api("POST", f"{place}/signal", {"status": "NEITHER"}).status == 200
    (event,) = [
        each
        for each in api("GET", f"{place}/events").body["events"]
        if each["resource_status"] == "SIGNAL_FAILED"
    ]
    assert "Metadata format invalid" in event["resource_status_reason"]
    assert api.become("p1/heat_stack_user")("POST", f"{place}/signal").status == 200


def test_a_resource_without_signals_says_so(api: Any, path: str) -> None:
    reply = api("POST", f"{path}/resources/after/signal")
    assert (reply.status, reply.kind) == (400, "ResourceActionNotSupported")
    assert reply.message == "signal is not supported for resource."


def test_a_hook_that_is_not_reached_cannot_be_cleared(api: Any, path: str) -> None:
    reply = api("POST", f"{path}/resources/after/signal", {"unset_hook": "pre-update"})
    assert (reply.status, reply.kind) == (400, "InvalidBreakPointHook")


def test_resources_that_are_to_go_are_listed_as_long_as_they_are_there(api: Any) -> None:
    kept = {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}
    slow = {"value": "x", "action_wait_secs": {"delete": 3600}}
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {"kept": kept, "gone": {**kept, "properties": slow}},
    }
    path = api.create("going", template)
    del template["resources"]["gone"]  # type: ignore[attr-defined]
    assert api("PUT", path, {"template": template}).status == 202
    rows = api("GET", f"{path}/resources").body["resources"]
    assert {row["resource_name"] for row in rows} == {"kept", "gone"}
    assert api("DELETE", path).status == 204


EVENT = {
    "id",
    "links",
    "event_time",
    "resource_name",
    "logical_resource_id",
    "physical_resource_id",
    "resource_status",
    "resource_status_reason",
}


def test_an_event_has_the_keys_of_heat(api: Any, path: str) -> None:
    newest, *_, oldest = api("GET", f"{path}/events").body["events"]
    assert set(newest) == EVENT
    assert oldest["resource_name"] == "tree"
    assert oldest["physical_resource_id"] == path.rpartition("/")[2]
    assert oldest["resource_status"] == "CREATE_IN_PROGRESS"
    assert oldest["resource_status_reason"] == "Stack CREATE started"
    assert [link["rel"] for link in oldest["links"]] == ["self", "resource", "stack"]
    shown = api("GET", oldest["links"][0]["href"]).body["event"]
    assert set(shown) == EVENT | {"resource_type", "resource_properties"}
    assert shown["resource_type"] == "OS::Heat::Stack"


def test_an_event_of_a_resource_tells_type_and_properties(api: Any, path: str) -> None:
    found = api("GET", f"{path}/resources/after/events", resource_action="CREATE").body["events"]
    assert [event["resource_status"] for event in found] == [
        "CREATE_COMPLETE",
        "CREATE_IN_PROGRESS",
    ]
    shown = api("GET", f"{path}/resources/after/events/{found[0]['id']}").body["event"]
    assert shown["resource_type"] == "OS::Heat::RandomString"
    assert shown["resource_properties"]["length"] == 32


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"resource_status": "COMPLETE", "resource_action": "CREATE"}, 4),
        ({"resource_name": "after", "resource_action": "CREATE"}, 2),
        ({"resource_name": ["after", "owner"], "resource_action": "CREATE"}, 4),
        ({"resource_name": "tree"}, 2),
        ({"resource_type": "OS::Heat::RandomString", "resource_action": "CREATE"}, 2),
        ({"resource_type": "OS::Heat::Stack"}, 2),
        ({"resource_action": "DELETE"}, 0),
        ({"limit": 3}, 3),
        ({"resource_name": "inner", "nested_depth": 1}, 2),
    ],
)
def test_events_are_filtered(api: Any, path: str, query: Any, found: int) -> None:
    assert len(api("GET", f"{path}/events", **query).body["events"]) == found


def test_events_come_newest_first_unless_keys_are_given(api: Any, path: str) -> None:
    def list_ids(**query: Any) -> list[str]:
        return [each["id"] for each in api("GET", f"{path}/events", **query).body["events"]]

    newest = list_ids()
    assert list_ids(sort_dir="asc") == newest[::-1]
    assert list_ids(sort_keys="event_time") == newest[::-1]
    assert list_ids(sort_keys="event_time", sort_dir="desc") == newest
    assert list_ids(marker="unknown") == newest
    assert list_ids(marker=newest[2], limit=2) == newest[3:5]


def test_events_of_nested_stacks_lead_to_the_root(api: Any, path: str) -> None:
    found = api("GET", f"{path}/events", nested_depth=1).body["events"]
    inner = next(each for each in found if each["resource_name"] == "inner")
    rels = {link["rel"]: link["href"] for link in inner["links"]}
    assert rels["root_stack"] == f"http://heat.example:8004/v1/p1{path}"
    assert rels["stack"] != rels["root_stack"]


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("resources/zz/events", "No events found for resource zz"),
        ("events?resource_name=zz", "No events found for resource zz"),
        ("resources/after/events/nope", "No event nope found"),
    ],
)
def test_what_has_no_events_is_not_found(api: Any, path: str, part: str, says: str) -> None:
    place, _, query = part.partition("?")
    reply = api.send("GET", f"/v1/p1{path}/{place}", query=query)
    assert (reply.status, reply.message) == (404, says)


def test_a_wrong_direction_is_a_bad_request(api: Any, path: str) -> None:
    assert api("GET", f"{path}/events", sort_dir="up").kind == "ValueError"


def test_an_event_shows_the_properties_of_its_time(api: Any) -> None:
    template: dict[str, Any] = {
        "heat_template_version": "2018-08-31",
        "parameters": {"secret": {"type": "string", "hidden": True, "default": "hunter2-hunter2"}},
        "resources": {"r": {"type": "OS::Heat::TestResource", "properties": {"value": "one"}}},
    }
    path = api.create("times", template)

    def update(value: Any) -> None:
        template["resources"]["r"]["properties"]["value"] = value
        assert api("PUT", path, {"template": template}).status == 202
        api.wait(path)

    update("two")
    update({"get_param": "secret"})
    update("three")
    update({"get_param": "secret"})
    events = api("GET", f"{path}/resources/r/events", sort_keys="event_time").body["events"]
    shown = [
        api("GET", f"{path}/resources/r/events/{event['id']}").body["event"] for event in events
    ]
    values = [event["resource_properties"]["value"] for event in shown]
    hidden = "(hidden)"
    # of what is hidden by now nothing is shown of earlier times either
    assert values == [hidden] * 10
    assert "hunter2" not in json.dumps(shown)
    update("open")
    shown = [
        api("GET", f"{path}/resources/r/events/{event['id']}").body["event"] for event in events
    ]
    values = [event["resource_properties"]["value"] for event in shown]
    # an operation on what was hidden before it begins as secret as that was
    assert values == ["one", "one", "two", "two", *[hidden] * 6]


def test_a_stack_and_what_is_nested_in_it_have_their_owner(api: Any) -> None:
    api.create("owned", NESTED, files=FILES)
    rows = api("GET", "/stacks", show_nested="true", stack_owner="ann").body["stacks"]
    owned = [row for row in rows if row["stack_name"].startswith("owned")]
    assert [row["stack_owner"] for row in owned] == ["ann", "ann"]
    assert api("GET", "/stacks", show_nested="true", stack_owner="bob").body["stacks"] == []
