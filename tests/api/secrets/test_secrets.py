"""A secret through every route, event, metric, trace and log: it is nowhere but by Heat's contract.

The walk takes the route tables of all interfaces. A route with a part of a path, a write or a read
of zonda's own API that nothing here can fill fails.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

import pytest
import yaml

from zonda.core.api.http.routes import Route
from zonda.core.api.zonda.routes import ALL_READS
from zonda.core.engine.actions.table import ACTIONS, find_action_class

from .conftest import TOKEN, Walk, format_bundle
from .faults import HOT

#: Secrets by what they are. None is a word of anything else.
PARAMETER, ENVIRONMENT = "swordfishparameter", "swordfishenvironment"
DEFAULT, PROPERTY, LIVE = "swordfishdefault", "swordfishproperty", "swordfishlive"
INPUT, FAULT = "swordfishinput", "swordfishfault"

_POLL = "an agent polls what it has to apply"
_SENT = "what the client has just sent comes back"
_RANDOM = "the attribute and the reference of a RandomString, at the resource itself"
_OWN = "the inputs of a configuration, for the one who has made it"
VALIDATE = "stacks:validate_template"
#: The operations that give a secret by Heat's contract: which secrets, why.
CONTRACT: list[tuple[str, set[str], str]] = [
    (VALIDATE, {"default", "parameter", "environment"}, _SENT),
    (
        "stacks:abandon",
        {"default", "property", "parameter", "environment", "random"},
        "all that whoever adopts the stack needs, which nothing else has from then on",
    ),
    ("resource:metadata", {"input", "parameter"}, _POLL),
    ("software_deployments:metadata", {"input", "parameter"}, _POLL),
    ("signals:metadata", {"parameter"}, _POLL),
    ("software_deployments:show", {"input", "parameter"}, _OWN),
    ("software_deployments:index", {"input", "parameter"}, _OWN),
    *((f"software_{kind}:create", {"input"}, _SENT) for kind in ("configs", "deployments")),
    ("software_deployments:update", {"input"}, _OWN),
    ("resource:show", {"random"}, _RANDOM),
    ("reads:reader.resource", {"random"}, _RANDOM),
    ("reads:reader.resources", {"random"}, _RANDOM),
]

#: Operations of which only refusals are looked at: they need an administrator, a code, a file or a
#: plan that nothing here has, or something that has gone when they have their turn.
NEVER = {
    *("service:index", "callbacks:receive", "pages:static", "stacks:apply", "drift:repair"),
    *("software_configs:delete", "stacks:restore_snapshot", "reads:reference.list_plugins"),
}

TEMPLATE = {
    **HOT,
    "parameters": {
        "password": {"type": "string", "hidden": True},
        "other": {"type": "string", "hidden": True},
        "third": {"type": "string", "hidden": True, "default": DEFAULT},
        "size": {"type": "number", "default": 1},
    },
    "resources": {
        "a": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "password"}}},
        "b": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "other"}}},
        "c": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "third"}}},
        "random": {"type": "OS::Heat::RandomString"},
        "handle": {
            "type": "OS::Heat::WaitConditionHandle",
            "properties": {"signal_transport": "CFN_SIGNAL"},
        },
        "token": {"type": "OS::Heat::WaitConditionHandle"},
        "server": {"type": "OS::Heat::DeployedServer"},
        "config": {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {"config": "true", "inputs": [{"name": "secret"}]},
        },
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "config"},
                "server": {"get_resource": "server"},
                "input_values": {"secret": {"get_param": "password"}},
                "signal_transport": "NO_SIGNAL",
            },
        },
        "nest": {
            "type": "inner.yaml",
            "properties": {
                "p": {"get_param": "password"},
                "random": {"get_attr": ["random", "value"]},
                "url": {"get_attr": ["handle", "curl_cli"]},
            },
        },
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": {"get_param": "size"},
                "resource_def": {
                    "type": "OS::Heat::TestResource",
                    "properties": {"value": {"get_param": "password"}},
                },
            },
        },
        "thing": {
            "type": "Test::Thing",
            "properties": {"folder": "FOLDER", "value": "one", "secret": PROPERTY},
        },
        "thing2": {
            "type": "Test::Thing",
            "properties": {
                "folder": "FOLDER",
                "value": {"get_param": "password"},
                "secret": {"get_attr": ["random", "value"]},
            },
        },
    },
    "outputs": {
        "password": {"value": {"get_param": "password"}},
        "other": {"value": {"get_attr": ["b", "value"]}},
        "third": {"value": {"get_attr": ["c", "value"]}},
        "nested": {"value": {"get_attr": ["nest", "o"]}},
        "group": {"value": {"get_attr": ["group", "output"]}},
        "joined": {"value": {"list_join": ["-", ["x", {"get_param": "password"}]]}},
        "random": {"value": {"get_attr": ["nest", "random"]}},
        "curl": {"value": {"get_attr": ["token", "curl_cli"]}},
        "url": {"value": {"get_attr": ["nest", "url"]}},
    },
}
INNER = yaml.safe_dump(
    {
        **HOT,
        "parameters": {name: {"type": "string", "hidden": True} for name in ("p", "random", "url")},
        "resources": {
            "i": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "p"}}},
            "j": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "random"}},
            },
        },
        "outputs": {
            "o": {"value": {"get_attr": ["i", "output"]}},
            "random": {"value": {"get_param": "random"}},
            "url": {"value": {"get_param": "url"}},
        },
    }
)
#: A stack that fails: the reason has the value.
FAILING = {
    **HOT,
    "parameters": {"password": {"type": "string", "hidden": True}},
    "resources": {
        "a": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "password"}}},
        "r": {
            "type": "OS::Heat::RandomString",
            "properties": {"length": {"get_attr": ["a", "output"]}},
        },
    },
    "outputs": {"o": {"value": {"digest": ["none", {"get_attr": ["a", "output"]}]}}},
}
ENVIRONMENT_TEXT = yaml.safe_dump({"parameters": {"other": ENVIRONMENT}})
#: Operations that end what is walked; they have their turn at the end.
LAST = re.compile(r"(?i)delete|abandon|restore|rollback")


def make_inputs(walk: Walk, **parameters: Any) -> dict[str, Any]:
    """The inputs of the stack that is walked, for Heat's API."""
    text = json.dumps(TEMPLATE).replace("FOLDER", str(walk.folder))
    return {
        "template": json.loads(text),
        "parameters": {"password": PARAMETER, **parameters},
        "environment": ENVIRONMENT_TEXT,
        "files": {"inner.yaml": INNER},
    }


def make_bundle(walk: Walk, **parameters: Any) -> dict[str, Any]:
    """The same for zonda's own API."""
    inputs = make_inputs(walk, **parameters)
    return format_bundle(
        inputs["template"],
        environment_files=[["e.yaml", ENVIRONMENT_TEXT]],
        parameters=inputs["parameters"],
        files={**inputs["files"], "e.yaml": ENVIRONMENT_TEXT},
        links={"": {"inner.yaml": "inner.yaml"}},
    )


def make_form(walk: Walk) -> dict[str, Any]:
    """The same for pages, whose template cannot take parameters."""
    inputs = make_inputs(walk)
    environment = {"parameters": {**inputs["parameters"], "other": ENVIRONMENT}}
    return {
        "name": "formed",
        "template": json.dumps(inputs["template"]),
        "environment": yaml.safe_dump(environment),
        "file_name": "inner.yaml",
        "file_text": INNER,
    }


def list_bodies(walk: Walk, ids: Mapping[str, str]) -> dict[str, Any]:
    """The bodies of writes, by operation."""
    update = make_inputs(walk, size=2)
    deployment = {
        "config_id": ids["config_id"],
        "server_id": "s",
        "input_values": {"secret": INPUT},
    }
    bodies = {
        "actions:action": {"check": None},
        "callbacks:receive": {},
        "pages:plan": make_form(walk),
        "stacks:preview_update": make_form(walk),
        "pages:action": {"name": "s", "resource": "a"},
        "stacks:apply": {"name": "s"},
        "drift:ignore": {"resource": "thing", "property": "secret", "reason": "r"},
        "pages:sign_in": {"token": TOKEN},
        "resource:mark_unhealthy": {"mark_unhealthy": True},
        "resource:signal": {"status": "SUCCESS"},
        "signals:send": {"status": "SUCCESS"},
        "software_configs:create": {"name": "c", "inputs": [{"name": "secret", "default": INPUT}]},
        "software_deployments:create": deployment,
        "software_deployments:update": {"status": "COMPLETE"},
        "stacks:create": {"stack_name": "again", **make_inputs(walk)},
        "stacks:preview": {"stack_name": "seen", **make_inputs(walk)},
        "stacks:snapshot": {"name": "n"},
        "stacks:validate_template": make_inputs(walk),
        "stacks:lookup": update,
        "stacks:update": update,
        "stacks:update_patch": {**update, "parameters": {"size": 3}},
        "stacks:preview_update_patch": {**update, "parameters": {"size": 3}},
    }
    empty = ("drift:check", "drift:repair", "pages:sign_out", "stacks:delete", "stacks:abandon")
    more = ("stacks:delete_snapshot", "stacks:restore_snapshot", "software_configs:delete")
    return {**bodies, **dict.fromkeys((*empty, *more, "software_deployments:delete"), None)}


def list_stacks(walk: Walk) -> list[tuple[str, str, list[str]]]:
    """The stacks of the project: name, id and resources, what is nested among them."""
    reader = walk.app.reader
    return [
        (stack.name, stack.id, [each.name for each in reader.list_resources(stack.id)])
        for stack in reader.stacks("p1", nested=True)
    ]


def list_forms(walk: Walk, route: Route, ids: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The parts of a path, for every thing that there is."""
    parts = set(re.findall(r"\{(\w+)", route.path))
    if "token" in parts:
        yield from ({**ids, "token": walk.marks[each]} for each in ("url", "metadata-url"))
        return
    if not parts & {"stack_name", "stack_id", "stack"}:
        yield dict(ids)
        return
    for name, stack_id, resources in list_stacks(walk):
        form = {**ids, "stack_name": name, "stack_id": stack_id, "stack": stack_id}
        if ":arn:" in route.path:
            form["stack_name"] = f"arn:openstack:heat::p1:stacks/{name}/{stack_id}"
        if "event_id" in parts:
            for event in walk.app.reader.events(stack_id, 0, 50):
                yield {**form, "resource": event.resource_name or name, "event_id": event.id}
        elif "resource" in parts:
            yield from ({**form, "resource": each} for each in resources)
        elif "output" in parts:
            yield from ({**form, "output": each} for each in TEMPLATE["outputs"])
        elif "verb" in parts:
            verbs = ("suspend", "check", "cancel", "rollback", "retry", "signal", "unhealthy")
            yield from ({**form, "verb": each} for each in verbs)
        else:
            yield form


def fill(path: str, parts: Mapping[str, str]) -> str:
    """A path with its parts in place; raises KeyError for a part that nobody knows."""
    plain = re.sub(r"\{(\w+):[^/]*\}(?=/|$)", r"{\1}", path)
    return re.sub(r"\{(\w+)\}", lambda part: parts[part[1]], plain)


def ask(walk: Walk, route: Route, ids: Mapping[str, str]) -> None:
    """Send a route for every thing that there is."""
    queries = [""]
    if route.path.endswith(("/resources", "/detail", "/events", "/stacks")):
        queries += ["nested_depth=5&with_detail=true&after=0", "show_nested=true"]
    if route.path.endswith("/resources/{resource}"):
        queries += ["with_attr=value&with_attr=output&with_attr=curl_cli&with_attr=show"]
    for form in list_forms(walk, route, ids):
        body = None if route.method == "GET" else list_bodies(walk, form)[route.operation]
        for query in queries:
            walk.send(route.method, fill(route.path, form), body, query)


#: Values of arguments of reads, and of fields of actions, by name or type.
VALUES: dict[str, Any] = {
    **{"nested": True, "wanted": True, "absent": True, "after": 0, "limit": 100, "offset": 0},
    **{"beginning": "0", "seconds": 0, "seen": 0, "refresh": True, "reveal": False, "keep": True},
    **{"outside": [], "ignore_unknown": True, "all_given": False, "given_too": True, "depth": 9},
    **{
        "type_name": "OS::Heat::TestResource",
        "generation": 1,
        "since": 0,
        "names": ["r", "nest", "a"],
    },
    **{"first": 1, "second": None, "with_secrets": False, "at": ["resources", "a"]},
    **{"str": "a", "bool": True, "int": 1, "float": 1.0, "tuple[str, ...]": ["a"]},
    **{"example": True, "conditions": True, "version": "2018-08-31", "patterns": []},
    **{"Mapping[str, Any]": {"a": PARAMETER}},
}


def list_actions(walk: Walk, stack_id: str) -> Iterator[dict[str, Any]]:
    """One action of each kind on a stack."""
    for name in ACTIONS:
        body: dict[str, Any] = {"action": name}
        for item in fields(find_action_class(name)):  # type: ignore[arg-type]
            kind = str(item.type).partition(" | ")[0]
            if item.name == "stack":
                body["stack"] = stack_id
            elif kind == "Bundle":
                body[item.name] = make_bundle(walk, size=2)
            elif item.default is MISSING and item.default_factory is MISSING:
                body[item.name] = "acted" if item.name == "name" else VALUES[kind]
        yield body


def ask_read(walk: Walk, route: Route, ids: Mapping[str, str]) -> None:
    """Send a read of zonda's own API for every thing that there is."""
    wanted = [*inspect.signature(ALL_READS[route.operation[6:]].function).parameters][1:]
    reader, bundle = walk.app.reader, make_bundle(walk)
    for name, stack_id, resources in list_stacks(walk):
        checks = [each.id for each in reader.drift_checks(stack_id, 9, 0)] or ["none"]
        actions = [""]
        if "action" in wanted:
            actions = [json.dumps(each) for each in list_actions(walk, stack_id)]
        forms = [
            {
                **VALUES,
                **{"stack": stack_id, "root": stack_id, "name": each or name, "resource": each},
                "resource_id": next(
                    (row.id for row in reader.list_resources(stack_id) if row.name == each), "x"
                ),
                "template_id": reader.stack_by_id(stack_id).template_id,
                **{"check_id": check, "action": action, "key": ids["snapshot_id"]},
                "bundle": bundle,
            }
            for each in ([None, *resources] if {"resource", "name"} & {*wanted} else [None])
            for check in (checks if "check_id" in wanted else [""])
            for action in actions
        ]
        if route.operation == "reads:templates.explain_type":
            forms = [{**form, "resource": ""} for form in forms]
        for form in forms:
            body = {key: form[key] for key in wanted}
            walk.send("POST", fill(route.path, ids), body)


@pytest.fixture(scope="module")
def ids(walk: Walk) -> dict[str, str]:
    """The stacks that are walked; gives the parts of paths."""
    stack_id = walk.create("s", **make_inputs(walk))
    assert walk.wait(stack_id) == "CREATE_COMPLETE"
    failing = walk.create("f", FAILING, parameters={"password": PARAMETER})
    assert walk.wait(failing) == "CREATE_FAILED"
    path = f"/v1/p1/stacks/s/{stack_id}"
    snapshot = walk.send("POST", f"{path}/snapshots", {"name": "n"})["id"]
    walk.wait(stack_id)
    config = walk.send("POST", "/v1/p1/software_configs", {"name": "c", "config": "true"})
    config_id = config["software_config"]["id"]
    body = {"config_id": config_id, "server_id": "s", "input_values": {"secret": INPUT}}
    deployment = walk.send("POST", "/v1/p1/software_deployments", body)
    thing = walk.folder / "thing.json"
    thing.write_text(json.dumps({**json.loads(thing.read_text()), "secret": LIVE}))
    rows = walk.app.reader.resource_rows(stack_id)
    values = walk.app.stacks.make_values()._instances.build_values(
        walk.app.reader.stack_row(stack_id), rows
    )
    url = json.loads(values.attribute("handle", "signal", ()))["alarm_url"]
    collect = values.attribute("server", "os_collect_config", ())
    walk.marks = {
        **{"parameter": PARAMETER, "environment": ENVIRONMENT, "default": DEFAULT},
        **{"property": PROPERTY, "live": LIVE, "input": INPUT, "fault": FAULT, "token": TOKEN},
        "random": values.attribute("random", "value", ()),
        "url": url.rpartition("/")[2],
        "signal-token": values.attribute("token", "token", ()),
        "metadata-url": collect["request"]["metadata_url"].rpartition("/")[2],
    }
    servers = [row.physical_id for row in rows if row.name == "server"]
    return {
        **{"project": "p1", "snapshot_id": snapshot, "config_id": config_id, "part": "events"},
        "deployment_id": deployment["software_deployment"]["id"],
        **{"server_id": servers[0], "type": "Test::Thing", "token": walk.marks["url"]},
        **{"version": "heat_template_version.rocky", "name": "heat.yaml", "code": "x"},
        "plan_id": "none",
    }


def wait_for_all(walk: Walk) -> None:
    """Wait until all stacks are at rest."""
    for _, stack_id, _ in list_stacks(walk):
        walk.wait(stack_id)


def find_leaks(walk: Walk) -> list[tuple[str, str, str]]:
    """The secrets that stand where no contract has them: which, where, in which words."""
    leaks = []
    allowed = {operation: marks for operation, marks, _ in CONTRACT}
    for shown in walk.shown:
        for name, mark in walk.marks.items():
            at = shown.text.find(mark)
            if at >= 0 and name not in allowed.get(shown.operation, ()):
                leaks.append(
                    (name, f"{shown.operation} {shown.path}", shown.text[at - 150 : at + 60])
                )
    for place, text in walk.read_traces().items():
        for name, mark in walk.marks.items():
            at = text.find(mark)
            if at >= 0:
                leaks.append((name, place, text[max(0, at - 150) : at + 60]))
    return leaks


def test_the_walk_finds_secrets_nowhere_but_by_contract(walk: Walk, ids: dict[str, str]) -> None:
    routes = walk.list_routes()
    for stack_id in [stack_id for _, stack_id, _ in list_stacks(walk)]:
        walk.send("POST", f"/ui/p1/stacks/{stack_id}/drift/check")
        for check in walk.app.reader.drift_checks(stack_id, 9, 0):
            walk.app.engine.wait_for_check(check.id, 60.0)
    reads = [route for route in routes if route.method == "GET"]
    asked = [route for route in routes if route.operation.startswith("reads:")]
    writes = [route for route in routes if route not in (*reads, *asked)]
    submit = next(route for route in writes if route.operation == "actions:submit")
    writes.remove(submit)
    # of what there is, of what writes have made of it, and of what is left in the end
    first = [each for each in writes if not LAST.search(each.operation)]
    last = [each for each in writes if each not in first]
    last.sort(key=lambda each: each.operation in ("stacks:abandon", "stacks:delete"))
    for turn in (first, last, []):
        for route in (*reads, *asked):
            (ask_read if route in asked else ask)(walk, route, ids)
        for route in turn:
            ask(walk, route, ids)
            wait_for_all(walk)
        for _, stack_id, _ in list_stacks(walk):
            for body in list_actions(walk, stack_id):
                if turn is not first or not LAST.search(body["action"]):
                    walk.send("POST", fill(submit.path, ids), body)
                    wait_for_all(walk)
    assert walk.walked >= {*routes}
    done = {each.operation for each in walk.shown if each.status < 400}
    refused = {each.operation for each in routes} - done
    assert refused <= NEVER, sorted(refused - NEVER)
    leaks = {(mark, place.partition(" ")[0]): words for mark, place, words in find_leaks(walk)}
    assert leaks == {}
    seen = {
        operation
        for operation, marks, _ in CONTRACT
        for each in walk.shown
        if each.operation == operation and any(walk.marks[mark] in each.text for mark in marks)
    }
    assert sorted({operation for operation, _, _ in CONTRACT} - seen) == []
