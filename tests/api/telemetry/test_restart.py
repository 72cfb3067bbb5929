"""An operation that goes on after a restart names the request that began it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.api.telemetry.spans import Spans

from ..conftest import Api, TestIdentity, make_app

pytestmark = pytest.mark.sqlite  # a process of its own, with a file

REQUEST = "req-of-the-killed-server"
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "waiting": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 3600},
        },
        "after": {"type": "OS::Heat::TestResource", "depends_on": "waiting"},
    },
}
HANDLE = "OS::Heat::WaitConditionHandle"
WAITING, AFTER = "OS::Heat::WaitCondition", "OS::Heat::TestResource"


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[ReadableSpan], list[Any]]:
    """The spans and the lines of calls of the server that follows one that was killed."""
    home = tmp_path_factory.mktemp("home")
    script = Path(__file__).with_name("killed_server.py")
    killed = subprocess.run(
        [sys.executable, str(script), str(home), REQUEST, PARENT, json.dumps(TEMPLATE)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with pytest.MonkeyPatch.context() as patch:
        lines: list[Any] = []
        patch.setattr("zonda.core.engine.plugins.call_log.is_enabled", lambda: True)
        patch.setattr(
            "zonda.core.engine.plugins.call_log.log.log",
            lambda *said, extra: lines.append(extra["fields"]),
        )
        return _go_on(str(home), killed.stdout.strip()), lines


def _go_on(home: str, stack_id: str) -> list[ReadableSpan]:
    app = make_app(home, log="off")
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    service = Service(app)
    service.tracing = spans = Spans(provider, app.plugins.resource_types)
    spans.listen(app)
    api = Api(app, Dispatcher(service, make_interfaces(service, TestIdentity())))
    try:
        path = f"/stacks/one/{stack_id}/resources/handle/signal"
        assert api("POST", path, {"status": "SUCCESS"}).status == 200
        assert api.wait(stack_id) == "CREATE_COMPLETE"
        return list(exporter.get_finished_spans())
    finally:
        app.close()
        spans.close()


def test_lines_of_the_log_name_the_request_after_a_restart(restarted: Any) -> None:
    _, lines = restarted
    asked = {line["type"]: line["request"] for line in lines if line["outcome"] == "complete"}
    assert asked == {HANDLE: "req-1", WAITING: REQUEST, AFTER: REQUEST}, "a signal has its own"


def test_operations_are_linked_to_the_request_after_a_restart(restarted: Any) -> None:
    spans, _ = restarted
    operations = {span.attributes["zonda.type"]: span for span in spans if span.name == "operation"}
    assert operations.keys() == {WAITING, AFTER}
    for span in operations.values():
        assert {f"{link.context.trace_id:032x}" for link in span.links} == {TRACE}
    calls = [
        span
        for span in spans
        if span.name == "call" and span.attributes["zonda.operation"] == "CREATE"
    ]
    parents = {span.parent.span_id for span in calls}
    assert parents == {span.get_span_context().span_id for span in operations.values()}
    assert operations[WAITING].start_time < min(call.start_time for call in calls)


def test_the_history_names_the_request(tmp_path: Path) -> None:
    app = make_app(str(tmp_path), log="off")
    service = Service(app)
    api = Api(app, Dispatcher(service, make_interfaces(service, TestIdentity())))
    try:
        path = api.create("one")
        [action] = app.store.reader().actions(path.rpartition("/")[2])
    finally:
        app.close()
    assert action.detail == {"request": "req-1"}
