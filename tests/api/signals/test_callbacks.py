"""Callbacks of workflow runners, taken by the server of the API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.workflows.http_contract import callback_signature
from zonda.workflows.http_contract.callback_store import Callbacks

from ..conftest import BASE, Api, TestIdentity, make_app
from .conftest import Signals

DONE = {"state": "succeeded", "output": {"size": 3}}
KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def told(signals: Signals) -> Callbacks:
    """The callbacks of the runner of this home."""
    return Callbacks(Path(signals.app.settings.home) / "runner" / "callbacks")


def make_code(told: Callbacks, signals: Signals, key: str = "run-1", late: int = 3600) -> Any:
    expires = int(signals.app.clock.now()) + late
    return told.address(key, expires, lambda: b"x" * 32), expires


def send(signals: Signals, code: str, body: Any, method: str = "POST") -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return signals(f"{BASE}/callback/v1/{code}", raw, method)


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_what_an_endpoint_tells_is_stored_for_the_runner(
    signals: Signals, told: Callbacks, method: str
) -> None:
    code, expires = make_code(told, signals, f"run-{method}")
    answer = send(signals, code, DONE, method)
    assert (answer.status, answer.body) == (200, {"contract": 1, "callback": "stored"})
    assert told.read_answer(f"run-{method}", expires) == DONE
    assert send(signals, code, DONE, method).body["callback"] == "repeated"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(b"", 400, id="nothing"),
        pytest.param(b"{", 400, id="truncated"),
        pytest.param(b"[]", 400, id="list"),
        pytest.param({"state": "well"}, 400, id="another-state"),
        pytest.param('{"state": "succeeded"}'.encode("utf-16") + b"\xff", 400, id="encoding"),
    ],
)
def test_a_bad_callback_is_refused(
    signals: Signals, told: Callbacks, body: Any, status: int
) -> None:
    code, expires = make_code(told, signals, "bad")
    assert send(signals, code, body).status == status
    assert told.read_answer("bad", expires) is None


def test_a_forged_or_late_code_is_refused(signals: Signals, told: Callbacks) -> None:
    code, _ = make_code(told, signals, "forged")
    late, _ = make_code(told, signals, "late", -1)
    assert send(signals, f"{code}x", DONE).status == 404
    assert send(signals, "nothing", DONE).status == 404
    assert send(signals, late, DONE).status == 410
    assert signals(f"{BASE}/callback/v1/{code}", method="GET").status == 405


def test_runners_announce_the_address_of_the_server(signals: Signals) -> None:
    runner, _ = signals.app.lender.runner("http://127.0.0.1:1/hook")
    assert runner is not None
    section = {"callback": True, "endpoint": "http://127.0.0.1:1"}
    made = signals.app.lender._make("http", section)
    assert made._settings.callback == f"{BASE}/callback/v1/"  # type: ignore[attr-defined]


def test_a_signed_callback_needs_its_signature(tmp_path: Path) -> None:
    (tmp_path / "zonda.toml").write_text(
        f'[runners.flows]\nkind = "http"\nendpoint = "http://127.0.0.1:1"\n'
        f'callback = true\ncallback_key = "{KEY}"\n'
    )
    app = make_app(str(tmp_path), public_url=BASE, log="off")
    try:
        service = Service(app)
        dispatcher = Dispatcher(service, make_interfaces(service, TestIdentity()))
        signals = Signals(Api(app, dispatcher))
        told = Callbacks(tmp_path / "runner" / "callbacks", "flows")
        code, expires = make_code(told, signals)
        url, body = f"{BASE}/callback/v1/{code}", json.dumps(DONE).encode()
        assert signals(url, body).status == 401
        value = callback_signature.sign([KEY.encode()], app.clock.now(), code, body)
        headers = {callback_signature.HEADER.lower(): value}
        assert signals(url, body, headers=headers).status == 200
        assert told.read_answer("run-1", expires) == DONE
    finally:
        app.close()
