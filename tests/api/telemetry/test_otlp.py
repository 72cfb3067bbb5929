"""What a collector gets by OTLP over HTTP: names, parents, links and attributes, and no value."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.acceptance.conftest import absent

from zonda.core.api.http.requests import Request
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.api.telemetry.serving import send_traces

from ..conftest import BASE, Api, TestIdentity, make_app

SECRET, NAME = "swordfish-of-the-collector", "a-name-of-a-sent-stack"
RESOURCE = "a-name-of-a-sent-resource"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SERVER, INTERNAL = 2, 1
ERROR = 2


class Receiver(BaseHTTPRequestHandler):
    """A collector that keeps the bodies of what it gets, with path and type."""

    server: Any

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, self.headers["Content-Type"], body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, bytes]]:
    """The requests that a collector got about a stack that was created on behalf of a client."""
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter  # noqa: F401
    except ImportError as error:
        absent(f"{error.name} is not installed: pip install 'zonda[otel]'", "ZONDA_OTEL_TESTS")
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    receiver.seen = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=receiver.serve_forever, daemon=True)
    thread.start()
    home = str(tmp_path_factory.mktemp("home"))
    url = f"http://127.0.0.1:{receiver.server_port}/"
    app = make_app(home, public_url=BASE, log="off", otel_endpoint=url)
    service = Service(app)
    try:
        with send_traces(app) as service.tracing:
            _create(Api(app, Dispatcher(service, make_interfaces(service, TestIdentity()))))
    finally:
        app.close()
        receiver.shutdown()
        receiver.server_close()
        thread.join()
    return receiver.seen  # type: ignore[attr-defined]


def _create(api: Api) -> None:
    template = {
        "heat_template_version": "2018-08-31",
        "parameters": {"password": {"type": "string", "hidden": True}},
        "resources": {
            "handle": {"type": "OS::Heat::WaitConditionHandle"},
            RESOURCE: {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "password"}},
            },
            "bad": {
                "type": "OS::Heat::TestResource",
                "properties": {"fail": True, "value": {"get_param": "password"}},
                "depends_on": [RESOURCE, "handle"],
            },
        },
        "outputs": {"curl": {"value": {"get_attr": ["handle", "curl_cli"]}}},
    }
    body = {"stack_name": NAME, "template": template, "parameters": {"password": SECRET}}
    headers = {"x-auth-token": "p1", "traceparent": f"00-{TRACE}-{SPAN}-01"}
    request = Request(
        "POST", "/v1/p1/stacks", "", headers, json.dumps(body).encode(), BASE, "req-7"
    )
    answer = api.dispatcher.answer(request, api.dispatcher.find_target("POST", request.path))
    assert answer.status == 201, answer.body
    assert api.wait(str(answer.body["stack"]["id"])) == "CREATE_FAILED"


@pytest.fixture(scope="module")
def resources(sent: Any) -> list[Any]:
    """What the bodies say, decoded."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    return [
        resource
        for _, _, body in sent
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
    ]


@pytest.fixture(scope="module")
def spans(resources: Any) -> dict[str, list[Any]]:
    """The spans by their names."""
    named: dict[str, list[Any]] = {}
    for resource in resources:
        for scope in resource.scope_spans:
            for span in scope.spans:
                named.setdefault(span.name, []).append(span)
    return named


def attributes(holder: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in holder.attributes
    }


def test_traces_go_to_the_endpoint_as_protobuf(sent: Any, resources: Any) -> None:
    assert {(path, kind) for path, kind, _ in sent} == {("/v1/traces", "application/x-protobuf")}
    assert {attributes(each.resource)["service.name"] for each in resources} == {"zonda"}


def test_a_collector_gets_every_kind_of_span_and_no_other(spans: Any) -> None:
    assert {name: len(each) for name, each in spans.items() if name != "call"} == {
        "stacks:create": 1,
        "plan": 1,
        "operation": 3,
    }
    assert len(spans["call"]) >= 3


def test_a_request_and_its_plan_are_parts_of_the_trace_of_the_client(spans: Any) -> None:
    [request], [plan] = spans["stacks:create"], spans["plan"]
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, SPAN)
    assert (plan.trace_id.hex(), plan.parent_span_id) == (TRACE, request.span_id)
    assert (request.kind, plan.kind) == (SERVER, INTERNAL)
    assert attributes(request) == {"http.request.method": "POST", "http.response.status_code": 201}
    assert attributes(plan) == {"zonda.action": "CreateStack"}


def test_an_operation_is_a_trace_of_its_own_linked_to_the_plan(spans: Any) -> None:
    [plan] = spans["plan"]
    for operation in spans["operation"]:
        assert not operation.parent_span_id
        assert [(link.trace_id.hex(), link.span_id) for link in operation.links] == [
            (TRACE, plan.span_id)
        ]
        assert attributes(operation).keys() == {"zonda.type", "zonda.operation"}
        assert 0 < operation.start_time_unix_nano <= operation.end_time_unix_nano
    traces = {operation.trace_id for operation in spans["operation"]}
    assert len(traces) == 3
    assert bytes.fromhex(TRACE) not in traces
    failed = [attributes(each) for each in spans["operation"] if each.status.code == ERROR]
    assert failed == [{"zonda.type": "OS::Heat::TestResource", "zonda.operation": "CREATE"}]


def test_a_call_is_a_part_of_its_operation(spans: Any) -> None:
    operations = {each.span_id: each for each in spans["operation"]}
    for call in spans["call"]:
        operation = operations[call.parent_span_id]
        assert call.trace_id == operation.trace_id
        assert attributes(call) == {**attributes(operation), "zonda.call": "handle"}


def test_a_collector_gets_no_secret_signal_url_or_name(sent: Any) -> None:
    bodies = b" ".join(body for _, _, body in sent)
    assert b"OS::Heat::TestResource" in bodies
    for secret in (SECRET, NAME, RESOURCE, "signal/v1", "X-Auth-Token", BASE, "req-7"):
        assert secret.encode() not in bodies, secret
