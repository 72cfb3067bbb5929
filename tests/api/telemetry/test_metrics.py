"""Metrics: what is counted, how Prometheus reads it, and that nothing of a project is in it."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.api.telemetry.counts import (
    COMMIT_UNITS,
    METRICS,
    OPERATION_SECONDS,
    REFUSED,
    Counts,
)
from zonda.core.api.telemetry.engine_counts import EngineCounts
from zonda.core.api.telemetry.serving import serve_metrics
from zonda.core.store.read.views import EventView
from zonda.hooks.errors import UsageError

from ..conftest import BASE, Api, TestIdentity, make_app

SECRET = "swordfish-of-the-metrics"
NAME = "a-name-of-a-stack"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, Any]]:
    """An API, and what reads its metrics."""
    home = str(tmp_path_factory.mktemp("home"))
    app = make_app(home, public_url=BASE, log="off", metrics_address="127.0.0.1:0")
    service = Service(app)
    api = Api(app, Dispatcher(service, make_interfaces(service, TestIdentity())))
    with serve_metrics(app, service.counts, lambda: service.hub.count) as url:

        def read() -> str:
            with urllib.request.urlopen(url, timeout=60) as answer:
                assert answer.headers["Content-Type"].startswith("text/plain")
                return str(answer.read().decode())

        yield api, read
    app.close()


def template() -> dict[str, Any]:
    return {
        "heat_template_version": "2018-08-31",
        "parameters": {"password": {"type": "string", "hidden": True}},
        "resources": {
            "handle": {"type": "OS::Heat::WaitConditionHandle"},
            "one": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "password"}},
            },
            "two": {
                "type": "OS::Heat::TestResource",
                "properties": {"fail": True},
                "depends_on": "one",
            },
        },
        "outputs": {"curl": {"value": {"get_attr": ["handle", "curl_cli"]}}},
    }


def values(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def until(read: Any, name: str) -> dict[str, float]:
    """The metrics once one of them is there: they are counted in a thread of their own."""
    waiter = threading.Event()
    while name not in (found := values(read())):
        waiter.wait(0.01)
    return found


def test_operations_requests_and_stacks_are_counted(shown: Any) -> None:
    api, read = shown
    path = api.create(NAME, template(), parameters={"password": SECRET})
    assert api.state(path) == "CREATE_FAILED"
    assert api("GET", "/stacks/nope").status == 404
    kind = 'type="OS::Heat::TestResource"'
    found = until(read, 'zonda_operations_total{action="CREATE",status="FAILED",type="stack"}')
    assert found[f'zonda_operations_total{{action="CREATE",status="COMPLETE",{kind}}}'] == 1
    assert found[f'zonda_operations_total{{action="CREATE",status="FAILED",{kind}}}'] == 1
    assert found[f'zonda_operation_seconds_count{{action="CREATE",{kind}}}'] == 2
    assert found['zonda_stacks{status="CREATE_FAILED"}'] == 1
    assert found['zonda_http_requests_total{code="201",operation="stacks:create"}'] == 1
    assert found['zonda_http_requests_total{code="404",operation="stacks:lookup"}'] == 1
    assert found['zonda_http_requests_seconds_count{operation="stacks:create"}'] == 1
    assert found["zonda_commit_seconds_count"] > 2
    assert found["zonda_units_per_commit_sum"] >= found["zonda_units_per_commit_count"]
    assert found["zonda_calls_running"] == 0
    assert {"zonda_inbox", "zonda_polls_late_seconds", "zonda_sse_clients"} <= found.keys()
    assert found["zonda_sweep_age_seconds"] >= 0


def test_refusals_are_counted_by_their_reason(shown: Any) -> None:
    api, read = shown
    assert api.become("").send("GET", "/v1/p1/stacks").status == 401
    assert api.send("GET", "/v1/another/stacks").status == 403
    assert api.become("").send("POST", "/signal/v1/wrong").status == 404
    found = values(read())
    for reason in ("unauthorized", "forbidden", "signal"):
        assert found[f'zonda_refused_total{{reason="{reason}"}}'] == 1


def test_no_metric_holds_a_secret_a_url_or_a_name(shown: Any) -> None:
    api, read = shown
    text = read()
    for secret in (SECRET, NAME, "signal/v1", "p1", *api.app.settings.home.parts[-1:]):
        assert secret not in text, secret


def test_a_type_of_a_template_file_is_no_label(shown: Any) -> None:
    api, read = shown
    nested = "heat_template_version: 2018-08-31\nresources: {n: {type: OS::Heat::None}}\n"
    outer = {
        "heat_template_version": "2018-08-31",
        "resources": {"own": {"type": "our-own-file.yaml"}},
    }
    api.create("nesting", outer, files={"our-own-file.yaml": nested})
    until(read, 'zonda_operations_total{action="CREATE",status="COMPLETE",type="template"}')
    assert "our-own-file" not in read()


def test_the_time_of_an_operation_is_measured_although_a_signal_comes() -> None:
    counts = Counts()
    counted = EngineCounts(counts, {"T"})
    for seq, (action, status) in enumerate(
        [("CREATE", "IN_PROGRESS"), ("SIGNAL", "COMPLETE"), ("CREATE", "COMPLETE")]
    ):
        about = ("s", "stack", 1, "r", "name", "T", None)
        counted._count_event(EventView(seq, f"e{seq}", *about, action, status, "", 10.0 * seq))
    measured = {metric.name: series for metric, series in counts.read()}[OPERATION_SECONDS.name]
    assert [(labels, series.total) for labels, series in measured] == [(("T", "CREATE"), 20.0)]


def test_drift_checks_are_counted_by_their_verdict(shown: Any) -> None:
    from zonda.core.engine.actions import Caller, CheckDrift

    api, read = shown
    hot = {"heat_template_version": "2018-08-31", "resources": {}}
    path = api.create("drifting", {**hot, "resources": {"v": {"type": "OS::Heat::RandomString"}}})
    api.app.engine.submit(CheckDrift(path[-36:]), Caller("ann", "p1")).result(60)
    waiter = threading.Event()
    while "zonda_drift_total{" not in read():
        waiter.wait(0.01)


def test_the_buckets_of_a_histogram_add_up() -> None:
    counts = Counts()
    for value in (1, 2, 3, 1000):
        counts.observe(COMMIT_UNITS, value)
    counts.add(REFUSED, "rate")
    found = {metric.name: series for metric, series in counts.read()}
    [(_, series)] = found[COMMIT_UNITS.name]
    assert (series.buckets[:4], series.buckets[-1], series.total) == ([1, 1, 1, 0], 1, 1006)
    assert [metric.name for metric, _ in counts.read()] == [metric.name for metric in METRICS]


def test_an_address_that_is_taken_is_refused_if_it_was_asked_for(shown: Any, tmp_path: Any) -> None:
    import socket

    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    app = make_app(str(tmp_path), log="off", metrics_address=f"127.0.0.1:{port}")
    try:
        with (
            pytest.raises(UsageError, match="for metrics"),
            serve_metrics(app, Counts(), lambda: 0),
        ):
            raise AssertionError("it was opened")
    finally:
        app.close()
        taken.close()


def test_metrics_can_be_off(tmp_path: Any) -> None:
    app = make_app(str(tmp_path), log="off", metrics_address="off")
    try:
        with serve_metrics(app, Counts(), lambda: 0) as url:
            assert url == ""
    finally:
        app.close()
