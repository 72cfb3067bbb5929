"""The OpenAPI documents: valid, served, and neither more nor less than the route tables say."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate
from tests.api import contract

from zonda.core.api.http.requests import Request, parse_query
from zonda.core.api.http.routes import Route
from zonda.core.api.identity.policy import RULES
from zonda.core.api.server import dispatch
from zonda.core.api.zonda.routes import ALL_READS

REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference"
#: Files of the reference by the names under which the documents are served.
FILES = {
    "heat.yaml": "heat-api.openapi.yaml",
    "zonda.yaml": "zonda-api.openapi.yaml",
    "login.yaml": "login-api.openapi.yaml",
}
DOCUMENTS = sorted(contract.DOCUMENTS.values())


def list_routes(api: Any, document: str) -> dict[tuple[str, str], Route]:
    """The routes of a document's interface by method and path, as OpenAPI says them."""
    [prefix] = [prefix for prefix, name in contract.DOCUMENTS.items() if name == document]
    [interface] = [each for each in api.dispatcher.interfaces if each.prefix == prefix]
    return {
        (route.method, path): route
        for route in interface.table.routes
        for path in contract.expand(route)
    }


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_document_is_valid(document: str) -> None:
    validate(contract.load(document))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_document_is_served_to_everybody(api: Any, document: str) -> None:
    reply = api.become("").send("GET", f"/openapi/{document}")
    assert (reply.status, reply.media_type) == (200, "application/yaml")
    assert reply.body == (REFERENCE / FILES[document]).read_text(encoding="utf-8")


def test_a_document_that_is_not_there_is_not_found(api: Any) -> None:
    assert api.send("GET", "/openapi/other.yaml").status == 404
    assert api.send("GET", "/openapi/..%2Fheat.yaml").status == 404


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_route_is_described_and_nothing_else(api: Any, document: str) -> None:
    described = contract.list_operations(document)
    assert sorted(described) == sorted(list_routes(api, document))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_operations_policies_and_parts_of_paths_are_those_of_the_routes(
    api: Any, document: str
) -> None:
    described = contract.list_operations(document)
    for key, route in list_routes(api, document).items():
        operation = described[key]
        assert operation.content["x-operation"] == route.operation, key
        assert operation.content["x-policy"] == route.policy, key
        assert route.policy in RULES, key
        parts = {name for place, name in operation.parameters if place == "path"}
        assert parts == set(re.findall(r"\{(\w+)\}", operation.path)), key


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_names_of_operations_are_unique(document: str) -> None:
    found = [each.content["operationId"] for each in contract.list_operations(document).values()]
    assert len(found) == len(set(found))


#: The schemas of arguments by their annotations.
ARGUMENTS = {
    "str": {"type": "string"},
    "int": {"type": "integer", "minimum": 1 - 2**53, "maximum": 2**53 - 1},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "list[str]": {"type": "array", "items": {"type": "string"}},
    "Path": {"$ref": "#/components/schemas/Path"},
    "StackView": {"$ref": "#/components/schemas/Stack"},
    "Bundle": {"$ref": "#/components/schemas/Bundle"},
    "Action": {"$ref": "#/components/schemas/Action"},
}


@pytest.mark.parametrize("name", ALL_READS)
def test_the_arguments_and_the_result_of_a_read_are_those_of_its_function(name: str) -> None:
    operation = contract.list_operations("zonda.yaml")["POST", f"/zonda/v1/{{project}}/read/{name}"]
    body = operation.content["requestBody"]["content"]["application/json"]["schema"]
    signature = inspect.signature(ALL_READS[name].function)
    expected = [*signature.parameters.values()][1:]
    assert body.get("required", []) == [x.name for x in expected if x.default is x.empty]
    found = {}
    for each in expected:
        kind, bar, _ = str(each.annotation).partition(" | ")
        schema: Any = ARGUMENTS[kind]
        found[each.name] = {"anyOf": [schema, {"type": "null"}]} if bar else schema
    assert body.get("properties", {}) == found
    assert operation.content["x-result"] == signature.return_annotation


class ReadKeys(dict[str, tuple[str, ...]]):
    """A query that tells which of its keys somebody has looked for."""

    def __init__(self, query: Any, keys: set[str]) -> None:
        super().__init__(query)
        self.keys_read = keys

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_read.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.keys_read.add(str(key))
        return super().__contains__(key)


def test_the_keys_of_queries_are_those_that_handlers_look_for(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = api.create("asked").split("/")
    event = api("GET", f"/stacks/asked/{stack[3]}/resources/first/events").body["events"][0]
    config = api("POST", "/software_configs", {"name": "c"}).body["software_config"]["id"]
    parts = {
        "project": "p1",
        "stack_name": "asked",
        "stack_id": stack[3],
        "resource": "first",
        "event_id": event["id"],
        "output": "text",
        "type": "OS::Heat::TestResource",
        "version": "heat_template_version.2018-08-31",
        "config_id": config,
        "server_id": "some",
    }
    template = b'{"template": {"heat_template_version": "2018-08-31"}}'
    bodies = dict.fromkeys(("validate_template", "preview_update", "preview_patch"), template)
    seen: set[str] = set()
    monkeypatch.setattr(dispatch, "parse_query", lambda text: ReadKeys(parse_query(text), seen))
    looked = 0
    for operation in contract.list_operations("heat.yaml").values():
        name, missing = operation.content["operationId"], re.findall(r"\{(\w+)\}", operation.path)
        if (operation.method != "GET" and name not in bodies) or {*missing} - parts.keys():
            assert not operation.query, name
            continue
        seen.clear()
        request = Request(
            operation.method,
            operation.path.format(**parts),
            "with_detail=true" if name == "list_resources" else "",
            {"x-auth-token": "p1/admin"},
            bodies.get(name, b""),
            "http://heat.example",
            "req-1",
        )
        target = api.dispatcher.find_target(request.method, request.path)
        answer = api.dispatcher.answer(request, target)
        assert answer.status in (200, 302), (name, answer)
        assert seen == operation.query, name
        looked += 1
    assert looked > 20


def test_an_answer_that_is_not_described_is_noticed() -> None:
    operation = contract.list_operations("heat.yaml")["GET", "/v1/{project}/build_info"]
    good = {"api": {"revision": "r"}, "engine": {"revision": "r"}}
    contract.check_answer(operation, 200, "application/json", good)
    for status, body in ((200, {**good, "more": 1}), (200, {}), (201, good), (404, good)):
        with pytest.raises(AssertionError):
            contract.check_answer(operation, status, "application/json", body)
    with pytest.raises(AssertionError):
        contract.check_answer(operation, 200, "text/html", "")
