"""Errors that a hidden value makes: none of them quotes it, however it was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from .conftest import Walk, format_bundle
from .faults import FAULTS, FILES, HOT

FAULT = "swordfishfault"
#: Reads of templates, and their arguments beside the template.
READS: dict[str, dict[str, Any]] = {
    "templates.validate": {"ignore_unknown": False, "all_given": True},
    "templates.list_parameters": {"given_too": True},
    "templates.list_candidates": {},
    "templates.explain_type": {"type_name": "number.yaml", "resource": "one"},
    "inspector.build_template_graph": {"name": "x"},
}


@pytest.fixture(scope="module")
def stack(walk: Walk) -> str:
    """A stack that updates are refused for."""
    return walk.create("s", HOT)


@pytest.mark.parametrize("name", FAULTS)
def test_no_error_quotes_a_hidden_value(walk: Walk, stack: str, name: str) -> None:
    template = json.loads(json.dumps(FAULTS[name]).replace("HIDDEN", FAULT))
    parameters = {"hidden": FAULT}
    before = len(walk.shown)
    body = {"template": template, "files": FILES}
    stack_id = walk.create(f"fault-{name}", **body, parameters=parameters)
    for inputs in ({"parameters": parameters}, {"environment": {"parameters": parameters}}):
        walk.send("POST", "/v1/p1/stacks/preview", {"stack_name": "p", **body, **inputs})
        walk.send("POST", "/v1/p1/validate", {**body, **inputs}, "show_nested=true")
        update = f"/v1/p1/stacks/s/{stack}"
        for method, path in (
            ("PUT", ""),
            ("PATCH", ""),
            ("PUT", "/preview"),
            ("PATCH", "/preview"),
        ):
            walk.send(method, update + path, {**body, **inputs})
    links = {"": dict.fromkeys(FILES, "number.yaml")}
    bundle = format_bundle(template, parameters=parameters, files=FILES, links=links)
    for read, arguments in READS.items():
        walk.send("POST", f"/zonda/v1/p1/read/{read}", {"bundle": bundle, **arguments})
    action = {"action": "CreateStack", "name": "planned", "bundle": bundle}
    planned = {"action": json.dumps(action), "keep": True, "outside": []}
    walk.send("POST", "/zonda/v1/p1/read/stacks.plan", planned)
    environment = yaml.safe_dump({"parameters": parameters})
    form = {
        "name": f"formed-{name}",
        "template": yaml.safe_dump(template),
        "environment": environment,
    }
    walk.send("POST", "/ui/p1/new", form)
    if stack_id:
        place = f"/v1/p1/stacks/fault-{name}/{stack_id}"
        for part in ("", "/resources", "/events", "/outputs", "/resources/one", "/outputs/o"):
            walk.send("GET", place + part)
        for part in ("", "/why", "/events", "/history"):
            walk.send("GET", f"/ui/p1/stacks/{stack_id}{part}")
    shown = [
        each
        for each in walk.shown[before:]
        if FAULT in each.text and (each.status, each.operation) != (200, "stacks:validate_template")
    ]
    leaks = [(each.path, each.text[max(0, each.text.find(FAULT) - 200) :][:300]) for each in shown]
    assert leaks == []
    assert {each.status for each in walk.shown[before:]} <= {200, 201, 202, 303, 400, 404, 409}
    assert not [place for place, text in walk.read_traces().items() if FAULT in text]
