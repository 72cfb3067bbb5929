"""Sign-in, the session and its end, and that forms of other sites are refused."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import BASE, TestIdentity

from zonda.core.api.identity.callers import Caller
from zonda.core.api.identity.local_identity import LocalIdentity
from zonda.core.api.identity.tokens import hash_token
from zonda.core.api.pages.access import sessions
from zonda.core.api.pages.interface import CONTENT_POLICY
from zonda.core.store.read.reader import Reader
from zonda.hooks.errors import StoreError

from .conftest import ORIGIN, Browser, Site

STACKS = "/ui/p1/stacks"


@pytest.fixture
def stranger(site: Site) -> Browser:
    return Browser(site.api.dispatcher)


def test_a_stranger_is_led_to_the_sign_in_and_back(site: Site, stranger: Browser) -> None:
    led = stranger.get(f"{STACKS}?search=a%20b")
    assert (led.status, led.location) == (
        303,
        "/ui/sign-in?next=%2Fui%2Fp1%2Fstacks%3Fsearch%3Da%2520b",
    )
    form = stranger.get(led.location)
    assert 'name="next" value="/ui/p1/stacks?search=a%20b"' in form.html
    done = stranger.post("/ui/sign-in", form.csrf, token="p1", next="/ui/p1/stacks?search=a%20b")
    assert (done.status, done.location) == (303, "/ui/p1/stacks?search=a%20b")
    assert stranger.get(STACKS).status == 200


def test_the_cookie_is_kept_from_scripts_and_other_sites(stranger: Browser) -> None:
    form = stranger.get("/ui/sign-in")
    said = stranger.post("/ui/sign-in", form.csrf, token="project").headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=28800"} <= set(said.split("; "))
    assert "Secure" not in said
    assert "project" not in said


def test_behind_tls_the_cookie_is_secure(stranger: Browser) -> None:
    form = stranger.get("/ui/sign-in")
    secure = {**ORIGIN, "origin": BASE.replace("http:", "https:")}
    done = stranger.post("/ui/sign-in", form.csrf, token="p1", headers=secure)
    assert done.headers["Set-Cookie"].endswith("; Secure")


@pytest.mark.parametrize("token", ["", "\x00", "ü", "a\nb"])
def test_a_bad_token_begins_no_session(stranger: Browser, token: str) -> None:
    form = stranger.get("/ui/sign-in")
    done = stranger.post("/ui/sign-in", form.csrf, token=token)
    assert done.status in (400, 403)
    assert not stranger.cookie
    assert 'role="alert"' in done.html


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/v1/p1",
        "/ui/\\evil",
        "/ui/\n/x",
        "javascript:1",
    ],
)
def test_the_sign_in_leads_to_pages_of_this_server_only(stranger: Browser, target: str) -> None:
    form = stranger.get("/ui/sign-in")
    done = stranger.post("/ui/sign-in", form.csrf, token="p1", next=target)
    assert done.location == "/ui/"


def test_sign_out_ends_the_session_at_the_server(site: Site) -> None:
    browser = site.open()
    kept = browser.cookie
    done = browser.post("/ui/sign-out", browser.get(STACKS).csrf)
    assert done.location == "/ui/sign-in"
    assert "Max-Age=0" in done.headers["Set-Cookie"]
    browser.cookie = kept
    assert browser.get(STACKS).location.startswith("/ui/sign-in")


def test_the_log_names_who_signs_in_and_out(
    site: Site, stranger: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="zonda.calls")
    form = stranger.get("/ui/sign-in")
    stranger.post("/ui/sign-in", form.csrf, token="")
    stranger.post("/ui/sign-in", form.csrf, token="p1")
    stranger.post("/ui/sign-out", stranger.get(STACKS).csrf)
    lines = [record.fields for record in caplog.records]  # type: ignore[attr-defined]
    told = [(line["operation"], line["status"], line["user"], line["project"]) for line in lines]
    assert told == [
        ("pages:sign_in", 403, "", ""),
        ("pages:sign_in", 303, "ann", "p1"),
        ("pages:sign_out", 303, "ann", "p1"),
    ]


def test_another_server_of_the_same_database_knows_the_session_and_its_end(site: Site) -> None:
    browser, beside = site.open(), site.serve_beside()
    beside.cookie = browser.cookie
    page = beside.get(STACKS)
    assert page.status == 200
    assert page.csrf == browser.get(STACKS).csrf
    beside.post("/ui/sign-out", page.csrf)
    assert browser.get(STACKS).location.startswith("/ui/sign-in")


def test_of_too_many_sessions_the_oldest_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST", 2)
    opened = [site.open() for _ in range(3)]
    assert [browser.get(STACKS).status for browser in opened] == [303, 200, 200]


def test_no_row_shows_the_token_of_a_session(site: Site) -> None:
    key = site.open("p1").cookie.partition("=")[2].partition(".")[0]
    [(body,)] = site.service.reader._ask("page_state", key, "session", "", 0.0)
    assert body.startswith("sealed:")


def test_a_database_that_does_not_answer_gives_a_page(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = site.open()

    def refuse(*_: object) -> None:
        raise StoreError("The database is away.")

    monkeypatch.setattr(Reader, "find_page_state", refuse)
    shown = browser.get(STACKS)
    assert (shown.status, "The server is busy" in shown.text) == (503, True)


def test_a_session_ends_after_eight_hours(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LENGTH", 0)
    assert site.open().get(STACKS).status == 303


class EndingIdentity(TestIdentity):
    """Tokens that end."""

    __test__ = False
    ended = False

    def authenticate(self, headers: Any) -> Caller | None:
        return None if self.ended else super().authenticate(headers)


def test_a_session_ends_with_its_token(site: Site) -> None:
    identity = EndingIdentity()
    browser = site.serve(identity).sign_in("p1")
    assert browser.get(STACKS).status == 200
    identity.ended = True
    assert browser.get(STACKS).status == 303
    identity.ended = False
    assert browser.get(STACKS).status == 303, "it began again"


class PasswordIdentity(TestIdentity):
    """Names and passwords that are alike give tokens."""

    __test__ = False

    def issue_token(self, user: str, password: str, project: str, domain: str) -> str | None:
        return project if user == password else None


def test_a_name_and_a_password_begin_a_session(site: Site) -> None:
    browser = site.serve(PasswordIdentity())
    form = browser.get("/ui/sign-in")
    assert 'type="password"' in form.html
    assert 'name="user"' in form.html
    wrong = browser.post("/ui/sign-in", form.csrf, user="ann", password="eve", project="p1")
    assert (wrong.status, "eve" in wrong.html) == (403, False)
    assert browser.post("/ui/sign-in", form.csrf).status == 400
    done = browser.post("/ui/sign-in", form.csrf, user="ann", password="ann", project="p1")
    assert done.status == 303
    assert browser.get(STACKS).status == 200


def test_the_login_of_the_service_begins_a_session(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    path.write_text(f'[[token]]\nhash = "{hash_token("good")}"\nuser = "ann"\nproject = "p1"\n')
    path.chmod(0o600)
    app = site.api.app
    browser = site.serve(LocalIdentity(path, app.clock, [b"k" * 32], app.ids))
    form = browser.get("/ui/sign-in")
    login = {"user": "ann", "password": "good", "project": "p1", "domain": ""}
    for wrong in ({"user": "eve"}, {"password": "bad"}, {"project": "p2"}, {"domain": "other"}):
        assert browser.post("/ui/sign-in", form.csrf, **{**login, **wrong}).status == 403
    assert browser.post("/ui/sign-in", form.csrf, **login).status == 303
    assert browser.get(STACKS).status == 200
    path.write_text("")
    assert browser.get(STACKS).status == 303


def test_without_passwords_the_form_asks_for_a_token_only(stranger: Browser) -> None:
    assert 'name="user"' not in stranger.get("/ui/sign-in").html


@pytest.mark.parametrize("change", ["", "x", "zonda_session=", "zonda_session=a.b", "other"])
def test_a_forged_cookie_is_no_session(site: Site, change: str) -> None:
    browser = site.open()
    key, _, _ = browser.cookie.rpartition(".")
    browser.cookie = change if "=" in change else f"{key}.{change}"
    assert browser.get(STACKS).status == 303


def test_the_token_of_an_api_client_is_no_session(site: Site, stranger: Browser) -> None:
    assert stranger.get(STACKS, {"x-auth-token": "p1"}).status == 303


def test_in_mode_none_nobody_signs_in(site: Site) -> None:
    browser = site.open_without_identity()
    assert browser.get("/ui/").location == "/ui/p1/stacks"
    shown = browser.get(STACKS)
    assert shown.status == 200
    assert "Sign out" not in shown.text
    assert browser.get("/ui/sign-in").location == "/ui/"


# -- forms of other sites ------------------------------------------------------------------------

FOREIGN = [
    {},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": BASE + "5"},
    {"origin": BASE, "sec-fetch-site": "cross-site"},
    {"origin": BASE, "sec-fetch-site": "same-site"},
    {"sec-fetch-site": "none"},
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", ["/ui/sign-in", "/ui/sign-out"])
def test_a_form_of_another_site_is_refused(site: Site, headers: dict[str, str], path: str) -> None:
    browser = site.open()
    done = browser.post(path, browser.get(STACKS).csrf, headers=headers, token="p2")
    assert done.status == 403
    assert browser.get(STACKS).status == 200, "the session goes on"


@pytest.mark.parametrize("token", ["", "x", "é"])
def test_a_form_without_the_token_of_its_session_is_refused(site: Site, token: str) -> None:
    browser = site.open()
    assert browser.post("/ui/sign-out", token).status == 403
    assert browser.post("/ui/sign-out", site.open().get(STACKS).csrf).status == 403


def test_in_mode_none_forms_have_a_token_too(site: Site) -> None:
    browser = site.open_without_identity()
    assert browser.post("/ui/sign-in", "x", token="p1").status == 403


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\nx"),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\nx\r\n--b--"),
        ("multipart/form-data; boundary=b", b'--b\r\nX: y; name="a"\r\n\r\n\xff\r\n--b--'),
        ("application/x-www-form-urlencoded", b"a=\xff"),
        ("application/x-www-form-urlencoded", b"a=%ff"),
        ("application/x-www-form-urlencoded", b"&".join([b"a=1"] * 300)),
    ],
)
def test_a_form_that_cannot_be_read_is_a_bad_request(site: Site, kind: str, body: bytes) -> None:
    done = site.open().send("POST", "/ui/sign-out", body, {**ORIGIN, "content-type": kind}, {})
    assert done.status == 400
    assert "<h1>This does not work</h1>" in done.html


# -- headers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/ui/sign-in", STACKS, "/ui/p1/nothing", "/ui/static/zonda.css", "/ui/p2/stacks"]
)
def test_every_answer_has_the_headers_that_keep_it_safe(site: Site, path: str) -> None:
    headers = site.open().get(path).headers
    assert headers["Content-Security-Policy"] == CONTENT_POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert ("no-store" in headers["Cache-Control"]) is not path.endswith(".css")


def test_no_page_has_scripts_or_styles_of_its_own(site: Site) -> None:
    site.api.create("plain")
    for path in ("/ui/sign-in", STACKS, f"{STACKS}/plain", "/ui/p1/nothing"):
        shown = site.open().get(path).html
        assert "<style" not in shown
        assert " style=" not in shown
        assert " onclick" not in shown
        assert shown.count("<script") == shown.count('<script type="module"') <= 1


def test_the_start_of_the_server_leads_browsers_to_the_pages(stranger: Browser) -> None:
    browser = {"accept": "text/html,application/xhtml+xml"}
    assert stranger.get("/", browser).location == "/ui/"
    assert stranger.get("/").status == 300, "clients get the versions"
