"""Lists of stacks: rows, filters, pages, order; what is shown of one; look-ups."""

from __future__ import annotations

from typing import Any

import pytest

EMPTY = {"heat_template_version": "2018-08-31"}
NESTED = {
    "heat_template_version": "2018-08-31",
    "resources": {"child": {"type": "child.yaml"}},
}
FILES = {"child.yaml": "heat_template_version: 2018-08-31\nresources: {n: {type: OS::Heat::None}}"}
ROW = {
    "id",
    "links",
    "stack_name",
    "description",
    "stack_status",
    "stack_status_reason",
    "creation_time",
    "updated_time",
    "deletion_time",
    "stack_owner",
    "parent",
    "stack_user_project_id",
    "tags",
}
FULL = (ROW - {"stack_owner"}) | {
    "template_description",
    "parameters",
    "outputs",
    "capabilities",
    "notification_topics",
    "disable_rollback",
    "timeout_mins",
    "stack_owner",
}


@pytest.fixture(scope="module")
def listed(api: Any) -> Any:
    """A project with stacks: one, two (tags a, b), three (tag a), hidden, gone; other has one."""
    here = api.become("lists")
    here.create("one", EMPTY)
    here.create("two", EMPTY, tags="a,b")
    here.create("three", NESTED, files=FILES, tags="a")
    here.create("unseen", EMPTY, tags="hidden")
    gone = here.create("gone", EMPTY)
    here("DELETE", gone)
    here.wait(gone)
    failed = {"a": {"type": "OS::Heat::TestResource", "properties": {"fail": True}}}
    here.create("failed", {**EMPTY, "resources": failed})
    api.become("other").create("one", EMPTY)
    return here


def names(reply: Any) -> list[str]:
    assert reply.status == 200, reply.body
    return [row["stack_name"] for row in reply.body["stacks"]]


def test_a_row_has_the_keys_of_heat(listed: Any) -> None:
    for path in ("/stacks", "/stacks/detail"):
        row = listed("GET", path).body["stacks"][0]
        assert set(row) == ROW
        assert row["description"] == ""
    assert listed.become("lists/admin")("GET", "/stacks").body["stacks"][0]["project"] == "lists"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["failed", "three", "two", "one"]),
        ({"limit": 2}, ["failed", "three"]),
        ({"limit": 0}, []),
        ({"sort_keys": "stack_name", "sort_dir": "asc"}, ["failed", "one", "three", "two"]),
        ({"sort_keys": "stack_name"}, ["two", "three", "one", "failed"]),
        ({"sort_keys": "nonsense", "sort_dir": "asc"}, ["one", "two", "three", "failed"]),
        (
            {"sort_keys": ["stack_status", "stack_name"], "sort_dir": "asc"},
            ["one", "three", "two", "failed"],
        ),
        ({"name": "two"}, ["two"]),
        ({"name": ["two", "one"]}, ["two", "one"]),
        ({"stack_name": "one"}, ["one"]),
        ({"status": "FAILED"}, ["failed"]),
        ({"status": ["FAILED", "COMPLETE"]}, ["failed", "three", "two", "one"]),
        ({"action": "CREATE", "status": "COMPLETE"}, ["three", "two", "one"]),
        ({"action": "UPDATE"}, []),
        ({"username": "ann"}, ["failed", "three", "two", "one"]),
        ({"username": "bob"}, []),
        ({"tags": "a"}, ["three", "two"]),
        ({"tags": "a,b"}, ["two"]),
        ({"tags_any": "b,zz"}, ["two"]),
        ({"not_tags": "a,b"}, ["failed", "three", "one"]),
        ({"not_tags_any": "a,b"}, ["failed", "one"]),
        ({"show_hidden": "true"}, ["failed", "unseen", "three", "two", "one"]),
        ({"show_deleted": "True"}, ["failed", "gone", "three", "two", "one"]),
        ({"unknown": "ignored"}, ["failed", "three", "two", "one"]),
        ({"marker": "unknown"}, ["failed", "three", "two", "one"]),
    ],
)
def test_a_list_has_what_its_query_wants(listed: Any, query: Any, found: list[str]) -> None:
    assert names(listed("GET", "/stacks", **query)) == found


def test_nested_stacks_are_listed_with_the_stack_above(listed: Any) -> None:
    above = listed("GET", "/stacks", name="three").body["stacks"][0]["id"]
    rows = listed("GET", "/stacks", show_nested="true").body["stacks"]
    (nested,) = [row for row in rows if row["parent"] is not None]
    assert (nested["parent"], len(rows)) == (above, 5)
    assert [row["id"] for row in listed("GET", "/stacks", owner_id=above).body["stacks"]] == [
        nested["id"]
    ]
    assert names(listed("GET", "/stacks", id=[above, nested["id"]], show_nested="true"))[-1] == (
        "three"
    )


@pytest.mark.parametrize("keys", [[], ["stack_name"], ["stack_status"], ["updated_time"]])
@pytest.mark.parametrize("way", ["asc", "desc"])
def test_pages_follow_each_other_without_gap_or_double(
    listed: Any, keys: list[str], way: str
) -> None:
    query = {"sort_keys": keys, "sort_dir": way}
    whole = names(listed("GET", "/stacks", **query))
    reply = listed("GET", "/stacks", limit=1, **query)
    seen = names(reply)
    while reply.body.get("links"):
        (link,) = reply.body["links"]
        assert link["rel"] == "next"
        reply = listed("GET", link["href"])
        seen += names(reply)
    assert seen == whole


def test_a_count_is_that_of_all_pages(listed: Any) -> None:
    reply = listed("GET", "/stacks", limit=1, with_count="true")
    assert (len(reply.body["stacks"]), reply.body["count"]) == (1, 4)


@pytest.mark.parametrize(
    ("query", "status", "kind", "says"),
    [
        ({"sort_dir": "up"}, 400, "ValueError", "sort_dir"),
        ({"limit": "x"}, 400, "ValueError", "Only integer is acceptable by 'limit'."),
        (
            {"limit": -1},
            400,
            "ValueError",
            "Value '-1' is invalid for 'limit' which only accepts non-negative integer.",
        ),
        (
            {"show_deleted": "x"},
            400,
            "ValueError",
            'Unrecognized value "x" for "show_deleted", acceptable values are: true, false',
        ),
        ({"global_tenant": "true"}, 403, "Forbidden", "You are not authorized to use stacks:"),
    ],
)
def test_what_a_query_is_refused_for(
    listed: Any, query: Any, status: int, kind: str, says: str
) -> None:
    reply = listed("GET", "/stacks", **query)
    assert (reply.status, reply.kind) == (status, kind)
    assert says in reply.message


def test_the_whole_of_a_stack(api: Any) -> None:
    path = api.create("whole", tags="x,y")
    stack = api("GET", path).body["stack"]
    assert set(stack) == FULL
    assert stack["description"] == stack["template_description"] == "two things"
    assert stack["parameters"] == {
        "text": "one",
        "password": "******",
        "names": '["a", "b"]',
        "OS::stack_id": stack["id"],
        "OS::stack_name": "whole",
        "OS::project_id": "p1",
    }
    assert stack["outputs"] == [
        {"output_key": "text", "description": "the text", "output_value": "one"},
        {
            "output_key": "secret",
            "description": "No description given",
            "output_value": "******",
        },
    ]
    assert stack["tags"] == ["x", "y"]
    assert stack["stack_owner"] == "ann"
    assert stack["creation_time"].endswith("Z")
    assert len(stack["creation_time"]) == len("2026-01-01T00:00:00Z")
    assert (stack["updated_time"], stack["deletion_time"], stack["parent"]) == (None, None, None)
    assert "outputs" not in api("GET", path, resolve_outputs="false").body["stack"]


def test_a_stack_without_a_description_says_so(api: Any) -> None:
    path = api.create("plain", EMPTY)
    assert api("GET", path).body["stack"]["description"] == "No description"


def test_an_output_that_cannot_be_resolved_tells_why(api: Any) -> None:
    outputs = {"bad": {"value": {"list_join": [",", {"get_param": "text"}]}}}
    parameters = {"text": {"type": "json", "default": {"a": 1}}}
    path = api.create("broken", {**EMPTY, "parameters": parameters, "outputs": outputs})
    (output,) = api("GET", path).body["stack"]["outputs"]
    assert output["output_value"] is None
    assert output["output_error"]
    assert api("GET", f"{path}/outputs/bad").body["output"] == output


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("form", ["{name}", "{id}", "arn:openstack:heat::p1:stacks/{name}/{id}"])
def test_a_name_an_id_or_an_arn_leads_to_the_canonical_url(
    api: Any, method: str, form: str
) -> None:
    stack = find(api, "lookup")
    body = {} if method != "GET" else None
    reply = api(method, f"/stacks/{form.format(**stack)}", body, with_detail="true", a=["1", "2"])
    assert reply.status == 302
    assert reply.headers["Location"] == (
        f"http://heat.example:8004/v1/p1/stacks/lookup/{stack['id']}?with_detail=true&a=1&a=2"
    )
    assert reply.body["code"] == "302 Found"
    assert api.state(f"/stacks/lookup/{stack['id']}") == "CREATE_COMPLETE"


def test_an_arn_leads_to_every_part_of_its_stack(api: Any) -> None:
    """The reference of a nested stack is an ARN, and clients append what they want of it."""
    stack = find(api, "lookup")
    arn = f"arn:openstack:heat::p1:stacks/lookup/{stack['id']}"
    for part in ("resources", "resources/a b/events", "outputs", "export"):
        reply = api("GET", f"/stacks/{arn}/{part}", limit="2")
        assert reply.status == 302
        place = f"http://heat.example:8004/v1/p1/stacks/lookup/{stack['id']}"
        assert reply.headers["Location"] == f"{place}/{part.replace(' ', '%20')}?limit=2"


def test_the_name_of_a_stack_that_was_just_deleted_leads_to_it(api: Any) -> None:
    path = api.create("short", EMPTY)
    api("DELETE", path)
    api.wait(path)
    reply = api("GET", "/stacks/short")
    assert (reply.status, reply.headers["Location"].endswith(path)) == (302, True)
    shown = api("GET", path).body["stack"]
    assert (shown["stack_status"], shown["deletion_time"] is None) == ("DELETE_COMPLETE", False)
    assert api.become("p2")("GET", "/stacks/short").status == 404
    newer = api.create("short", EMPTY)
    assert api("GET", "/stacks/short").headers["Location"].endswith(newer)


@pytest.mark.parametrize(
    ("method", "part", "status"),
    [
        *(
            ("GET", part, 302)
            for part in ("resources", "events", "template", "actions", "environment", "files")
        ),
        *(("POST", part, 302) for part in ("resources", "events", "template", "actions")),
        ("GET", "outputs", 404),
        ("GET", "preview", 404),
        ("GET", "snapshots", 404),
    ],
)
def test_a_part_of_a_stack_is_found_by_name(api: Any, method: str, part: str, status: int) -> None:
    stack = find(api, "lookup")
    reply = api(method, f"/stacks/lookup/{part}", {} if method == "POST" else None)
    assert reply.status == status
    if status == 302:
        place = f"http://heat.example:8004/v1/p1/stacks/lookup/{stack['id']}/{part}"
        assert reply.headers["Location"] == place
    else:
        assert reply.kind == "EntityNotFound"


@pytest.mark.parametrize(
    "path",
    [
        "/stacks/nope",
        "/stacks/00000000-0000-0000-0000-000000000000",
        "/stacks/arn:openstack:heat::p2:stacks/nope/{id}",
        "/stacks/nope/{id}",
        "/stacks/lookup/00000000-0000-0000-0000-000000000000",
    ],
)
def test_what_is_not_there_is_not_found(api: Any, path: str) -> None:
    reply = api("GET", path.format(**find(api, "lookup")))
    assert (reply.status, reply.kind) == (404, "EntityNotFound")
    assert reply.message.startswith("The Stack (")
    assert reply.message.endswith(") could not be found.")


def find(api: Any, name: str) -> dict[str, str]:
    """The name and the id of a stack, which is made if need be."""
    if name not in api.stacks:
        api.stacks[name] = api.create(name, EMPTY)
    return {"name": name, "id": api.stacks[name].rpartition("/")[2]}


def test_a_name_with_odd_letters_is_quoted_in_urls(api: Any) -> None:
    made = api("POST", "/stacks", {"stack_name": "a.b_c-d", "template": EMPTY})
    assert "/stacks/a.b_c-d/" in made.headers["Location"]
