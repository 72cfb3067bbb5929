"""Sections with the secrets that they name, and the networks common to all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from zonda.core.app.app import builtin_kinds
from zonda.core.plugins.manager import Origin, Plugins
from zonda.core.settings import settings
from zonda.core.settings.section_checks import check_sections, find_faults
from zonda.core.settings.sections import add_networks, read_callback_keys, resolve_secrets
from zonda.core.settings.table import Settings
from zonda.hooks.errors import UsageError
from zonda.hooks.schema.property import Schema
from zonda.hooks.settings import CONNECTION, SettingsSchema
from zonda.hooks.text.redaction import MASK, redact


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("DISKS_TOKEN", "t0ken")
    (tmp_path / "secret").write_text("s3cret\n")
    return Settings(home=tmp_path)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        pytest.param({"token": "plain"}, {"token": "plain"}, id="given"),
        pytest.param({"token": {"env": "DISKS_TOKEN"}}, {"token": "t0ken"}, id="variable"),
        pytest.param({"token": {"file": "secret"}}, {"token": "s3cret"}, id="file"),
        pytest.param(
            {"oauth2": {"client_id": "z", "client_secret": {"file": "secret"}}},
            {"oauth2": {"client_id": "z", "client_secret": "s3cret"}},
            id="in-a-table",
        ),
        pytest.param(
            {"signing_keys": [{"id": "1", "key": {"env": "DISKS_TOKEN"}}, {"file": "secret"}]},
            {"signing_keys": [{"id": "1", "key": "t0ken"}, "s3cret"]},
            id="in-a-list",
        ),
        pytest.param({"a": {"env": "x", "b": 1}}, {"a": {"env": "x", "b": 1}}, id="more-beside"),
        pytest.param({"a": {"env": 1}}, {"a": {"env": 1}}, id="no-text"),
    ],
)
def test_secrets_are_put_in(known: Settings, given: Any, wanted: Any) -> None:
    assert resolve_secrets(given, known) == wanted


def test_the_keys_of_callbacks_are_by_section(known: Settings) -> None:
    sections: dict[str, Any] = {
        "one": {"callback": True, "callback_key": {"file": "secret"}},
        "two": {"callback": True, "callback_key": ["old", {"env": "DISKS_TOKEN"}]},
        "unsigned": {"callback": True},
        "off": {"callback_key": {"env": "NOT_THERE"}},
    }
    found = read_callback_keys(replace(known, runners=sections))
    assert found == {"one": ["s3cret"], "two": ["old", "t0ken"]}


@pytest.mark.parametrize("given", [{"env": "NOT_THERE"}, {"file": "not-there"}])
def test_a_secret_that_is_not_there(known: Settings, given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"NOT_THERE|not-there"):
        resolve_secrets({"token": given}, known)


@pytest.mark.parametrize("content", ["", " \n\n"])
@pytest.mark.parametrize("entry", ["token", "callback_key", "signing_key"])
def test_a_secret_that_is_empty(known: Settings, entry: str, content: str) -> None:
    (known.home / "empty").write_text(content)
    section = {"callback": True, entry: {"file": "empty"}}
    with pytest.raises(UsageError, match="file:empty is empty"):
        resolve_secrets(section, known)
    if entry == "callback_key":
        with pytest.raises(UsageError, match="file:empty is empty"):
            read_callback_keys(
                replace(known, runners={"one": {**section, entry: [section[entry]]}})
            )


@pytest.mark.parametrize("given", ["", []])
def test_a_key_that_is_there_and_empty_is_handed_on(known: Settings, given: Any) -> None:
    sections = {"one": {"callback": True, "callback_key": given}}
    assert "one" in read_callback_keys(replace(known, runners=sections))


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        pytest.param({}, {"denied_networks": ["10.0.0.0/8", "fd00::/8"]}, id="for-all"),
        pytest.param(
            {"denied_networks": "8.8.8.8", "allowed_networks": ["9.9.9.9"]},
            {
                "denied_networks": ["10.0.0.0/8", "fd00::/8", "8.8.8.8"],
                "allowed_networks": ["9.9.9.9"],
            },
            id="besides",
        ),
    ],
)
def test_networks_for_all(own: dict[str, Any], wanted: dict[str, Any]) -> None:
    known = Settings(denied_networks="10.0.0.0/8, fd00::/8")
    assert add_networks(own, known) == wanted


def test_networks_are_checked_at_once() -> None:
    with pytest.raises(UsageError, match=r"ZONDA_DENIED_NETWORKS.*10\.0\.0\.1/8 is none"):
        settings.load_settings(
            {}, {"ZONDA_HOME": "/h", "ZONDA_DENIED_NETWORKS": "fd00::/8,10.0.0.1/8"}
        )


OAUTH2 = {"token_url": "http://x", "client_id": "z", "client_secret": "s"}


def faults(section: dict[str, Any]) -> list[str]:
    given = {"endpoint": "http://x", **section}
    return [" ".join(each) for each in find_faults("runners", given, builtin_kinds()["runners"])]


@pytest.mark.parametrize(
    ("section", "part"),
    [
        ({"token": {"env": "A", "file": "B"}}, "must be text, {env = ...} or {file = ...}"),
        ({"headers": {"A": {"environment": "B"}}}, "must be a table of texts of one line"),
        ({"signing_keys": [{"id": "a"}]}, "{id = ..., key = ...}"),
        ({"signing_keys": [{"id": 1, "key": "x"}]}, "{id = ..., key = ...}"),
        ({"signature": "x"}, "must be one of webhooks, rfc9421"),
        ({"oauth2": "x"}, "must be a table"),
        (
            {"oauth2": {**OAUTH2, "token": "x"}},
            "oauth2.token is no setting of an http runner (did you mean token_url?)",
        ),
        ({"oauth2": {**OAUTH2, "client_secret": ["x"]}}, "oauth2.client_secret must be text, {env"),
        ({"oauth2": {**OAUTH2, "token_url": "x"}}, "token_url must be a URL"),
        ({"oauth2": OAUTH2, "token": "t"}, "stands beside a token"),
        (
            {"actions": {"CREAT": {}}},
            "actions.CREAT is no setting of an http runner (did you mean CREATE?)",
        ),
        ({"actions": {"CREATE": {"urll": "/"}}}, "actions.CREATE.urll is no setting"),
        ({"actions": {"CREATE": {"method": "BREW"}}}, "CREATE.method must be one of POST"),
        ({"actions": {"CREATE": {"gone": [200]}}}, "CREATE.gone must be a list of statuses"),
        ({"actions": {"CREATE": {"repeat": 1}}}, "CREATE.repeat must be true or false"),
        ({"actions": {"CREATE": {"id_path": 1}}}, "CREATE.id_path must be a path"),
        ({"allowed_networks": ["10.0.0.0/8", "x"]}, "and x is none"),
        ({"kidn": "mistral"}, "kidn is no setting of an http runner (did you mean kind?)"),
        ({"signing_key": float("inf")}, "signing_key must hold texts"),
        ({"actions": {"CREATE": {"id_path": float("nan")}}}, "CREATE.id_path must be a path"),
        ({"wait": float("nan")}, "wait must be a number"),
        ({"max_in_flight": -1}, "must be a number"),
        ({"connect_timeout": 0}, "must be above 0"),
        ({"answer_timeout": 0}, "must be above 0"),
        ({"answer_timeout": "x"}, "must be a number"),
        ({"proxy": "proxy.example:3128"}, "must be a URL that begins with http:// or https://"),
        ({"proxy": "socks5://x"}, "must be a URL that begins with http:// or https://"),
        ({"callback_key": ""}, "must not be empty"),
        ({"callback_key": []}, "must not be empty"),
        ({"callback_key": ["a", " "]}, "must not be empty"),
        ({"signing_key": "whsec_"}, "must not be empty"),
        ({"signing_keys": []}, "must not be empty"),
        ({"signing_keys": [{"id": "1", "key": ""}]}, "must not be empty"),
    ],
)
def test_faults_of_an_http_runner(section: dict[str, Any], part: str) -> None:
    found = faults(section)
    assert len(found) == 1
    assert part in found[0]


@pytest.mark.parametrize(
    "section",
    [
        {"token": {"env": "A"}},
        {"proxy": "http://u:p@x:3128", "connect_timeout": 0.5, "wait": 0},
        {"headers": {"A": {"file": "B"}}},
        {"signing_key": {"file": "B"}},
        {"signing_keys": ["a", {"env": "B"}, {"id": "1", "key": {"file": "C"}}]},
        {"oauth2": {**OAUTH2, "client_secret": {"env": "A"}}},
        {"actions": {"DELETE": {"url": "/x", "method": "DELETE", "gone": 404}}},
    ],
)
def test_what_is_right(section: dict[str, Any]) -> None:
    assert faults(section) == []


class Queue:
    """A kind of a plug-in, with a schema."""

    def __init__(self, given: Any) -> None:
        raise AssertionError("nothing is made to check a section")

    settings_schema = SettingsSchema(
        "a queue runner", {"host": Schema(Schema.STRING, "where it is", required=True)}
    )


def test_sections_of_a_plugins_kind_are_checked_like_those_of_zonda(tmp_path: Path) -> None:
    path = tmp_path / settings.FILE_NAME
    path.write_text('[runners.q]\nkind = "queue"\n\nhots = "s3cret"\n')
    loaded = settings.load_settings({}, {"ZONDA_HOME": str(tmp_path)}, builtin_kinds)
    origins = {("runner", "queue"): Origin("queues")}
    plugins = Plugins(runners={"queue": Queue}, origins=origins)
    with pytest.raises(UsageError) as caught:
        check_sections(loaded, plugins)
    assert str(caught.value).splitlines() == [
        f"{path}:4: [runners.q]: hots is no setting of a queue runner (did you mean host?)",
        f"{path}:1: [runners.q]: host is missing: where it is",
    ]


def test_a_schema_that_fails_is_a_fault_and_no_traceback() -> None:
    class Broken:
        settings_schema = SettingsSchema("a broken runner", {}, lambda values: values["x"])

    found = find_faults("runners", {"kind": "broken"}, {"broken": Broken})
    assert found == [("", "cannot be checked: the schema of its kind raises KeyError")]


def test_secrets_of_a_section_are_hidden_values_and_the_password_of_a_proxy() -> None:
    hidden = Schema(Schema.STRING, hidden=True)
    more = {
        "login": Schema(Schema.MAP, schema={"key": hidden}),
        "old": Schema("List", schema=hidden),
    }
    entries = {**CONNECTION, **more, "token": hidden}
    schema = SettingsSchema("a queue runner", entries)
    values = schema.read({"token": "t0ken", "proxy": "http://user:pa55word@x:3128"})
    assert redact("t0ken pa55word http://x:3128", schema.list_secrets(values)) == (
        f"{MASK} {MASK} http://x:3128"
    )
    assert schema.list_secrets(schema.read({"proxy": "http://x:3128"})) == []
    nested = schema.read({"login": {"key": "nested"}, "old": ["older"]})
    assert schema.list_secrets(nested) == ["nested", "older"]
