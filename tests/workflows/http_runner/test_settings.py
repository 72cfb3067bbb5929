"""Settings of an http runner, and refused ones."""

from __future__ import annotations

import random
from typing import Any

import pytest

from zonda.hooks.errors import UsageError
from zonda.workflows.http_runner.settings import origin, read_settings, redacted_url

GIVEN: dict[str, Any] = {"clock": object(), "random": random.Random(1)}


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        pytest.param(
            {"tokn": "x"},
            "tokn is no setting of an http runner (did you mean token?)",
            id="unknown",
        ),
        pytest.param({"token": "x"}, "credentials and no endpoint", id="no-endpoint"),
        pytest.param({"endpoint": "flows"}, "endpoint must be a URL", id="no-url"),
        pytest.param({"endpoint": "ftp://x"}, "endpoint must be a URL", id="ftp"),
        pytest.param({"endpoint": "http://x:99999"}, "endpoint must be a URL", id="bad-port"),
        pytest.param({"endpoint": "http://u:p@x"}, "must hold no credentials", id="userinfo"),
        pytest.param(
            {"endpoint": "http://x", "token": "a", "username": "b"}, "stands beside", id="two-ways"
        ),
        pytest.param({"endpoint": "http://x", "token": "a\nb"}, "one line", id="token-lines"),
        pytest.param({"headers": ["x"]}, "headers must be a table", id="headers-list"),
        pytest.param(
            {"endpoint": "http://x", "headers": {"A": "b\r\nC: d"}}, "one line", id="header-lines"
        ),
        pytest.param({"max_body": -1}, "must be a number from 0", id="negative"),
        pytest.param({"wait": "long"}, "must be a number", id="text-for-number"),
        pytest.param({"wait": True}, "must be a number", id="boolean-for-number"),
        pytest.param({"signing_keys": [1]}, "must hold texts", id="keys"),
        pytest.param({"signing_key": "whsec_!!"}, "not base64", id="key-not-base64"),
        pytest.param({"signing_key": ""}, "signing_key must not be empty", id="empty-key"),
        pytest.param({"signing_keys": []}, "signing_keys must not be empty", id="no-keys"),
        pytest.param({"signing_keys": ["whsec_"]}, "must not be empty", id="nothing-encoded"),
        pytest.param({"connect_timeout": 0}, "connect_timeout must be above 0", id="now"),
        pytest.param({"answer_timeout": 0}, "answer_timeout must be above 0", id="at-once"),
        pytest.param({"proxy": "proxy.example:3128"}, "proxy must be a URL", id="no-scheme"),
        pytest.param({"proxy": "socks5://x:1080"}, "proxy must be a URL", id="socks"),
        pytest.param({"proxy": "ftp://u:p@x"}, "proxy must be a URL", id="ftp-proxy"),
        pytest.param({"endpoint": 5}, "endpoint must be text", id="endpoint-number"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], part: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings({**GIVEN, **settings})
    assert part in caught.value.message


def test_a_proxy_may_want_a_password_and_none_is_none() -> None:
    assert read_settings({**GIVEN, "proxy": "http://u:p@x:3128"}).proxy == "http://u:p@x:3128"
    assert read_settings({**GIVEN, "proxy": ""}).proxy == ""


@pytest.mark.parametrize("missing", ["clock", "random"])
def test_a_runner_needs_its_collaborators(missing: str) -> None:
    given = {name: value for name, value in GIVEN.items() if name != missing}
    with pytest.raises(UsageError):
        read_settings(given)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        pytest.param("HTTPS://Flows.Example/x?y", "https://flows.example:443", id="default-port"),
        pytest.param("http://x:8080/", "http://x:8080", id="port"),
        pytest.param("http://u:p@x/", "http://x:80", id="userinfo"),
        pytest.param("http://[::1]:1/", "http://[::1]:1", id="ipv6"),
        pytest.param("http://[bad/", "", id="bad"),
        pytest.param("ftp://x/", "", id="scheme"),
    ],
)
def test_origin(url: str, wanted: str) -> None:
    assert origin(url) == wanted


def test_what_is_shown_of_a_url() -> None:
    assert redacted_url("https://u:p@x.example:1/a/b?code=secret#f") == "https://x.example:1/a/b"
