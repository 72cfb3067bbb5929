"""The OpenAPI document of the ``http`` contract is valid, and what is sent conforms to it."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import requests
import yaml

from zonda.core.system.clock import SystemClock
from zonda.hooks.runners import ResourceRef, StackRef, StartRequest
from zonda.workflows.http_contract import callback_signature, states
from zonda.workflows.http_contract.callback_store import Callbacks
from zonda.workflows.http_runner.runner import HttpRunner
from zonda.workflows.service import server as service

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "reference" / "http-contract.openapi.yaml").read_text()
DOCUMENT: dict[str, Any] = yaml.safe_load(TEXT)
SCHEMAS = DOCUMENT["components"]["schemas"]
CLOCK = SystemClock()


def validator(schema: Mapping[str, Any]) -> jsonschema.Draft202012Validator:
    """Of a schema that may refer to the document's components."""
    whole = {**schema, "components": DOCUMENT["components"]}
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(whole, format_checker=checker)


def conforms(name: str, value: Any) -> None:
    validator({"$ref": f"#/components/schemas/{name}"}).validate(value)


# -- the document ---------------------------------------------------------------------------------


def test_the_document_is_valid_openapi() -> None:
    why = "pip install openapi-spec-validator (it is among the extra dev)"
    checker = pytest.importorskip("openapi_spec_validator", reason=why)
    checker.validate(DOCUMENT)


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_reference_leads_somewhere_and_every_schema_is_one() -> None:
    for reference in set(references(DOCUMENT)):
        found: Any = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_everything_that_is_declared_is_used() -> None:
    used = set(references(DOCUMENT))
    for kind in ("schemas", "responses", "parameters", "headers"):
        for name in DOCUMENT["components"][kind]:
            assert f"#/components/{kind}/{name}" in used
    told = DOCUMENT["paths"]["/v1/callbacks/{opaque}"]["put"]["security"]
    schemes = {name for entry in [*DOCUMENT["security"], *told] for name in entry}
    assert schemes == set(DOCUMENT["components"]["securitySchemes"])


def test_the_states_are_those_of_the_runner() -> None:
    assert SCHEMAS["State"]["enum"] == list(states.STATES)


def test_the_fields_and_headers_of_the_manual_are_those_of_the_document() -> None:
    manual = (ROOT / "docs" / "reference" / "http-contract.md").read_text()
    request, answer = manual.split("## The request")[1].split("## The answer")[:2]
    fields = re.findall(r"^\| (`.*?`) \|", request.split("| header |")[0], re.M)
    told = {name for row in fields for name in re.findall(r"`(\w+)`", row)}
    assert told == set(SCHEMAS["Request"]["properties"])
    listed = re.findall(r"`(\w+)`", answer.split("may be left out:")[1].split("| answer to")[0])
    known = {*SCHEMAS["Standing"]["properties"], *states.STATES} - {"contract"}
    assert set(listed) == known


# -- what is sent ---------------------------------------------------------------------------------


class Recorder(BaseHTTPRequestHandler):
    """Answers with what the test says, and keeps what came."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[dict[str, str], dict[str, Any]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((dict(self.headers.items()), body))
        self.send_response(204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def seen() -> list[tuple[dict[str, str], dict[str, Any]]]:
    return []


@pytest.fixture
def endpoint(seen: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Recorder,), {"seen": seen}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def request_of(action: str, **fields: Any) -> StartRequest:
    given: dict[str, Any] = {
        "workflow": "thing",
        "action": action,
        "key": "6f0cb1aa-0000-5000-8000-000000000001",
        "deadline": CLOCK.now() + 60,
        "stack": StackRef("s-1", "prod", "demo"),
        "resource": ResourceRef("r-1", "disk", "OS::Mistral::ExternalResource", None),
        "inputs": {"size": 1},
        **fields,
    }
    return StartRequest(**given)


def header_parameters() -> Mapping[str, Any]:
    parameters = DOCUMENT["components"]["parameters"].values()
    return {each["name"].lower(): each for each in parameters}


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(request_of("CREATE"), id="create"),
        pytest.param(request_of("UPDATE", old_inputs={"size": 0}, data={"a": 1}), id="update"),
        pytest.param(
            request_of("DELETE", create_key="k", data={}, params={"env": {}}), id="delete"
        ),
        pytest.param(request_of("CHECK", description="a text", attempt=3), id="check"),
    ],
)
def test_what_the_runner_sends_conforms(
    seen: list[tuple[dict[str, str], dict[str, Any]]],
    endpoint: str,
    tmp_path: Path,
    request_: StartRequest,
) -> None:
    place = {"folder": str(tmp_path / "callbacks"), "url": "http://127.0.0.1:8155"}
    runner = HttpRunner(
        {
            "clock": CLOCK,
            "random": random.Random(1),
            "endpoint": endpoint,
            "signing_keys": ["k", "l"],
            "callback": True,
            "service": place,
        }
    )
    runner.start(request_)
    runner.close()
    ((headers, body),) = seen
    conforms("Request", body)
    assert body["callback"]["url"].startswith("http://127.0.0.1:8155/v1/callbacks/")
    sent = {name.lower(): value for name, value in headers.items()}
    for name, parameter in header_parameters().items():
        assert name in sent
        validator(parameter["schema"]).validate(sent[name])


def test_a_field_that_is_not_in_the_document_is_found() -> None:
    with pytest.raises(jsonschema.ValidationError):
        conforms("Request", {"contract": 1, "surprise": True})
    with pytest.raises(jsonschema.ValidationError):
        conforms("Answer", {"state": "SUCCESS"})


# -- what is answered -----------------------------------------------------------------------------


def responses_of(path: str, method: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = DOCUMENT["paths"][path][method]["responses"]
    return found


def answered(path: str, method: str, answer: requests.Response) -> None:
    """Raises where the document does not know this answer, or its body is another."""
    known = responses_of(path, method)
    status = str(answer.status_code)
    response = known.get(status) or known[f"{status[0]}XX"]
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    if "content" in response:
        assert answer.headers["Content-Type"] == "application/json"
        validator(response["content"]["application/json"]["schema"]).validate(answer.json())
    if answer.status_code == 202:
        validator({"type": "string", "maxLength": 800}).validate(answer.headers["Location"])


FLOWS = """
workflows:
  slow: {command: "sleep 60"}
  fine: {command: "echo '{\\"resource_id\\": \\"x\\"}'"}
  bad: {command: "echo no >&2; exit 1"}
"""


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Callable[..., requests.Response]]:
    (tmp_path / "flows.yaml").write_text(FLOWS)
    keys = {"flows": ["shared s3cret"]}
    with service.start(
        tmp_path / "flows.yaml", state_dir=tmp_path / "s", callback_keys=keys
    ) as handle:

        def send(method: str, path: str, key: str = "", **body: Any) -> requests.Response:
            headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
            content = json.dumps(body) if method != "GET" else None
            url = f"{handle.url}{path}"
            return requests.request(method, url, data=content, headers=headers, timeout=10)

        yield send


def test_what_the_bundled_service_answers_conforms(
    call: Callable[..., requests.Response],
) -> None:
    start, poll = "/workflows/{name}", "/executions/{key}"
    for name in ("slow", "fine", "bad"):
        answered(start, "post", call("POST", f"/workflows/{name}", name))
    for name in ("fine", "bad"):
        while call("GET", f"/executions/{name}").status_code == 202:
            threading.Event().wait(0.02)
        answered(start, "post", call("POST", f"/workflows/{name}", name))
    answered(start, "post", call("POST", "/workflows/fine", "fine", action="DELETE"))
    answered(start, "post", call("POST", "/workflows/nope", "n"))
    answered(start, "post", call("POST", "/workflows/fine", ""))
    answered(start, "get", call("GET", "/workflows/fine"))
    answered(start, "get", call("GET", "/workflows/nope"))
    for key in ("slow", "fine", "bad", "nope"):
        answered(poll, "get", call("GET", f"/executions/{key}"))
    for key in ("slow", "fine", "nope"):
        answered(poll, "delete", call("DELETE", f"/executions/{key}"))


def test_what_the_listener_of_callbacks_answers_conforms(
    call: Callable[..., requests.Response], tmp_path: Path
) -> None:
    opaque = Callbacks(tmp_path / "s" / "callbacks").address("k", 4_000_000_000, lambda: b"x" * 32)
    late = Callbacks(tmp_path / "s" / "callbacks").address("k", 1, lambda: b"x" * 32)
    path = "/v1/callbacks/{opaque}"
    ended = {"state": "succeeded", "output": {}}
    conforms("Told", ended)
    for method in ("put", "post"):
        seen = [
            call(method.upper(), f"/v1/callbacks/{place}", "", **body)
            for place, body in ((opaque, ended), (opaque, {}), ("nope", ended), (late, ended))
        ]
        assert [each.status_code for each in seen] == [200, 400, 404, 410]
        for each in seen:
            answered(path, method, each)


def test_what_a_callback_without_its_signature_is_answered_conforms(
    call: Callable[..., requests.Response], tmp_path: Path
) -> None:
    callbacks = Callbacks(tmp_path / "s" / "callbacks", "flows")
    opaque = callbacks.address("k", 4_000_000_000, lambda: b"x" * 32)
    seen = call("PUT", f"/v1/callbacks/{opaque}", "", state="succeeded")
    assert seen.status_code == 401
    answered("/v1/callbacks/{opaque}", "put", seen)
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert schemes["callbackSignature"]["name"] == callback_signature.HEADER
