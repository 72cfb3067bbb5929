"""Counters and histograms in memory, without any package. Many threads count at once."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator

from zonda.hooks.records import dataclass, field

Labels = tuple[str, ...]
#: The upper bounds of histograms: seconds, or units of a commit.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600)
UNITS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric that is counted here. ``bounds``: of a histogram; empty for a counter."""

    name: str
    help: str
    labels: Labels = ()
    bounds: tuple[float, ...] = ()


REQUESTS = Metric("zonda_http_requests", "Requests.", ("operation", "code"))
REQUEST_SECONDS = Metric(
    "zonda_http_requests_seconds", "Times of requests.", ("operation",), SECONDS
)
REFUSED = Metric("zonda_refused", "Requests that were refused.", ("reason",))
OPERATIONS = Metric("zonda_operations", "Operations that ended.", ("type", "action", "status"))
OPERATION_SECONDS = Metric(
    "zonda_operation_seconds", "Times of operations.", ("type", "action"), SECONDS
)
DRIFT = Metric("zonda_drift", "Drift checks of stacks.", ("verdict",))
COMMIT_SECONDS = Metric("zonda_commit_seconds", "Times of commits.", (), SECONDS)
COMMIT_UNITS = Metric("zonda_units_per_commit", "Units that share a commit.", (), UNITS)
METRICS = (
    REQUESTS,
    REQUEST_SECONDS,
    REFUSED,
    OPERATIONS,
    OPERATION_SECONDS,
    DRIFT,
    COMMIT_SECONDS,
    COMMIT_UNITS,
)


@dataclass(slots=True)
class Series:
    """The values of one metric with certain labels. ``buckets``: the last one has no bound."""

    buckets: list[int] = field(default_factory=list)
    total: float = 0.0


class Counts:
    """The series of all metrics."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._series: dict[str, dict[Labels, Series]] = {metric.name: {} for metric in METRICS}

    def add(self, metric: Metric, *labels: str) -> None:
        """Count one more."""
        with self._lock:
            self._find(metric, labels).total += 1

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Put a value into a histogram."""
        with self._lock:
            series = self._find(metric, labels)
            series.buckets[bisect_left(metric.bounds, value)] += 1
            series.total += value

    def _find(self, metric: Metric, labels: Labels) -> Series:
        known = self._series[metric.name]
        series = known.get(labels)
        if series is None:
            buckets = [0] * (len(metric.bounds) + 1) if metric.bounds else []
            series = known[labels] = Series(buckets)
        return series

    def read(self) -> Iterator[tuple[Metric, list[tuple[Labels, Series]]]]:
        """The metrics with copies of their series."""
        for metric in METRICS:
            with self._lock:
                found = [
                    (labels, Series([*each.buckets], each.total))
                    for labels, each in self._series[metric.name].items()
                ]
            yield metric, found
