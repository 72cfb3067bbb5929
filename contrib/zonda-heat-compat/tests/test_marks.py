"""The mark on requests that make something."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda_heat_compat.marks import KEY, add_mark, carry, format_description

MARK = "01a2"
TEXT = format_description(MARK)


def send(url: str, body: Any, method: str = "POST", form: str = "json") -> Any:
    """Return the body that would be sent; neutronclient sends text in ``data``."""
    content = {form: body if form == "json" else json.dumps(body)}
    with carry(MARK):
        add_mark(method, url, content)
    return content[form] if form == "json" else json.loads(content[form])


@pytest.mark.parametrize("form", ["json", "data"])
def test_what_is_made_bears_the_mark(form: str) -> None:
    port = send("http://x/v2.0/ports", {"port": {"name": "p"}}, form=form)
    assert port == {"port": {"name": "p", "description": TEXT}}
    hints = {"server": {"metadata": {"a": "b"}}, "os:scheduler_hints": {"group": "g"}}
    server = send("/servers", hints, form=form)
    assert server["server"] == {"metadata": {"a": "b", KEY: MARK}}
    assert server["os:scheduler_hints"] == {"group": "g"}


@pytest.mark.parametrize(
    ("url", "body", "method"),
    [
        pytest.param("/v2.0/ports/1", {"port": {"name": "p"}}, "PUT", id="a-change"),
        pytest.param("/servers/1/action", {"reboot": {}}, "POST", id="an-action"),
        pytest.param("/other", {"port": {}}, "POST", id="another-service"),
        pytest.param("/v2.0/ports", {"port": {"description": "mine"}}, "POST", id="described"),
        pytest.param("/v2.0/ports", ["port"], "POST", id="a-list"),
    ],
)
def test_everything_else_stays_as_it_is(url: str, body: Any, method: str) -> None:
    assert send(url, body, method) == body


def test_nothing_is_marked_outside_of_a_handler() -> None:
    content = {"data": "no JSON", "json": None}
    with carry(MARK):
        add_mark("POST", "/ports", content)
    assert content == {"data": "no JSON", "json": None}
    add_mark("POST", "/ports", content := {"json": {"port": {}}})
    assert content == {"json": {"port": {}}}
