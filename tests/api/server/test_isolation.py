"""Two projects: whatever the one has, the other cannot tell from what is not there.

Every route of every interface is asked for every id of the other project. A route whose path has a
part that stands in neither table here, or a write that has no body here, fails: say what it names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from zonda.core.api.heat.routes import ROWS
from zonda.core.api.http.requests import Request
from zonda.core.api.http.routes import Route
from zonda.core.api.identity.callers import Caller
from zonda.core.api.pages.access.sessions import format_cookie
from zonda.core.api.service.kept_plans import keep_plan
from zonda.core.api.service.project import Project
from zonda.core.engine.actions.table import ACTIONS, find_action_class
from zonda.hooks.records import MISSING, fields

from ..conftest import BASE, Reply

SECRET = "swordfish-of-mine"
ABSENT = "00000000-0000-0000-0000-000000000000"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {"password": {"type": "string", "hidden": True, "default": "none"}},
    "resources": {
        "a": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "password"}}},
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "nest": {"type": "inner.yaml", "properties": {"p": {"get_param": "password"}}},
    },
    "outputs": {
        "o": {"value": {"get_attr": ["a", "output"]}},
        "p": {"value": {"get_param": "password"}},
    },
}
FILES = {
    "inner.yaml": "heat_template_version: 2018-08-31\n"
    "parameters: {p: {type: string, hidden: true}}\n"
    "resources: {i: {type: OS::Heat::TestResource, properties: {value: {get_param: p}}}}\n"
    "outputs: {o: {value: {get_attr: [i, output]}}}\n"
}
#: Parts of paths that name what a project has, those that are ids of their own among them.
IDS = {"plan_id", "snapshot_id", "event_id", "config_id", "deployment_id"}
OWNED = {*IDS, "stack_name", "stack_id", "stack", "resource", "output", "server_id"}
#: Parts that name what all projects share, or nothing at all.
SHARED = {"project", "part", "type", "version", "verb"}
#: The reads of zonda's own API, whose bodies tests/api/zonda/test_reads.py asks for all ids.
READ_BY_BODY = "reads:"
#: Prefixes of paths that are of no project: what is secret in them is all that counts.
WITHOUT_PROJECT = ("/signal/", "/callback/", "/ui/static/", "/openapi/")
#: Where browsers have a session in place of a token.
PAGES = "/ui/"
TOKENS = "/v3/auth/tokens"
#: Reads that list what a name has; a name of nothing has nothing.
LISTS_BY_NAME = {"software_deployments:metadata"}
_UPDATE = {"template": {"heat_template_version": "2018-08-31"}}

Ids = Mapping[str, str]
Body = Callable[[Ids], Any]
#: The bodies of writes, by operation; None where the body cannot name anything that there is.
BODIES: dict[str, Body | None] = {
    "actions:submit": None,  # each action has its turn below
    "actions:action": lambda ids: {"suspend": None},
    "identity:issue_token": None,  # it names a project and a token, see below
    "resource:mark_unhealthy": lambda ids: {"mark_unhealthy": True},
    "resource:signal": lambda ids: {"unset_hook": "pre-create"},
    **dict.fromkeys(("pages:plan", "pages:action", "stacks:apply"), lambda ids: None),
    **dict.fromkeys((f"drift:{name}" for name in ("check", "repair", "ignore")), lambda ids: None),
    "pages:sign_in": None,
    "pages:sign_out": None,
    "software_configs:create": None,
    "software_configs:delete": lambda ids: None,
    "software_deployments:create": lambda ids: {"config_id": ids["config_id"], "server_id": "s"},
    "software_deployments:delete": lambda ids: None,
    "software_deployments:update": lambda ids: {"config_id": ids["config_id"], "status": "FAILED"},
    "stacks:abandon": lambda ids: None,
    "stacks:create": None,
    "stacks:delete": lambda ids: None,
    "stacks:delete_snapshot": lambda ids: None,
    "stacks:lookup": lambda ids: _UPDATE,
    "stacks:preview": None,
    "stacks:preview_update": lambda ids: _UPDATE,
    "stacks:preview_update_patch": lambda ids: _UPDATE,
    "stacks:restore_snapshot": lambda ids: None,
    "stacks:snapshot": lambda ids: {"name": "theirs"},
    "stacks:update": lambda ids: _UPDATE,
    "stacks:update_patch": lambda ids: _UPDATE,
    "stacks:validate_template": None,
}
#: Keys of queries by which lists are filtered, and the part whose values they take.
FILTERS = {
    "marker": ("stack_id", "nested_id", "event_id", "config_id"),
    "id": ("stack_id", "nested_id"),
    "name": ("stack_name",),
    "stack": ("stack_name", "stack_id", "nested_id"),
    "owner_id": ("stack_id",),
    "server_id": ("server_id",),
    "tags": ("tag",),
}
#: Methods that change nothing.
READS = {"GET", "HEAD", "OPTIONS"}


def list_fields(name: str) -> dict[str, Any]:
    """The fields of an action."""
    return {item.name: item for item in fields(find_action_class(name))}  # type: ignore[arg-type]


def make_stack(client: Any, name: str) -> dict[str, str]:
    """A stack with one of everything; gives its ids."""
    path = client.create(name, TEMPLATE, parameters={"password": SECRET}, files=FILES, tags=name)
    snapshot = client("POST", f"{path}/snapshots", {"name": "s"}).body["id"]
    client.wait(path)
    config = client("POST", "/software_configs", {"name": "c", "config": name}).body
    body = {"config_id": config["software_config"]["id"], "server_id": f"{name}-server"}
    deployment = client("POST", "/software_deployments", body).body["software_deployment"]
    rows = client("GET", f"{path}/resources").body["resources"]
    [nested_id] = [row["physical_resource_id"] for row in rows if row["resource_name"] == "nest"]
    nested = client("GET", f"/stacks/{nested_id}").headers["Location"].split("/")[-2]
    caller = Caller("u1", "ann", client.project)
    plan_id = keep_plan(Project(client.dispatcher.service, caller, client.project), {})
    return {
        "plan_id": plan_id,
        "verb": "delete",
        "stack_name": name,
        "stack_id": path.rpartition("/")[2],
        "stack": name,
        "nested_id": nested_id,
        "nested_name": nested,
        "snapshot_id": snapshot,
        "resource": "a",
        "event_id": client("GET", f"{path}/resources/a/events").body["events"][0]["id"],
        "output": "o",
        "config_id": config["software_config"]["id"],
        "deployment_id": deployment["id"],
        "server_id": f"{name}-server",
        "tag": name,
        "part": "resources",
        "type": "OS::Heat::TestResource",
        "version": "heat_template_version.rocky",
        "token": "none",
        "code": "none",
    }


@pytest.fixture(scope="module")
def ids(api: Any) -> dict[str, str]:
    """The ids of the project ``mine``."""
    return make_stack(api.become("mine"), "private")


@pytest.fixture(scope="module")
def own_ids(api: Any) -> dict[str, str]:
    """The ids of the project ``theirs``."""
    return make_stack(api.become("theirs"), "other")


def list_parts(route: Route) -> set[str]:
    """The names of the parts of a path."""
    return set(re.findall(r"\{(\w+)", route.path))


def fill(path: str, ids: Ids) -> str:
    """A path with its parts in place."""
    plain = re.sub(r"\{(\w+):[^/]*\}(?=/|$)", r"{\1}", path)
    return re.sub(r"\{(\w+)\}", lambda part: ids[part[1]], plain)


def list_forms(route: Route, ids: Ids) -> Iterator[dict[str, str]]:
    """The ways to name a stack, what is nested in it, and their parts."""
    yield dict(ids)
    nested = {"stack_id": ids["nested_id"], "stack_name": ids["nested_name"], "resource": "i"}
    if "stack_id" in list_parts(route):
        yield {**ids, **nested}
    elif "stack" in list_parts(route):
        yield {**ids, "stack": ids["stack_id"]}
        yield {**ids, "stack": ids["nested_id"], "resource": "i"}
    elif "stack_name" in list_parts(route):
        yield {**ids, "stack_name": ids["stack_id"]}
        yield {**ids, "stack_name": ids["nested_id"]}
        yield {**ids, "stack_name": ids["nested_name"]}
        for project in ("mine", "theirs"):
            arn = f"arn:openstack:heat::{project}:stacks/{ids['stack_name']}/{ids['stack_id']}"
            yield {**ids, "stack_name": arn}


def list_pairs(route: Route, ids: Ids, own_ids: Ids) -> Iterator[tuple[Ids, Ids]]:
    """Ids of the other project, and beside them the same request for what is not there."""
    absent = dict.fromkeys(OWNED, ABSENT)
    for form in list_forms(route, ids):
        arn = form["stack_name"].startswith("arn:")
        name = form["stack_name"].replace(ids["stack_id"], ABSENT) if arn else ABSENT
        name = name.replace("/private/", f"/{ABSENT}/")
        yield form, {**form, **absent, "stack_name": name}
    parts = list_parts(route) & IDS
    if parts and "stack_id" in list_parts(route):  # what belongs to another stack, below an own one
        yield (
            {**own_ids, **{name: ids[name] for name in parts}},
            {**own_ids, **absent, **{name: own_ids[name] for name in OWNED - parts}},
        )


def list_routes(api: Any) -> list[Route]:
    """Every route of every interface that is a project's."""
    routes = [route for each in api.dispatcher.interfaces for route in each.table.routes]
    return [
        route
        for route in routes
        if not route.path.startswith(WITHOUT_PROJECT)
        and not route.operation.startswith(READ_BY_BODY)
    ]


def show(reply: Any, ids: Ids, absent: Ids) -> str:
    """A reply as text, without the names that the request had."""
    text = json.dumps([reply.status, reply.body, dict(reply.headers), reply.media_type])
    names = {*ids.values(), *absent.values()} - {"a", "i", "o", "resources"}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "NAME")
    return re.sub(r'(?<=[ (])(a|i|o)(?=[ )."])', "NAME", text)


def send(client: Any, route: Route, ids: Ids, **query: str) -> Any:
    """The reply of a route; ``ids`` fills its path and its body."""
    body = None if route.method in READS else BODIES[route.operation]
    path = fill(route.path, {**ids, "project": client.project})
    if route.path.startswith(PAGES):
        return open_page(client, route.method, path, query)
    return client.send(route.method, path, body(ids) if body else None, query=urlencode(query))


def open_page(client: Any, method: str, path: str, query: Mapping[str, str]) -> Any:
    """The reply of a page to a browser that is signed in."""
    target = client.dispatcher.find_target(method, path)
    sessions = target.interface.sessions
    value = sessions.begin(
        client.token, sessions.identity.authenticate({"x-auth-token": client.token})
    )
    cookie = format_cookie(value, is_secure=False).partition(";")[0]
    headers = {"cookie": cookie, "host": "heat.example:8004", "origin": BASE}
    headers["content-type"] = "application/x-www-form-urlencoded"
    form = b"" if method in READS else urlencode({"csrf": sessions.make_csrf(headers)}).encode()
    request = Request(method, path, urlencode(query), headers, form, BASE, "req-1")
    answer = client.dispatcher.answer(request, target)
    # but for what is of this session, and of this moment
    text = re.sub(r'value="[^"]{20,}"|>[^<]*(?=</time>)', "", answer.format_body().decode())
    return Reply(answer.status, text, answer.headers, answer.media_type)


def test_every_route_says_what_it_names(api: Any) -> None:
    for route in list_routes(api):
        unknown = list_parts(route) - OWNED - SHARED
        assert not unknown, f"{route.path}: is {unknown} a project's? Add it to OWNED or SHARED."
        is_known = route.method in READS or route.operation in BODIES
        assert is_known, f"{route.operation} has no entry in BODIES."


def test_an_id_of_another_project_is_an_id_of_nothing(
    api: Any, ids: dict[str, str], own_ids: dict[str, str]
) -> None:
    theirs, asked = api.become("theirs"), 0
    for route in list_routes(api):
        if not list_parts(route) & OWNED:
            continue
        for known, absent in list_pairs(route, ids, own_ids):
            seen, nothing = send(theirs, route, known), send(theirs, route, absent)
            where = (route.method, route.path, known)
            is_list = route.operation in LISTS_BY_NAME
            assert seen.status == (200 if is_list else 404), (where, seen.body)
            assert show(seen, known, absent) == show(nothing, known, absent), where
            asked += 1
    assert asked > 100


def test_nothing_of_another_project_is_named_by_a_body(
    api: Any, ids: dict[str, str], own_ids: dict[str, str]
) -> None:
    theirs = api.become("theirs")
    for route in list_routes(api):
        body = None if route.method in READS else BODIES[route.operation]
        if body is None or body(ids) == body(own_ids):
            continue
        for path in (ids, own_ids):
            known, absent = body(ids), body(dict.fromkeys(ids, ABSENT))
            place = fill(route.path, {**path, "project": "theirs"})
            seen = theirs.send(route.method, place, known)
            nothing = theirs.send(route.method, place, absent)
            assert seen.status == 404, (route.path, seen.body)
            gone = dict.fromkeys(ids, ABSENT)
            assert show(seen, ids, gone) == show(nothing, ids, gone), route.path


#: Values of fields of actions that have no default, by their types.
VALUES: dict[str, Any] = {
    "Bundle": {"template": "heat_template_version: 2018-08-31", "environment_files": []},
    "str": "a",
    "bool": True,
    "tuple[str, ...]": ["a"],
    "Mapping[str, Any]": {},
}


@pytest.mark.parametrize("name", [name for name in ACTIONS if "stack" in list_fields(name)])
def test_an_action_on_a_stack_of_another_project_is_one_on_nothing(
    api: Any, ids: dict[str, str], name: str
) -> None:
    theirs, replies = api.become("theirs"), []
    needed = {
        key: VALUES[str(item.type)]
        for key, item in list_fields(name).items()
        if item.default is MISSING and item.default_factory is MISSING
    }
    for stack in (ids["stack_id"], ids["nested_id"], ids["stack_name"], ABSENT):
        body = json.dumps({"action": name, **needed, "stack": stack}).encode()
        headers = {"x-auth-token": "theirs", "idempotency-key": f"{name}-{stack}"}
        path = "/zonda/v1/theirs/actions"
        request = Request("POST", path, "", headers, body, BASE, "req-1")
        answer = theirs.dispatcher.answer(request, theirs.dispatcher.find_target("POST", path))
        assert answer.status == 404, (stack, answer.body)
        replies.append(answer.format_body().decode().replace(stack, "NAME"))
    assert len(set(replies)) == 1, replies


def test_a_list_has_nothing_of_another_project(
    api: Any, ids: dict[str, str], own_ids: dict[str, str]
) -> None:
    everything = {"show_nested": "true", "show_hidden": "true", "show_deleted": "true"}
    theirs = api.become("theirs")
    for route in list_routes(api):
        if route.method != "GET" or list_parts(route) - SHARED - {
            "stack_name",
            "stack_id",
            "stack",
        }:
            continue
        is_stack_list = route.path.endswith(("/stacks", "/stacks/detail"))
        query = everything if is_stack_list else {}
        shown = json.dumps(send(theirs, route, own_ids, **query).body)
        assert "private" not in shown, route.path
        assert not any(ids[key] in shown for key in ids if key.endswith("_id")), route.path


@pytest.mark.parametrize("key", FILTERS)
def test_a_filter_by_an_id_of_another_project_is_one_by_nothing(
    api: Any, ids: dict[str, str], own_ids: dict[str, str], key: str
) -> None:
    theirs = api.become("theirs")
    for route in list_routes(api):
        if route.method != "GET" or list_parts(route) - SHARED - {
            "stack_name",
            "stack_id",
            "stack",
        }:
            continue
        for part in FILTERS[key]:
            seen = send(theirs, route, own_ids, **{key: ids[part]})
            nothing = send(theirs, route, own_ids, **{key: ABSENT})
            gone = dict.fromkeys(ids, ABSENT)
            assert show(seen, ids, gone) == show(nothing, ids, gone), (route.path, key)


def ask_for_token(client: Any, project: str, **method: Any) -> Any:
    """The reply to a login for a project."""
    identity = {"methods": list(method), **method}
    auth = {"identity": identity, "scope": {"project": {"id": project}}}
    return client.send("POST", TOKENS, {"auth": auth})


def test_a_login_for_another_project_is_one_for_nothing(api: Any) -> None:
    mine, theirs = api.become("mine"), api.become("theirs")
    user = {"id": "theirs", "password": "theirs"}
    logins: list[dict[str, Any]] = [{"password": {"user": user}}, {"token": {"id": "theirs"}}]
    for login in logins:
        assert ask_for_token(theirs, "theirs", **login).status == 201
        seen, nothing = (ask_for_token(theirs, each, **login) for each in ("mine", ABSENT))
        assert (seen.status, seen.body) == (nothing.status, nothing.body)
        assert seen.status == 401
    token = ask_for_token(mine, "mine", token={"id": "mine"}).headers["X-Subject-Token"]
    assert mine.send("GET", TOKENS, x_subject_token=token).status == 200
    seen, nothing = (
        theirs.send("GET", TOKENS, x_subject_token=each) for each in (token, f"{token[:-1]}!")
    )
    assert (seen.status, seen.body) == (nothing.status, nothing.body)
    assert seen.status == 404


def test_the_same_name_may_be_had_twice(api: Any, ids: dict[str, str]) -> None:
    theirs = api.become("others")
    path = theirs.create("private", {"heat_template_version": "2018-08-31"})
    assert path.rpartition("/")[2] != ids["stack_id"]
    assert theirs("DELETE", path).status == 204
    theirs.wait(path)
    assert api.become("mine").state(f"/stacks/private/{ids['stack_id']}") == "SNAPSHOT_COMPLETE"


@pytest.mark.parametrize(
    "path", [row[1] for row in ROWS if row[0] == "GET" and "abandon" not in row[1]]
)
def test_a_hidden_value_is_in_no_answer(api: Any, ids: dict[str, str], path: str) -> None:
    mine = api.become("mine/admin")
    query: Any = {"nested_depth": 3, "with_detail": "true"} if path.endswith("/resources") else {}
    reply = mine("GET", fill(path, ids), **query)
    assert reply.status in (200, 302), reply.body
    assert SECRET not in json.dumps(reply.body)


def test_an_administrator_reaches_the_stacks_of_all_projects_by_id(
    api: Any, ids: dict[str, str]
) -> None:
    admin = api.become("theirs/admin")
    path = f"/stacks/private/{ids['stack_id']}"
    assert admin("GET", path).body["stack"]["stack_name"] == "private"
    reply = admin("GET", f"/stacks/{ids['stack_id']}")
    assert reply.headers["Location"] == f"http://heat.example:8004/v1/mine{path}"
    assert admin("GET", "/stacks/private").status == 404


def test_no_write_of_another_project_changed_anything(
    api: Any, ids: dict[str, str], own_ids: dict[str, str]
) -> None:
    mine = api.become("mine")
    place = f"/stacks/private/{ids['stack_id']}"
    seen = [mine("GET", f"{place}{part}").body for part in ("", "/events", "/snapshots")]
    kept = [mine("GET", f"/{kind}").body for kind in ("software_configs", "software_deployments")]
    theirs = api.become("theirs")
    for route in list_routes(api):
        if route.method not in READS and list_parts(route) & OWNED:
            for known, _ in list_pairs(route, ids, own_ids):
                send(theirs, route, known)
    assert [mine("GET", f"{place}{part}").body for part in ("", "/events", "/snapshots")] == seen
    again = [mine("GET", f"/{kind}").body for kind in ("software_configs", "software_deployments")]
    assert again == kept
