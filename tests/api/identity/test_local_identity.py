"""Keystone's login by the service: who gets a token, what it is good for, and when it ends."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.api import contract
from tests.api.conftest import BASE, make_app

from zonda.core.api.http.requests import Request
from zonda.core.api.identity.choice import choose_identity
from zonda.core.api.identity.local_identity import LIFETIME, LocalIdentity
from zonda.core.api.identity.tokens import hash_token
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.app.app import App
from zonda.core.store.values.sealing import Sealer
from zonda.hooks.errors import UsageError
from zonda.hooks.testing import FakeClock

TOKENS = "/v3/auth/tokens"
ABSENT = "00000000-0000-0000-0000-000000000000"


def write_entries(path: Path, *rows: tuple[str, str, str, str]) -> None:
    """Write tokens: password, user, project, and the rest of the table."""
    texts = [
        f'hash = "{hash_token(password)}"\nuser = "{user}"\nproject = "{project}"\n{rest}\n'
        for password, user, project, rest in rows
    ]
    path.write_text("".join(f"[[token]]\n{text}" for text in texts))
    path.chmod(0o600)


ANN = ("ann's", "ann", "p1", 'roles = ["member"]')
BOB = ("bob's", "bob", "p2", 'roles = ["member"]')
ROOT = ("root's", "root", "p3", 'roles = ["admin"]')


@dataclass
class Site:
    """A server without its socket. ``entries``: its ``tokens.toml``."""

    app: App
    entries: Path
    dispatcher: Dispatcher

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer; ``x_auth_token`` is the header ``x-auth-token``."""
        raw = b"" if body is None else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        path, _, query = path.partition("?")
        request = Request(method, path, query, names, raw, BASE, "req-1")
        target = self.dispatcher.find_target(method, path)
        answer = self.dispatcher.answer(request, target)
        contract.check(target, request, answer, json.loads(answer.format_body()))
        return answer

    def sign_in(self, user: Any, scope: Any = None, **more: Any) -> Any:
        """The answer to a login by a password."""
        identity = {"methods": ["password"], "password": {"user": user}, **more}
        auth = {"identity": identity} | ({} if scope is None else {"scope": scope})
        return self.send("POST", TOKENS, {"auth": auth})

    def get_token(self, password: str = "ann's", user: str = "ann") -> str:
        """A token of a user."""
        answer = self.sign_in({"name": user, "password": password, "domain": {"id": "default"}})
        assert answer.status == 201, answer.body
        return str(answer.headers["X-Subject-Token"])


def make_site(home: Path, **flags: str) -> Site:
    """A server with a login of its own."""
    flags = {"identity": "tokens", "local_identity": "yes", "log": "off", **flags}
    app = make_app(str(home), **flags)
    write_entries(home / "tokens.toml", ANN, BOB, ROOT)
    service = Service(app)
    dispatcher = Dispatcher(service, make_interfaces(service, choose_identity(app)))
    return Site(app, home / "tokens.toml", dispatcher)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = make_site(tmp_path)
    yield made
    made.app.close()


PROJECT = {"project": {"name": "p1", "domain": {"id": "default"}}}


@pytest.mark.parametrize("path", ["/v3", "/v3/"])
def test_the_version_is_shown_to_everybody(site: Site, path: str) -> None:
    answer = site.send("GET", path)
    assert answer.status == 200
    version = answer.body["version"]
    assert (version["id"], version["status"]) == ("v3.14", "stable")
    assert version["links"] == [{"rel": "self", "href": f"{BASE}/v3/"}]


@pytest.mark.parametrize(
    ("user", "scope"),
    [
        ({"name": "ann", "domain": {"id": "default"}}, PROJECT),
        ({"name": "ann", "domain": {"name": "Default"}}, {"project": {"id": "p1"}}),
        ({"id": "ann"}, {"project": {"name": "p1", "domain": {"name": "default"}}}),
        ({"name": "ann"}, None),
        ({"id": "ann"}, "unscoped"),
        ({"id": "ann"}, {"unscoped": {}}),
    ],
)
def test_a_user_signs_in_by_name_or_id_with_the_token_as_password(
    site: Site, user: dict[str, Any], scope: Any
) -> None:
    answer = site.sign_in({**user, "password": "ann's"}, scope)
    assert answer.status == 201
    token = answer.body["token"]
    domain = {"id": "default", "name": "Default"}
    assert token["methods"] == ["password"]
    assert (token["user"]["id"], token["user"]["name"]) == ("ann", "ann")
    assert token["project"] == {"id": "p1", "name": "p1", "domain": domain}
    assert [role["name"] for role in token["roles"]] == ["member"]
    assert len(token["audit_ids"]) == 1
    assert token["issued_at"] < token["expires_at"]
    [service] = token["catalog"]
    assert service["type"] == "orchestration"
    assert {each["interface"] for each in service["endpoints"]} == {"public", "internal", "admin"}
    assert {(each["region"], each["url"]) for each in service["endpoints"]} == {
        ("RegionOne", f"{BASE}/v1/p1")
    }
    assert "ann's" not in json.dumps(answer.body)


def test_the_catalog_names_the_region_and_the_public_url(tmp_path: Path) -> None:
    site = make_site(tmp_path, region_name="North", public_url="https://zonda.example/")
    try:
        [service] = site.sign_in({"id": "ann", "password": "ann's"}).body["token"]["catalog"]
        found = {(each["region_id"], each["url"]) for each in service["endpoints"]}
        assert found == {("North", "https://zonda.example/v1/p1")}
    finally:
        site.app.close()


def test_a_token_of_the_login_stands_beside_the_plain_one(site: Site) -> None:
    token = site.get_token()
    for headers in ({"x_auth_token": token}, {"authorization": f"Bearer {token}"}):
        assert site.send("GET", "/v1/p1/stacks", **headers).status == 200
    assert site.send("GET", "/v1/p1/stacks", x_auth_token="ann's").status == 200
    assert site.send("GET", "/v1/p2/stacks", x_auth_token=token).status == 403
    assert site.get_token() != token


@pytest.mark.parametrize(
    ("user", "scope"),
    [
        ({"name": "ann", "password": "wrong"}, PROJECT),
        ({"name": "eve", "password": "ann's"}, PROJECT),
        ({"name": "bob", "password": "ann's"}, PROJECT),
        ({"name": "ann", "password": ""}, PROJECT),
        ({"name": "ann", "password": hash_token("ann's")}, PROJECT),
        ({"name": "ä", "password": "ann's"}, PROJECT),
        ({"name": "ann", "password": "ann's", "domain": {"id": "other"}}, PROJECT),
        ({"name": "ann", "password": "ann's"}, {"project": {"id": "p2"}}),
        ({"name": "ann", "password": "ann's"}, {"project": {"id": "p1", "domain": {"id": "x"}}}),
        ({"name": "ann", "password": "ann's"}, {"domain": {"id": "default"}}),
        ({"name": "ann", "password": "ann's"}, {"system": {"all": True}}),
    ],
)
def test_whatever_is_wrong_with_a_login_the_refusal_is_the_same(
    site: Site, user: dict[str, Any], scope: Any
) -> None:
    answer = site.sign_in(user, scope)
    message = "The request you have made requires authentication."
    assert answer.status == 401
    assert answer.body == {"error": {"code": 401, "title": "Unauthorized", "message": message}}
    assert "X-Subject-Token" not in answer.headers


@pytest.mark.parametrize("methods", [[], ["totp"], ["password", "totp"], [None], [["password"]]])
def test_another_method_is_refused(site: Site, methods: list[Any]) -> None:
    assert site.sign_in({"id": "ann", "password": "ann's"}, methods=methods).status == 401


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"auth": []},
        {"auth": {"identity": {}}},
        {"auth": {"identity": {"methods": "password"}}},
        {"auth": {"identity": {"methods": ["password"]}}},
        {"auth": {"identity": {"methods": ["password"], "password": {"user": "ann"}}}},
        {"auth": {"identity": {"methods": ["password"], "password": {"user": {"id": "ann"}}}}},
        {
            "auth": {
                "identity": {
                    "methods": ["password"],
                    "password": {"user": {"id": 7, "password": "x"}},
                }
            }
        },
        {"auth": {"identity": {"methods": ["token"], "token": {"id": 7}}}},
        {"auth": {"identity": {"methods": ["token"]}, "scope": 7}},
        {"auth": {"identity": {"methods": ["token"]}, "scope": {"project": {"id": 7}}}},
    ],
)
def test_what_is_no_login_is_a_bad_request_in_keystones_form(site: Site, body: Any) -> None:
    answer = site.send("POST", TOKENS, body)
    assert answer.status == 400
    assert set(answer.body) == {"error"}
    assert (answer.body["error"]["code"], answer.body["error"]["title"]) == (400, "Bad Request")
    assert " must be " in answer.body["error"]["message"]


def test_a_method_that_the_login_has_not_is_refused_in_keystones_form(site: Site) -> None:
    answer = site.send("DELETE", TOKENS, x_auth_token=site.get_token())
    assert (answer.status, answer.body["error"]["code"]) == (405, 405)


def renew(site: Site, token: str, project: str = "p1") -> Any:
    identity = {"methods": ["token"], "token": {"id": token}}
    scope = {"project": {"id": project}}
    return site.send("POST", TOKENS, {"auth": {"identity": identity, "scope": scope}})


def test_a_token_gives_another_one_for_its_own_project(site: Site) -> None:
    for token in (site.get_token(), "ann's"):
        answer = renew(site, token)
        assert answer.status == 201
        assert answer.body["token"]["methods"] == ["token"]
        used = {"x_auth_token": answer.headers["X-Subject-Token"]}
        assert site.send("GET", "/v1/p1/stacks", **used).status == 200
        assert renew(site, token, "p2").status == 401
    for wrong in ("", "none", site.get_token()[:-1] + "!"):
        assert renew(site, wrong).status == 401


def test_a_token_is_shown_to_its_user_and_to_administrators_only(site: Site) -> None:
    token = site.get_token()
    for asking in (token, "ann's", site.get_token("root's", "root"), "root's"):
        answer = site.send("GET", TOKENS, x_auth_token=asking, x_subject_token=token)
        assert answer.status == 200
        assert answer.headers["X-Subject-Token"] == token
        assert answer.body["token"]["user"]["name"] == "ann"
        assert answer.body["token"]["catalog"]
    short = site.send("GET", f"{TOKENS}?nocatalog", x_auth_token=token, x_subject_token=token)
    assert "catalog" not in short.body["token"]
    foreign = site.send("GET", TOKENS, x_auth_token="bob's", x_subject_token=token)
    absent = site.send("GET", TOKENS, x_auth_token="bob's", x_subject_token=ABSENT)
    assert (foreign.status, foreign.body) == (absent.status, absent.body)
    assert foreign.body["error"]["code"] == 404
    assert site.send("GET", TOKENS, x_auth_token=token).status == 404
    assert site.send("GET", TOKENS, x_subject_token=token).status == 401
    assert site.send("GET", TOKENS, x_auth_token="x", x_subject_token=token).status == 401


@pytest.mark.parametrize(
    "rows",
    [
        (BOB,),
        ((*ANN[:3], 'roles = ["reader"]'), BOB),
        ((*ANN[:2], "p9", ANN[3]), BOB),
        ((ANN[0], "eve", *ANN[2:]), BOB),
        ((*ANN[:3], f"{ANN[3]}\nexpires = 2999-01-01T00:00:00Z"), BOB),
        (("another", *ANN[1:]), BOB),
    ],
)
def test_a_token_ends_with_any_change_of_its_entry(site: Site, rows: Any) -> None:
    token, other = site.get_token(), site.get_token("bob's", "bob")
    write_entries(site.entries, *rows)
    assert site.send("GET", "/v1/p1/stacks", x_auth_token=token).status == 401
    assert renew(site, token).status == 401
    assert site.send("GET", "/v1/p2/stacks", x_auth_token=other).status == 200


def test_no_character_of_a_token_can_be_changed(site: Site) -> None:
    identity = next(iter(site.dispatcher.interfaces)).identity
    assert isinstance(identity, LocalIdentity)
    token = site.get_token()
    assert identity.find_issued(token) is not None
    for at, character in enumerate(token):
        for other in ("A", "B", ".", "ä", "\n"):
            forged = token[:at] + other + token[at + 1 :]
            assert other == character or identity.find_issued(forged) is None, (at, other)
    for forged in (f"{token}A", token[:-1], f"{token}=", "." * len(token)):
        assert identity.find_issued(forged) is None


def make_identity(path: Path, clock: FakeClock, *keys: bytes) -> LocalIdentity:
    return LocalIdentity(path, clock, keys or (b"k" * 32,), lambda: ABSENT)


def test_a_token_ends_after_an_hour_and_never_outlives_what_it_was_made_of(tmp_path: Path) -> None:
    path, clock = tmp_path / "tokens.toml", FakeClock()
    write_entries(path, ANN)
    identity, begun = make_identity(path, clock), clock.now()
    token = identity.issue_token("ann", "ann's", "p1", "Default")
    assert token is not None
    clock.advance(LIFETIME - 60)
    caller = identity.authenticate({"x-auth-token": token})
    assert caller is not None
    assert caller.expires == int(begun) + LIFETIME
    renewed = identity.renew(token, "")
    assert renewed is not None
    assert renewed.token.expires == int(begun) + LIFETIME
    clock.advance(61)
    for text in (token, renewed.text):
        assert identity.authenticate({"x-auth-token": text}) is None
        assert identity.renew(text, "") is None


def test_a_token_ends_with_the_time_of_its_entry(tmp_path: Path) -> None:
    path, clock = tmp_path / "tokens.toml", FakeClock()
    write_entries(path, (*ANN[:3], "expires = 2030-01-01T00:00:00Z"))
    identity, end = make_identity(path, clock), 1_893_456_000
    clock.advance(end - 10 - clock.now())
    issued = identity.sign_in("ann", "ann's", "")
    assert issued is not None
    assert issued.token.expires == end
    clock.advance(11)
    assert identity.find_issued(issued.text) is None
    assert identity.sign_in("ann", "ann's", "") is None


def test_every_sealing_key_is_believed_and_no_other(tmp_path: Path) -> None:
    path, clock = tmp_path / "tokens.toml", FakeClock()
    write_entries(path, ANN)
    old, new = b"o" * 32, b"n" * 32
    token = make_identity(path, clock, old).issue_token("ann", "ann's", "p1", "")
    assert token is not None
    assert make_identity(path, clock, new, old).find_issued(token) is not None
    assert make_identity(path, clock, new).find_issued(token) is None


def test_the_key_is_not_that_of_signal_urls(site: Site) -> None:
    sealer: Sealer = site.app.store.sealer
    token = site.get_token()
    entries = Path(site.entries)
    signal = LocalIdentity(entries, site.app.clock, sealer.signal_keys, site.app.ids)
    assert signal.find_issued(token) is None


def test_without_the_setting_there_is_no_login(tmp_path: Path) -> None:
    site = make_site(tmp_path, local_identity="no")
    try:
        assert site.send("GET", "/v3").status == 300
        assert site.sign_in({"id": "ann", "password": "ann's"}).status == 300
    finally:
        site.app.close()


@pytest.mark.parametrize("mode", ["none", "keystone"])
def test_another_identity_has_no_login(tmp_path: Path, mode: str) -> None:
    app = make_app(str(tmp_path), identity=mode, local_identity="yes", log="off")
    try:
        with pytest.raises(UsageError, match="local_identity needs identity = tokens"):
            choose_identity(app)
    finally:
        app.close()


def test_the_log_names_who_gets_a_token(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="zonda.calls")
    site.sign_in({"id": "ann", "password": "wrong"})
    renew(site, site.get_token())
    lines = [record.fields for record in caplog.records]  # type: ignore[attr-defined]
    told = [(line["operation"], line["status"], line["user"], line["project"]) for line in lines]
    assert told == [
        ("identity:issue_token", 401, "", ""),
        ("identity:issue_token", 201, "ann", "p1"),
        ("identity:issue_token", 201, "ann", "p1"),
    ]


def test_the_rate_of_requests_holds_for_logins(tmp_path: Path) -> None:
    (tmp_path / "zonda.toml").write_text("[quotas]\nrequests = 0.001\n")
    site = make_site(tmp_path)
    try:
        user = {"id": "ann", "password": "wrong"}
        assert site.sign_in(user).status == 401
        refused = site.sign_in(user)
        assert (refused.status, refused.body["error"]["code"]) == (429, 429)
        assert int(refused.headers["Retry-After"]) > 0
    finally:
        site.app.close()
