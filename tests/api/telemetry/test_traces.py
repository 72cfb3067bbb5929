"""Traces: from a request to its operations, calls and runners, without a value in any of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from zonda.core.api.http.requests import Request
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.api.telemetry.serving import send_traces
from zonda.core.api.telemetry.spans import Spans
from zonda.hooks.errors import UsageError

from ..conftest import BASE, Api, TestIdentity, make_app

SECRET, NAME = "swordfish-of-the-traces", "a-name-of-a-traced-stack"
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


class Endpoint(BaseHTTPRequestHandler):
    """A workflow that is done at once; keeps the headers that it got."""

    seen: list[Any] = []  # noqa: RUF012 - one for the whole module

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.headers.get("traceparent"), body))
        answer = json.dumps({"state": "succeeded", "output": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_DELETE = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, Any, str]]:
    """An API that is traced, the spans that it made, and a workflow's URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    home = str(tmp_path_factory.mktemp("home"))
    app = make_app(home, public_url=BASE, log="off", allowed_networks="127.0.0.0/8")
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    service = Service(app)
    spans = Spans(provider, app.plugins.resource_types)
    spans.listen(app)
    service.tracing = spans
    api = Api(app, Dispatcher(service, make_interfaces(service, TestIdentity())))
    yield api, exporter, f"http://127.0.0.1:{server.server_port}/run"
    app.close()
    spans.close()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def spans(traced: Any) -> list[ReadableSpan]:
    """The spans of one stack that was created on behalf of a traced client."""
    api, exporter, url = traced
    body = {
        "stack_name": NAME,
        "parameters": {"password": SECRET},
        "template": {
            "heat_template_version": "2018-08-31",
            "parameters": {"password": {"type": "string", "hidden": True}},
            "resources": {
                "handle": {"type": "OS::Heat::WaitConditionHandle"},
                "config": {
                    "type": "OS::Heat::SoftwareConfig",
                    "properties": {"config": {"get_param": "password"}},
                },
                "deployment": {
                    "type": "OS::Heat::SoftwareDeployment",
                    "properties": {"config": {"get_resource": "config"}, "server": "s"},
                },
            },
            "outputs": {"curl": {"value": {"get_attr": ["handle", "curl_cli"]}}},
        },
        "environment": {"zonda": {"runners": {"deployment": url}}},
    }
    path = "/v1/p1/stacks"
    headers = {"x-auth-token": "p1", "traceparent": PARENT}
    request = Request("POST", path, "", headers, json.dumps(body).encode(), BASE, "req-1")
    answer = api.dispatcher.answer(request, api.dispatcher.find_target("POST", path))
    assert answer.status == 201, answer.body
    assert api.wait(str(answer.body["stack"]["id"])) == "CREATE_COMPLETE"
    return list(exporter.get_finished_spans())


def named(spans: list[ReadableSpan], name: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name == name]


def trace_of(span: ReadableSpan) -> str:
    return f"{span.get_span_context().trace_id:032x}"


def test_a_request_and_its_plan_are_in_the_trace_of_the_client(spans: Any) -> None:
    [request], [plan] = named(spans, "stacks:create"), named(spans, "plan")
    assert (trace_of(request), trace_of(plan)) == (TRACE, TRACE)
    assert f"{request.parent.span_id:016x}" == PARENT.split("-")[2]
    assert plan.parent.span_id == request.get_span_context().span_id
    assert dict(request.attributes) == {
        "http.request.method": "POST",
        "http.response.status_code": 201,
    }
    assert dict(plan.attributes) == {"zonda.action": "CreateStack"}


def test_operations_are_linked_to_the_request_that_they_outlive(spans: Any) -> None:
    operations = {span.attributes["zonda.type"]: span for span in named(spans, "operation")}
    assert "OS::Heat::SoftwareDeployment" in operations
    [plan] = named(spans, "plan")
    made = operations["OS::Heat::SoftwareDeployment"]
    assert trace_of(made) != TRACE
    assert plan.get_span_context().span_id in [link.context.span_id for link in made.links]
    assert made.attributes["zonda.operation"] == "CREATE"


def test_a_runner_gets_the_trace_of_the_call(spans: Any) -> None:
    calls = {f"{span.get_span_context().span_id:016x}": span for span in named(spans, "call")}
    [sent] = {header for header, _ in Endpoint.seen}
    assert sent is not None
    trace_id, span_id = sent.split("-")[1:3]
    assert trace_of(calls[span_id]) == trace_id
    assert calls[span_id].attributes["zonda.call"] in ("handle", "poll")


def test_no_span_holds_a_secret_a_signal_url_or_a_name(spans: Any) -> None:
    text = " ".join(span.to_json() for span in spans)
    for secret in (SECRET, NAME, "signal/v1", "X-Auth-Token", "/run"):
        assert secret not in text


def test_a_failure_is_no_text_in_a_trace(traced: Any) -> None:
    api, exporter, _ = traced
    before = len(exporter.get_finished_spans())
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {"bad": {"type": "OS::Heat::TestResource", "properties": {"fail": True}}},
    }
    path = api.create("failing", template)
    assert api.state(path) == "CREATE_FAILED"
    assert api("POST", "/stacks", {"stack_name": SECRET, "template": {"x": SECRET}}).status == 400
    found = exporter.get_finished_spans()[before:]
    assert any(not span.status.is_ok for span in found if span.name == "operation")
    assert SECRET not in " ".join(span.to_json() for span in found)


def test_traces_need_a_setting_and_the_extra(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(str(tmp_path), log="off", otel_endpoint="http://127.0.0.1:1")
    monkeypatch.setitem(__import__("sys").modules, "zonda.core.api.telemetry.spans", None)
    try:
        with pytest.raises(UsageError, match="not installed"), send_traces(app):
            raise AssertionError("it was traced")
    finally:
        app.close()
