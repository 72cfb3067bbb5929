"""A member of a project who walks the routes of all interfaces, and what has been shown."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from zonda.core.api.http.requests import Request
from zonda.core.api.http.routes import Route
from zonda.core.api.identity.callers import Caller
from zonda.core.api.pages.access.sessions import format_cookie
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.api.telemetry.serving import serve_metrics
from zonda.core.api.telemetry.spans import Spans
from zonda.core.system.engine_log import LOGGERS, open_log

from ..conftest import BASE, PATIENCE, TestIdentity, make_app

PLUGIN = Path(__file__).parents[2] / "acceptance" / "plugins" / "thing.py"
TOKEN = "swordfish-api-token"


class TokenIdentity(TestIdentity):
    """A member of ``p1``, by one token."""

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        is_known = headers.get("x-auth-token") == TOKEN
        return super().authenticate({"x-auth-token": "p1"}) if is_known else None


@dataclass(frozen=True)
class Shown:
    """The answer of a route."""

    operation: str
    path: str
    status: int
    text: str


@dataclass
class Walk:
    """A member of ``p1``. ``shown``: all answers; ``marks``: the secrets, by what they are."""

    app: Any
    dispatcher: Dispatcher
    folder: Path
    spans: InMemorySpanExporter
    read_metrics: Any
    shown: list[Shown] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)
    walked: set[Route] = field(default_factory=set)

    def send(self, method: str, path: str, body: Any = None, query: str = "") -> Any:
        """The value of an answer, which is kept as a whole."""
        headers = {"x-auth-token": TOKEN, "host": "heat.example:8004", "origin": BASE}
        headers["idempotency-key"] = f"key-{len(self.shown):08}"
        raw = b"" if body is None else json.dumps(body).encode()
        target = self.dispatcher.find_target(method, path)
        if target is not None and hasattr(target.interface, "sessions"):
            raw = self._sign_in(target.interface.sessions, method, headers, body)
        request = Request(method, path, query, headers, raw, BASE, f"req-{len(self.shown)}")
        answer = self.dispatcher.answer(request, target)
        value = answer.body
        text = answer.format_body().decode() if answer.stream is None else read(answer.stream)
        if method == "POST" and "text/html" in answer.media_type:
            # a form comes back as it was filled in, to the one who has filled it in
            text = re.sub(r"(?s)<textarea.*?</textarea>|<input[^>]*>", "", text)
        route = target.match.route if target and target.match else None
        operation = route.operation if route else "none"
        if route is not None:
            self.walked.add(route)
        text = f"{text} {dict(answer.headers)}"
        self.shown.append(Shown(operation, f"{method} {path}", answer.status, text))
        return value

    def _sign_in(self, sessions: Any, method: str, headers: dict[str, str], body: Any) -> bytes:
        value = sessions.begin(TOKEN, sessions.identity.authenticate(headers))
        headers["cookie"] = format_cookie(value, is_secure=False).partition(";")[0]
        headers["content-type"] = "application/x-www-form-urlencoded"
        del headers["x-auth-token"]
        csrf = {} if method == "GET" else {"csrf": sessions.make_csrf(headers)}
        return urlencode({**csrf, **(body or {})}, doseq=True).encode()

    def create(self, name: str, template: Any, **body: Any) -> str:
        """Create a stack; gives its id once it is at rest, '' where it was refused."""
        body = {"stack_name": name, "template": template, **body}
        made = self.send("POST", "/v1/p1/stacks", body)
        if "stack" not in made:
            return ""
        stack_id = str(made["stack"]["id"])
        self.wait(stack_id)
        return stack_id

    def wait(self, stack_id: str) -> str:
        """The state of a stack that is at rest."""
        return str(self.app.engine.look(stack_id, PATIENCE).state)

    def list_routes(self) -> list[Route]:
        """All routes of all interfaces."""
        return [route for each in self.dispatcher.interfaces for route in each.table.routes]

    def read_traces(self) -> dict[str, str]:
        """All that is written for operators."""
        for handler in logging.getLogger("zonda.calls").handlers:
            handler.flush()
        return {
            "metrics": self.read_metrics(),
            "spans": " ".join(span.to_json() for span in self.spans.get_finished_spans()),
            **{name: (self.folder / name).read_text() for name in ("text.log", "json.log")},
        }


def read(stream: Any) -> str:
    """The first part of a stream: all that its table has."""
    sent: list[bytes] = []

    async def main() -> None:
        async def run(function: Any) -> Any:
            return function()

        async def write(data: bytes) -> None:
            sent.append(data)
            stream.end()

        stream.open()
        try:
            await asyncio.wait_for(stream.run(run, write), PATIENCE)
        finally:
            stream.close()

    asyncio.run(main())
    return b"".join(sent).decode()


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """A server that is watched in all ways there are."""
    home = tmp_path_factory.mktemp("home")
    (home / "plugins").mkdir()
    (home / "plugins" / "thing.py").write_text(PLUGIN.read_text())
    app = make_app(
        str(home),
        public_url=BASE,
        metrics_address="127.0.0.1:0",
        enable_stack_abandon="yes",
        enable_stack_adopt="yes",
    )
    logger = logging.getLogger("zonda.calls")
    for form in ("text", "json"):
        open_log(f"{form}.log", form, home)
        for handler in logger.handlers:
            handler.is_engine_log = False  # type: ignore[attr-defined]  # the next one stands beside
    logger.setLevel(logging.DEBUG)
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    service = Service(app)
    spans = service.tracing = Spans(provider, app.plugins.resource_types)
    spans.listen(app)
    dispatcher = Dispatcher(service, make_interfaces(service, TokenIdentity()))
    with serve_metrics(app, service.counts, lambda: service.hub.count) as url:

        def read_metrics() -> str:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                return str(answer.read().decode())

        yield Walk(app, dispatcher, home, exporter, read_metrics)
    app.close()
    spans.close()
    logger.setLevel(logging.NOTSET)
    for handler in [each for each in logger.handlers if hasattr(each, "is_engine_log")]:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(handler)
        handler.close()


def format_bundle(template: Any, **parts: Any) -> dict[str, Any]:
    """A bundle as zonda's own API takes it; JSON is YAML, and written in a tenth of the time."""
    return {"template": json.dumps(template), "environment_files": [], **parts}
