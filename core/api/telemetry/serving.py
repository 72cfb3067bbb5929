"""The metrics and traces of one server, from its start to its end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from zonda.core.app.app import App
from zonda.core.settings.values import parse_host_and_port
from zonda.hooks.errors import UsageError

from .counts import Counts
from .engine_counts import EngineCounts
from .traces import Traces

log = logging.getLogger(__name__)

OFF = "off"
#: The address that is taken if it is free and no other one is set.
DEFAULT = "127.0.0.1:8006"


@contextmanager
def send_traces(app: App) -> Iterator[Traces]:
    """Trace within, where the settings name a collector. Raises UsageError."""
    endpoint = app.settings.otel_endpoint
    if not endpoint:
        yield Traces()
        return
    try:
        from .spans import make_exporter, make_spans

        exporter = make_exporter(endpoint)
    except ImportError as error:
        raise UsageError(
            f"What traces need is not installed: {error.name}.",
            hint="pip install 'zonda[otel]', or leave otel_endpoint out.",
        ) from error
    traces = make_spans(app, exporter)
    try:
        yield traces
    finally:
        traces.close()


@contextmanager
def serve_metrics(app: App, counts: Counts, streams: Callable[[], int]) -> Iterator[str]:
    """Count and show metrics within; gives their URL, '' without one. Raises UsageError.

    ``streams``: the number of open streams.
    """
    wanted = app.settings.metrics_address
    if wanted == OFF:
        yield ""
        return
    from .metrics import Collector, open_metrics

    host, port = parse_host_and_port(wanted or DEFAULT)
    try:
        server = open_metrics(Collector(app, counts, streams), host, port)
    except UsageError as error:
        if wanted:
            raise
        log.info("No metrics are shown: %s", error)
        yield ""
        return
    engine = EngineCounts(counts, app.plugins.resource_types)
    engine.start(app)
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        engine.close()
