"""Mode ``keystone``: OpenStack's identity service says whose a token is.

One question a token, with the service's own token; what was answered is kept under the hash of the
token for a while, so that a short failure of Keystone is not noticed by who is known.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from zonda.hooks.context import Clock
from zonda.hooks.http import ClientConfig, RequestRejected, Transport, TransportError, origin
from zonda.hooks.records import dataclass, field

from .callers import Caller, IdentityUnavailable
from .token_cache import TokenCache

#: Seconds for which an answer counts: a good one (at most until the token expires), a refusal.
KEPT = 300.0
REFUSED = 30.0
#: Questions at a time, and seconds that one may take.
_QUESTIONS = 8
_PATIENCE = 10.0
_LONGEST_TOKEN = 8192
#: The answers to a sign-in that is refused; others say that Keystone is not what it should be.
_REFUSALS = (400, 401, 403)
#: Seconds for which it counts whether Keystone answers.
HEALTH_KEPT = 10.0
_HEALTH = "health"
_DOMAIN = "default"


@dataclass(frozen=True, slots=True)
class Account:
    """The user of the service itself at Keystone."""

    auth_url: str
    username: str
    password: str = field(repr=False)
    project: str = "service"
    domain: str = _DOMAIN
    ca_bundle: str = ""

    def build_request(self) -> dict[str, Any]:
        """The request for a token of its own."""
        domain = {"id": self.domain}
        user = {"name": self.username, "password": self.password, "domain": domain}
        return {
            "auth": {
                "identity": {"methods": ["password"], "password": {"user": user}},
                "scope": {"project": {"name": self.project, "domain": domain}},
            }
        }


class Keystone:
    """The identity service. Many threads ask at once."""

    def __init__(self, account: Account, clock: Clock, transport: Transport | None = None) -> None:
        self._account = account
        self._clock = clock
        self._url = f"{account.auth_url.rstrip('/')}/auth/tokens"
        trusted = frozenset({origin(account.auth_url)})
        self._transport = transport or Transport(
            ClientConfig(
                clock, answer_timeout=_PATIENCE, ca_bundle=account.ca_bundle, trusted=trusted
            )
        )
        self._known: TokenCache[Caller] = TokenCache(clock)
        self._health: TokenCache[str] = TokenCache(clock)
        self._turns = threading.BoundedSemaphore(_QUESTIONS)
        self._own = ""
        self._own_lock = threading.Lock()

    @property
    def challenge(self) -> str:
        """The place where tokens are to be had."""
        return f'Keystone uri="{self._account.auth_url}"'

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        """The caller whose token the headers have."""
        token = _read_token(headers)
        if not token:
            return None
        key = _hash_token(token)
        with self._known.take_turn(key):
            known = self._known.find(key)
            if known is None:
                known = self._ask(token)
                self._known.put(key, *known)
            return known[0]

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Whether Keystone has told of the token lately."""
        return self._known.find(_hash_token(_read_token(headers))) is not None

    def issue_token(self, user: str, password: str, project: str, domain: str) -> str | None:
        """A token of a user for a project of a domain (its id); None where Keystone refuses."""
        login = Account(self._account.auth_url, user, password, project, domain or _DOMAIN)
        body = json.dumps(login.build_request()).encode()
        headers = {"Content-Type": "application/json"}
        with self._turns:
            status, answered, _ = self._send("POST", f"{self._url}?nocatalog", headers, body)
        if status in _REFUSALS:
            return None
        if status != 201 or "X-Subject-Token" not in answered:
            raise IdentityUnavailable(f"Keystone answers {status} to a sign-in.")
        return answered["X-Subject-Token"]

    def find_trouble(self) -> str:
        """Whether Keystone answers, looked at again after a while."""
        with self._known.take_turn(_HEALTH):
            known = self._health.find(_HEALTH)
            if known is None:
                known = self._look_whether_it_answers(), HEALTH_KEPT
                self._health.put(_HEALTH, *known)
            return known[0] or ""

    def _look_whether_it_answers(self) -> str:
        try:
            status, _, _ = self._send("GET", self._account.auth_url, {}, None)
        except IdentityUnavailable:
            return "Keystone cannot be reached."
        return "Keystone is out of order." if status >= 500 else ""

    def _ask(self, token: str) -> tuple[Caller | None, float]:
        """The caller of a token, or None, and for how many seconds that counts."""
        with self._turns:
            for _ in range(2):
                own = self._get_own_token()
                headers = {"X-Auth-Token": own, "X-Subject-Token": token}
                status, _, body = self._send("GET", f"{self._url}?nocatalog", headers, None)
                if status == 200:
                    return self._read_caller(body)
                if status == 404:
                    return None, REFUSED
                if status != 401:
                    break
                self._forget_own_token(own)
        raise IdentityUnavailable(f"Keystone answers {status} to a question about a token.")

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, Mapping[str, str], Any]:
        try:
            reply = self._transport.send(method, url, headers, body)
            return reply.status, reply.headers, json.loads(reply.body) if reply.body else {}
        except (TransportError, RequestRejected) as error:
            raise IdentityUnavailable(f"Keystone cannot be asked: {error}.") from error
        except (ValueError, RecursionError) as error:
            raise IdentityUnavailable("Keystone's answer is no JSON.") from error

    def _get_own_token(self) -> str:
        with self._own_lock:
            if not self._own:
                body = json.dumps(self._account.build_request()).encode()
                headers = {"Content-Type": "application/json"}
                status, answered, _ = self._send("POST", self._url, headers, body)
                self._own = answered.get("X-Subject-Token", "") if status == 201 else ""
                if not self._own:
                    raise IdentityUnavailable(
                        f"Keystone refuses the user of this service ({status}).",
                        hint="Look at the settings keystone_username and keystone_password.",
                    )
            return self._own

    def _forget_own_token(self, token: str) -> None:
        with self._own_lock:
            if self._own == token:
                self._own = ""

    def _read_caller(self, body: Any) -> tuple[Caller | None, float]:
        """The caller of Keystone's answer; None for a token without a project."""
        try:
            token = body["token"]
            user, project = token["user"], token.get("project")
            expires = datetime.fromisoformat(str(token["expires_at"])).timestamp()
            if project is None:
                return None, REFUSED
            roles = frozenset(str(role["name"]) for role in token.get("roles", ()))
            caller = Caller(
                str(user["id"]),
                str(user["name"]),
                str(project["id"]),
                str(project["name"]),
                roles,
                expires=expires,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise IdentityUnavailable("Keystone's answer is no token.") from error
        left = expires - self._clock.now()
        return (caller, min(KEPT, left)) if left > 0 else (None, REFUSED)


def _read_token(headers: Mapping[str, str]) -> str:
    """The token; nothing for a text that can be none."""
    token = headers.get("x-auth-token", "")
    is_token = len(token) <= _LONGEST_TOKEN and token.isascii() and token.isprintable()
    return token if is_token and " " not in token else ""


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
