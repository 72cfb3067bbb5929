"""The secrets of a URL: its password, and the header that a request to it sends."""

from __future__ import annotations

import re

import pytest
import responses

from zonda.hooks.http import ClientConfig, Transport, list_url_secrets
from zonda.hooks.testing import FakeClock


@pytest.mark.parametrize(
    ("user_info", "password"),
    [
        pytest.param("usr:PWSECRET2", "PWSECRET2", id="plain"),
        pytest.param("usr:p%40ss%2fw", "p@ss/w", id="quoted"),
        pytest.param("usr:p@ss|w", "p@ss|w", id="to be quoted"),
        pytest.param("u%3Ar:müller", "müller", id="other letters"),
        pytest.param("token:", "", id="no password"),
    ],
)
def test_what_is_sent_is_known(user_info: str, password: str) -> None:
    url = f"https://{user_info}@flows.example/a?to=me@x"
    with responses.RequestsMock() as http:
        http.get(re.compile("https://.*flows.example/a"))
        Transport(ClientConfig(FakeClock())).send("GET", url, {})
        sent = http.calls[0].request.headers["Authorization"].removeprefix("Basic ")
    known = list_url_secrets(url)
    assert sent in known
    assert password in known
    assert user_info.partition(":")[2] in known


@pytest.mark.parametrize(
    "url", ["https://flows.example/a@b", "https://usr@flows.example", "mk@home", "http://a:b@"]
)
def test_what_sends_nothing_has_no_header_to_hide(url: str) -> None:
    assert not [secret for secret in list_url_secrets(url) if len(secret) > 1]
