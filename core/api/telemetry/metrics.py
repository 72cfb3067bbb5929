"""Metrics for Prometheus: an address of its own, and the families that are read there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIServer

from zonda.core.app.app import App
from zonda.hooks.errors import StoreError, UsageError

from .counts import Counts, Labels, Metric, Series

if TYPE_CHECKING:  # only who is asked needs it
    from prometheus_client.core import Metric as Family


class Collector:
    """Reads all metrics at once. Gauges are looked up when somebody asks."""

    def __init__(self, app: App, counts: Counts, streams: Callable[[], int]) -> None:
        self._app = app
        self._counts = counts
        self._streams = streams
        self._reader = app.store.reader()

    def collect(self) -> Iterator[Family]:
        """The families of all metrics."""
        for metric, found in self._counts.read():
            yield _build_family(metric, found)
        yield from self._collect_gauges()

    def _collect_gauges(self) -> Iterator[Family]:
        from prometheus_client.core import GaugeMetricFamily

        def make(
            name: str, text: str, values: Iterable[tuple[Labels, float]], *labels: str
        ) -> Family:
            family = GaugeMetricFamily(name, text, labels=labels)
            for key, value in values:
                family.add_metric(key, value)
            return family

        states, last = self._reader.count_states(), self._reader.last_event()
        sinks = [((row.name,), float(last - row.seq)) for row in self._reader.sinks()]
        stacks = [((f"{action}_{status}",), float(number)) for action, status, number in states]
        yield make("zonda_stacks", "Stacks that are there.", stacks, "status")
        waiting = "Events behind the last one that a sink has seen."
        yield make("zonda_sink_waiting", waiting, sinks, "sink")
        streams = [((), float(self._streams()))]
        yield make("zonda_sse_clients", "Open streams of live events.", streams)
        try:
            load = self._app.engine.read_load()
        except StoreError:  # the engine has stopped: what is not known is left out
            return
        for name, text, value in (
            ("zonda_inbox", "Messages that wait for the engine.", load.inbox),
            ("zonda_calls_running", "Resources that are worked on.", load.calls),
            ("zonda_polls_late_seconds", "Delay of the poll that waits longest.", load.late),
            ("zonda_sweep_age_seconds", "Time since the last sweep of deadlines.", load.sweep_age),
        ):
            yield make(name, text, [((), float(value))])


def _build_family(metric: Metric, found: list[tuple[Labels, Series]]) -> Family:
    from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

    if not metric.bounds:
        counter = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
        for labels, series in found:
            counter.add_metric(labels, series.total)
        return counter
    histogram = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, series in found:
        histogram.add_metric(labels, _list_buckets(metric, series), series.total)
    return histogram


def _list_buckets(metric: Metric, series: Series) -> list[tuple[str, float]]:
    """The sums of a histogram up to each bound."""
    shown, total = [], 0
    for bound, number in zip((*metric.bounds, math.inf), series.buckets, strict=True):
        total += number
        shown.append(("+Inf" if bound == math.inf else repr(float(bound)), float(total)))
    return shown


def open_metrics(collector: Collector, host: str, port: int) -> WSGIServer:
    """Serve ``/metrics`` in a thread until ``shutdown``; raises UsageError for a bad address."""
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(collector)
    try:
        server, _ = start_http_server(port, host, registry)
    except OSError as error:
        raise UsageError(
            f"Nothing can listen on {host}:{port} for metrics: {error.strerror or error}.",
            hint="Set metrics_address to another HOST:PORT, or to 'off'.",
        ) from error
    return server
