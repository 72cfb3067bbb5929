"""Keystone: what is asked, what is remembered, and what happens when it is down or lies."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from zonda.core.api.identity.callers import IdentityUnavailable
from zonda.core.api.identity.keystone import HEALTH_KEPT, KEPT, REFUSED, Account, Keystone
from zonda.hooks.http import Reply, TransportError
from zonda.hooks.testing import FakeClock

ACCOUNT = Account("http://keystone.example/v3", "heat", "heat-password")
TOKEN = {
    "token": {
        "user": {"id": "u1", "name": "ann"},
        "project": {"id": "p1", "name": "one"},
        "roles": [{"name": "member"}, {"name": "reader"}],
        "expires_at": "2999-01-01T00:00:00.000000Z",
    }
}
PATIENCE = 60.0


class FakeTransport:
    """Keystone as far as it is asked. ``own``: its tokens for the service."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logins = self.looks = 0
        self.answers: dict[str, Any] = {"good": TOKEN}
        self.revoked: set[str] = set()
        self.failure: Exception | None = None
        self.status = 0
        self.turn = threading.Event()
        self.turn.set()
        self.waiting = threading.Semaphore(0)
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Reply:
        if self.failure is not None:
            raise self.failure
        if method == "POST":
            self.logins += 1
            assert json.loads(body or b"")["auth"]["identity"]["password"]["user"]["name"] == "heat"
            return Reply(201, {"X-Subject-Token": f"own{self.logins}"}, b"{}")
        if url == ACCOUNT.auth_url:
            self.looks += 1
            return Reply(self.status or 200, {}, b'{"version": {}}')
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
        self.waiting.release()
        assert self.turn.wait(PATIENCE)
        with self.lock:
            self.at_once -= 1
        assert url == "http://keystone.example/v3/auth/tokens?nocatalog"
        if headers["X-Auth-Token"] in self.revoked:
            return Reply(401, {}, b"{}")
        token = headers["X-Subject-Token"]
        self.asked.append(token)
        if self.status:
            return Reply(self.status, {}, b"{}")
        known = self.answers.get(token)
        if known is None:
            return Reply(404, {}, b"{}")
        return Reply(200, {}, known if isinstance(known, bytes) else json.dumps(known).encode())


class Asked:
    """Keystone with its transport and clock."""

    def __init__(self) -> None:
        self.clock, self.transport = FakeClock(), FakeTransport()
        self.keystone = Keystone(ACCOUNT, self.clock, self.transport)  # type: ignore[arg-type]

    def who(self, token: str) -> Any:
        return self.keystone.authenticate({"x-auth-token": token})


@pytest.fixture
def asked() -> Asked:
    return Asked()


def test_a_caller_is_what_keystone_says(asked: Asked) -> None:
    found = asked.who("good")
    assert (found.user_id, found.user, found.project_id, found.project) == (
        "u1",
        "ann",
        "p1",
        "one",
    )
    assert found.roles == {"member", "reader"}
    assert found.is_bound
    assert asked.keystone.challenge == 'Keystone uri="http://keystone.example/v3"'


def test_an_answer_is_kept_for_a_while(asked: Asked) -> None:
    for _ in range(3):
        assert asked.who("good") is not None
        assert asked.who("bad") is None
    assert asked.transport.asked == ["good", "bad"]
    asked.clock.advance(REFUSED + 1)
    asked.who("good")
    asked.who("bad")
    assert asked.transport.asked == ["good", "bad", "bad"]
    asked.clock.advance(KEPT)
    asked.who("good")
    assert asked.transport.asked[-1] == "good"


def test_who_is_known_goes_on_while_keystone_is_down(asked: Asked) -> None:
    asked.who("good")
    asked.transport.failure = TransportError("it is down", may_have_arrived=False)
    assert asked.who("good") is not None
    with pytest.raises(IdentityUnavailable, match="it is down"):
        asked.who("other")
    asked.clock.advance(KEPT + 1)
    with pytest.raises(IdentityUnavailable):
        asked.who("good")


def test_the_token_of_the_service_is_renewed(asked: Asked) -> None:
    asked.who("good")
    asked.transport.revoked.add("own1")
    asked.transport.answers["more"] = TOKEN
    assert asked.who("more") is not None
    assert asked.transport.logins == 2


def test_a_service_that_is_refused_for_good_says_so(asked: Asked) -> None:
    asked.transport.revoked |= {"own1", "own2", "own3"}
    with pytest.raises(IdentityUnavailable, match="401"):
        asked.who("good")
    assert asked.transport.logins == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"no json",
        b"[]",
        b"{}",
        {"token": None},
        {"token": {**TOKEN["token"], "user": None}},
        {"token": {**TOKEN["token"], "expires_at": "soon"}},
        {"token": {**TOKEN["token"], "roles": [1]}},
    ],
)
def test_an_answer_that_is_no_token_makes_nobody_known(asked: Asked, answer: Any) -> None:
    asked.transport.answers["good"] = answer
    with pytest.raises(IdentityUnavailable):
        asked.who("good")


@pytest.mark.parametrize("status", [200 + 3, 301, 400, 403, 500, 503])
def test_any_other_status_makes_nobody_known(asked: Asked, status: int) -> None:
    asked.transport.status = status
    with pytest.raises(IdentityUnavailable, match=str(status)):
        asked.who("good")


@pytest.mark.parametrize(
    "change", [{"project": None}, {"expires_at": "1970-01-01T00:00:00.000000Z"}]
)
def test_a_token_without_a_project_or_that_is_over_is_refused(asked: Asked, change: Any) -> None:
    asked.transport.answers["good"] = {"token": {**TOKEN["token"], **change}}
    assert asked.who("good") is None


@pytest.mark.parametrize("token", ["", "a b", "a\r\nb", "x" * 9000, "\u20ac", "a\x00"])
def test_what_can_be_no_token_is_not_asked_about(asked: Asked, token: str) -> None:
    assert asked.who(token) is None
    assert asked.transport.asked == []


def test_many_requests_with_one_token_ask_once(asked: Asked) -> None:
    asked.transport.turn.clear()
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(asked.who("good"))) for _ in range(20)]
    for each in threads:
        each.start()
    asked.transport.turn.set()
    for each in threads:
        each.join(PATIENCE)
    assert len(found) == 20
    assert asked.transport.asked == ["good"]


def test_the_password_of_the_service_is_in_no_text() -> None:
    assert "heat-password" not in repr(ACCOUNT)


def test_eight_questions_are_asked_at_a_time(asked: Asked) -> None:
    asked.transport.turn.clear()
    asked.transport.answers = {f"t{number}": TOKEN for number in range(30)}
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda token=token: found.append(asked.who(token)))
        for token in asked.transport.answers
    ]
    for each in threads:
        each.start()
    for _ in range(8):
        assert asked.transport.waiting.acquire(timeout=PATIENCE)
    asked.transport.turn.set()
    for each in threads:
        each.join(PATIENCE)
    assert len(found) == 30
    assert asked.transport.most_at_once == 8


class SignInTransport(FakeTransport):
    """Keystone with a user of its own."""

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Reply:
        said = json.loads(body or b"{}").get("auth")
        if method != "POST" or said["identity"]["password"]["user"]["name"] == "heat":
            return super().send(method, url, headers, body)
        self.asked.append(json.dumps(said))
        password = said["identity"]["password"]["user"]["password"]
        status = {"right": 201, "empty": 201, "lost": 404, "down": 502}.get(password, 401)
        return Reply(status, {"X-Subject-Token": "good"} if password == "right" else {}, b"{}")


def test_a_user_gets_a_token_for_a_project_by_its_password() -> None:
    transport = SignInTransport()
    keystone = Keystone(ACCOUNT, FakeClock(), transport)  # type: ignore[arg-type]
    assert keystone.issue_token("ann", "right", "one", "") == "good"
    assert keystone.issue_token("ann", "wrong", "one", "d1") is None
    for trouble in ("empty", "lost", "down"):
        with pytest.raises(IdentityUnavailable):
            keystone.issue_token("ann", trouble, "one", "")
    first, second, *_ = map(json.loads, transport.asked)
    assert first["scope"]["project"] == {"name": "one", "domain": {"id": "default"}}
    assert second["identity"]["password"]["user"]["domain"] == {"id": "d1"}


def test_readiness_looks_now_and_then_whether_keystone_answers(asked: Asked) -> None:
    assert [asked.keystone.find_trouble() for _ in range(3)] == ["", "", ""]
    assert asked.transport.looks == 1
    asked.transport.failure = TransportError("no route to 10.1.2.3")
    assert asked.keystone.find_trouble() == ""
    asked.clock.advance(HEALTH_KEPT)
    assert asked.keystone.find_trouble() == "Keystone cannot be reached."
    asked.transport.failure, asked.transport.status = None, 503
    asked.clock.advance(HEALTH_KEPT)
    assert asked.keystone.find_trouble() == "Keystone is out of order."
    asked.transport.status = 0
    asked.clock.advance(HEALTH_KEPT)
    assert asked.keystone.find_trouble() == ""
