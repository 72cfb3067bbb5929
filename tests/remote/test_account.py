"""Accounts: the token of the settings, or one of Keystone as OpenStack's clients get it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from zonda.core.remote.account import Account, choose_account
from zonda.core.remote.connection import Connection
from zonda.core.settings.settings import load_settings
from zonda.hooks.errors import UsageError

from .conftest import HELLO, PromptClock, Script

#: The SDK warns of a part of its own that nobody uses here.
pytestmark = pytest.mark.filterwarnings("ignore:Support for InfluxDB")

CLOUDS = """
clouds:
  mine:
    auth:
      auth_url: {url}/v3
      username: ann
      password: sesame
      project_name: p1
      user_domain_name: Default
      project_domain_name: Default
    identity_api_version: "3"
"""
TOKEN = {
    "token": {
        "expires_at": "2999-01-01T00:00:00.000000Z",
        "issued_at": "2020-01-01T00:00:00.000000Z",
        "methods": ["password"],
        "user": {"id": "u1", "name": "ann", "domain": {"id": "default", "name": "Default"}},
        "project": {"id": "p1", "name": "p1", "domain": {"id": "default", "name": "Default"}},
        "catalog": [],
        "roles": [{"id": "r", "name": "member"}],
    }
}


def make_account(url: str, **flags: str) -> Account:
    return choose_account(load_settings({"home": "/nowhere", "url": url, **flags}, {}))


@pytest.fixture
def cloud(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """A cloud of ``clouds.yaml`` whose Keystone is the script's server."""
    (tmp_path / "clouds.yaml").write_text(CLOUDS.format(url=script.url))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    monkeypatch.setenv("OS_CLOUD", "mine")
    return script


def _version(script: Script) -> dict[str, Any]:
    links = [{"rel": "self", "href": f"{script.url}/v3/"}]
    return {"version": {"id": "v3.14", "status": "stable", "links": links}}


def test_a_cloud_gives_the_token_of_keystone(cloud: Script, clock: PromptClock) -> None:
    cloud.answers = [(200, _version(cloud)), (201, TOKEN), (200, HELLO)]
    connection = Connection(make_account(cloud.url), clock)

    assert connection.project == "p1"
    assert cloud.asked[-1][2]["x-auth-token"] == "from-keystone"
    assert b"sesame" in cloud.asked[1][3]
    connection.close()


def test_a_token_that_has_expired_is_fetched_anew(cloud: Script, clock: PromptClock) -> None:
    cloud.answers = [(200, _version(cloud)), (201, TOKEN), (401, {}), (201, TOKEN), (200, HELLO)]
    connection = Connection(make_account(cloud.url), clock)

    assert connection.project == "p1"
    connection.close()


def test_a_keystone_that_refuses_is_told(cloud: Script, clock: PromptClock) -> None:
    cloud.answers = [(200, _version(cloud)), (401, {"error": {"message": "no", "code": 401}})]
    connection = Connection(make_account(cloud.url), clock)

    with pytest.raises(UsageError, match="gives no token") as caught:
        _ = connection.project
    assert "sesame" not in str(caught.value)
    connection.close()


def test_a_cloud_that_nobody_knows_is_told(
    cloud: Script, clock: PromptClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OS_CLOUD", "other")
    with pytest.raises(UsageError, match="gives no token"):
        _ = Connection(make_account(cloud.url), clock).project


def test_a_token_of_the_settings_comes_first(cloud: Script) -> None:
    assert make_account(cloud.url, token="own").fetch_token() == "own"
    assert cloud.asked == []


def test_without_the_extra_it_says_what_to_install(
    cloud: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openstack.config", None)
    with pytest.raises(UsageError) as caught:
        make_account(cloud.url)
    assert "zonda[keystone]" in caught.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "http://zonda.example",
        "HTTP://10.0.0.1:8004/",
        "http://[2001:db8::1]:8004",
        "http://127.evil",
    ],
)
@pytest.mark.parametrize("source", ["setting", "cloud"])
def test_no_token_leaves_this_machine_without_tls(
    url: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OS_CLOUD", "mine")
    flags = {"token": "sesame"} if source == "setting" else {}

    with pytest.raises(UsageError, match="would travel in plain text") as caught:
        make_account(url, **flags)

    assert "insecure_http" in str(caught.value.hint)
    assert make_account(url, insecure_http="yes", **flags).url == url


@pytest.mark.parametrize(
    "url",
    ["https://zonda.example", "http://localhost:8004", "http://[::1]:8004", "http://127.0.0.2"],
)
def test_a_token_travels_by_tls_or_within_this_machine(url: str) -> None:
    assert make_account(url, token="sesame").token == "sesame"


def test_who_has_no_token_sends_none() -> None:
    assert make_account("http://zonda.example").fetch_token() == ""
