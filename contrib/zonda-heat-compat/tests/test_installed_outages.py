"""A cloud that gives no answer is asked once for all values of a template."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

from requests.exceptions import ConnectTimeout

from zonda_heat_compat import outages


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests that reach the network; only ``up`` answers."""
    from keystoneauth1.session import TCPKeepAliveAdapter

    found: list[str] = []

    def send(self: Any, request: Any, **given: Any) -> str:
        found.append(request.url)
        if "//up" not in request.url:
            raise ConnectTimeout(request.url)
        return "answer"

    monkeypatch.setattr(TCPKeepAliveAdapter, "send", send)
    return found


def send(adapter: Any, url: str) -> Any:
    return adapter.send(SimpleNamespace(url=url), timeout=1)


def test_what_gave_no_answer_is_asked_once_while_a_template_is_looked_at(asked: list[str]) -> None:
    adapter = outages.load_adapter_class()()
    with outages.look_only():
        for url in ("http://down/a", "http://down/b", "http://down:1/c"):
            with pytest.raises(ConnectTimeout):
                send(adapter, url)
        assert send(adapter, "http://up/d") == "answer"
    assert asked == ["http://down/a", "http://down:1/c", "http://up/d"]


def test_what_is_carried_out_asks_each_time(asked: list[str]) -> None:
    adapter = outages.load_adapter_class()()
    for _ in range(2):
        with pytest.raises(ConnectTimeout):
            send(adapter, "http://down/a")
    assert len(asked) == 2


def test_a_service_that_answers_again_is_asked_again(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = outages.load_adapter_class()()
    with outages.look_only(), pytest.raises(ConnectTimeout):
        send(adapter, "http://down/a")
    monkeypatch.setattr(outages.time, "monotonic", lambda: float("inf"))
    with outages.look_only(), pytest.raises(ConnectTimeout):
        send(adapter, "http://down/b")
    assert len(asked) == 2
