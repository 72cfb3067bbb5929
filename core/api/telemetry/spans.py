"""Spans for OpenTelemetry: of requests, plans, operations and calls. Names and types, no values.

An operation outlives the request behind it, so that its span begins a trace of its own, with a
link. Calls are parts of their operation, and what a runner does is part of the call.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from zonda.core.app.app import App
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.store.read.views import EventView
from zonda.core.store.schema.rows import ResourceRow

from .engine_counts import TEMPLATE
from .traces import Finish, Traces

_FORM = TraceContextTextMapPropagator()
_HEADER = "traceparent"
_NANOSECONDS = 1_000_000_000
#: Operations that are followed at a time: beyond that the oldest are left out.
_MOST = 10_000


class _Operation:
    """The span of an operation; ``is_stored``: it has begun for everybody to see."""

    def __init__(self, span: Span, action: str) -> None:
        self.span = span
        self.action = action
        self.is_stored = False
        self._parents: set[str] = set()

    def link(self, parent: str) -> None:
        """Link the span to the request whose ``traceparent`` this is, once."""
        if parent and parent not in self._parents:
            self._parents.add(parent)
            self.span.add_link(trace.get_current_span(_extract(parent)).get_span_context())


class Spans(Traces):
    """Makes the spans of one server. Many threads ask at once."""

    def __init__(self, provider: TracerProvider, types: Collection[str]) -> None:
        self._provider = provider
        self._types = types
        self._tracer = provider.get_tracer("zonda")
        self._lock = threading.Lock()
        self._operations: dict[str, _Operation] = {}

    def listen(self, app: App) -> None:
        """Hear of calls and events of the engine of this process."""
        app.engine.trace_calls(self)
        app.engine.subscribe(self.take_notices)

    def close(self) -> None:
        """Send what waits."""
        self._provider.shutdown()

    # -- requests and plans ---------------------------------------------------------------------

    @contextmanager
    def trace_request(self, method: str, headers: Mapping[str, str]) -> Iterator[Finish]:
        """Trace a request within, as a part of the trace that its client names."""
        parent = _extract(headers.get(_HEADER, ""))
        with self._tracer.start_as_current_span("request", parent, SpanKind.SERVER) as span:
            span.set_attribute("http.request.method", method)

            def finish(operation: str, status: int) -> None:
                span.update_name(operation)
                span.set_attribute("http.response.status_code", status)
                if status >= 500:
                    span.set_status(Status(StatusCode.ERROR))

            yield finish

    @contextmanager
    def trace_plan(self, action: str) -> Iterator[str]:
        """Trace the plan of an action within."""
        with self._tracer.start_as_current_span(
            "plan", record_exception=False, set_status_on_exception=False
        ) as span:
            span.set_attribute("zonda.action", action)
            yield _format(span)

    # -- operations and calls -------------------------------------------------------------------

    @contextmanager
    def trace_call(self, row: ResourceRow, during: str, parent: str) -> Iterator[str]:
        """Trace a plug-in call within, in its operation, which is linked to the request.

        A signal that comes to a resource while it has no operation is a part of its request.
        """
        context = _extract(parent)
        if row.op:
            operation = self._find_operation(row)
            operation.link(parent)
            context = trace.set_span_in_context(operation.span)
        span = self._tracer.start_span("call", context, attributes=self._describe(row.type, row.op))
        span.set_attribute("zonda.call", during)
        try:
            yield _format(span)
        finally:
            span.end()

    def take_notices(self, notices: Sequence[Notice]) -> None:
        """Begin and end the spans of operations, after a commit."""
        for notice in notices:
            event = notice.event
            if event is None or not event.resource_id:
                continue
            if event.status == "IN_PROGRESS":
                self._begin(event, event.resource_id)
            elif event.status in ("COMPLETE", "FAILED"):
                self._end(event, event.resource_id)

    def _find_operation(self, row: ResourceRow) -> _Operation:
        """The operation of a call: not stored yet, or begun by an engine that has ended, too."""
        with self._lock:
            known = self._operations.get(row.id)
            if known is not None and known.action == row.op:
                return known
            return self._add(row.id, row.type, row.op, row.started_at or row.updated_at)

    def _begin(self, event: EventView, key: str) -> None:
        with self._lock:
            known = self._operations.get(key)
            if known is None or known.is_stored or known.action != event.action:
                known = self._add(key, event.resource_type, event.action, event.at)
            known.is_stored = True

    def _add(self, key: str, kind: str, action: str, at: float) -> _Operation:
        if len(self._operations) >= _MOST:
            del self._operations[next(iter(self._operations))]
        span = self._tracer.start_span(
            "operation",
            trace.set_span_in_context(trace.INVALID_SPAN),
            attributes=self._describe(kind, action),
            start_time=int(at * _NANOSECONDS),
        )
        operation = self._operations[key] = _Operation(span, action)
        return operation

    def _end(self, event: EventView, key: str) -> None:
        with self._lock:
            operation = self._operations.get(key)
            if operation is None or operation.action != event.action:
                return
            del self._operations[key]
        if event.status == "FAILED":
            operation.span.set_status(Status(StatusCode.ERROR))
        operation.span.end(int(event.at * _NANOSECONDS))

    def _describe(self, kind: str, action: str) -> dict[str, Any]:
        """The attributes of an operation; a type that a template provides is ``template``."""
        shown = kind if kind in self._types else TEMPLATE
        return {"zonda.type": shown, "zonda.operation": action}


def _extract(parent: str) -> Context:
    return _FORM.extract({_HEADER: parent})


def _format(span: Span) -> str:
    """The ``traceparent`` of a span."""
    carrier: dict[str, str] = {}
    _FORM.inject(carrier, trace.set_span_in_context(span))
    return carrier.get(_HEADER, "")


def make_spans(app: App, exporter: SpanExporter) -> Spans:
    """The spans of a server, which go to an exporter in batches."""
    provider = TracerProvider(resource=Resource.create({"service.name": "zonda"}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    made = Spans(provider, app.plugins.resource_types)
    made.listen(app)
    return made


def make_exporter(endpoint: str) -> SpanExporter:
    """The exporter to a collector by OTLP over HTTP; ``endpoint``: its base URL."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
