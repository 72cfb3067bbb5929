"""Signatures by RFC 9421, verified by the letter of the RFC."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Any

import pytest
import responses
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from http_message_signatures import ContentDigest

from zonda.hooks.errors import UsageError
from zonda.hooks.runners import StartRequest
from zonda.workflows.client import message_signature, webhook_signature
from zonda.workflows.http_runner.runner import HttpRunner

HOOK = "https://flows.example/hook"
KEY = "6f0cb1aa-0000-5000-8000-000000000001"
NOW = 1_790_000_000
TOKEN = {"url": "https://flows.example/runs/7?x=1", "key": "k", "at": NOW}

MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]
Verify = Callable[[bytes, bytes], bool]


def pem(key: Any, passphrase: bytes | None = None) -> str:
    encryption: Any = serialization.NoEncryption()
    if passphrase:
        encryption = serialization.BestAvailableEncryption(passphrase)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    ).decode()


PRIVATE = Ed25519PrivateKey.generate()
OTHER = Ed25519PrivateKey.generate()
SHARED = b"a shared secret of some length"


def by_public(key: Ed25519PublicKey) -> Verify:
    def verify(signature: bytes, content: bytes) -> bool:
        try:
            key.verify(signature, content)
        except InvalidSignature:
            return False
        return True

    return verify


def by_secret(secret: bytes) -> Verify:
    return lambda signature, content: hmac.compare_digest(
        signature, hmac.new(secret, content, hashlib.sha256).digest()
    )


KNOWN: dict[tuple[str, str], Verify] = {
    ("ed25519", "public"): by_public(PRIVATE.public_key()),
    ("ed25519", "next"): by_public(OTHER.public_key()),
    ("hmac-sha256", "shared"): by_secret(SHARED),
}


def verified(
    method: str, url: str, headers: Any, body: bytes, now: float = NOW
) -> dict[str, list[str]]:
    """The components that each good signature of a request covers, by its key's id (RFC 9421, 3.2).

    ``url``: as the receiver puts it together from what it got.
    """
    if "Content-Digest" in headers:
        wanted = base64.b64encode(hashlib.sha256(body).digest()).decode()
        assert headers["Content-Digest"] == f"sha-256=:{wanted}:"
    found = {}
    signatures = dict(re.findall(r"(\w+)=:([A-Za-z0-9+/=]+):", headers["Signature"]))
    members = re.findall(
        r'(\w+)=(\((?:"[^"]*" ?)*\)(?:;\w+=(?:"[^"]*"|\d+))*)', headers["Signature-Input"]
    )
    assert [label for label, _ in members] == list(signatures)
    for label, parameters in members:
        components = re.findall(r'"([^"]*)"', parameters.partition(")")[0])
        said = dict(re.findall(r';(\w+)="?([^";]*)"?', parameters.partition(")")[2]))
        assert int(said["created"]) <= now <= int(said["expires"])
        lines = []
        for name in components:
            derived = {"@method": method, "@target-uri": url}
            value = derived[name] if name in derived else headers[name].strip()
            lines.append(f'"{name}": {value}')
        lines.append(f'"@signature-params": {parameters}')
        verify = KNOWN[said["alg"], said["keyid"]]
        if verify(base64.b64decode(signatures[label]), "\n".join(lines).encode()):
            found[said["keyid"]] = components
    return found


def keys(*names: str) -> list[dict[str, str]]:
    given = {"public": pem(PRIVATE), "next": pem(OTHER), "shared": SHARED.decode()}
    return [{"id": name, "key": given[name]} for name in names]


@pytest.fixture
def http() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


FULL = ["@method", "@target-uri", "content-digest", "idempotency-key"]


@pytest.mark.parametrize(
    "names", [["public"], ["shared"], ["public", "next"], ["public", "shared"]]
)
def test_a_start_is_signed_by_every_key(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, names: list[str]
) -> None:
    http.post(HOOK, json={})
    make_runner(
        endpoint="https://flows.example", signature="rfc9421", signing_keys=keys(*names)
    ).start(request_for())
    request = http.calls[0].request
    assert verified("POST", HOOK, request.headers, request.body) == dict.fromkeys(names, FULL)
    assert request.headers["Idempotency-Key"] == KEY
    assert "webhook-signature" not in request.headers


@pytest.mark.parametrize(
    ("method", "url", "change"),
    [
        pytest.param("PUT", HOOK, {}, id="method"),
        pytest.param("POST", HOOK + "?x", {}, id="url"),
        pytest.param("POST", HOOK, {"Idempotency-Key": "another"}, id="key"),
        pytest.param("POST", HOOK, {"Content-Digest": None}, id="content"),
    ],
)
def test_what_was_changed_on_the_way_does_not_verify(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    method: str,
    url: str,
    change: dict[str, Any],
) -> None:
    http.post(HOOK, json={})
    make_runner(
        endpoint="https://flows.example", signature="rfc9421", signing_keys=keys("public")
    ).start(request_for())
    request = http.calls[0].request
    body = b"{}" if change else request.body
    headers = {**request.headers, **change}
    if "Content-Digest" in change:
        headers["Content-Digest"] = ContentDigest.create(body)
    else:
        body = request.body
    lowered = requests_headers(headers)
    assert verified(method, url, lowered, body) == {}


def requests_headers(given: Any) -> Any:
    from requests.structures import CaseInsensitiveDict

    return CaseInsensitiveDict(given)


def test_polls_and_cancels_are_signed(http: Any, make_runner: MakeRunner) -> None:
    http.get(TOKEN["url"], status=202)
    http.delete(TOKEN["url"], status=204)
    runner = make_runner(
        endpoint="https://flows.example", signature="rfc9421", signing_key=keys("public")[0]
    )
    runner.poll(TOKEN)
    runner.cancel({**TOKEN, "cancel": TOKEN["url"]}, "")
    for call, method in zip(http.calls, ("GET", "DELETE"), strict=True):
        found = verified(method, str(TOKEN["url"]), call.request.headers, b"")
        assert found == {"public": ["@method", "@target-uri"]}


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        pytest.param("HTTPS://Flows.Example:443/a b?q=ü#top", "/a%20b?q=%C3%BC", id="quoted"),
        pytest.param("https://flows.example/x/../a/./b", "/a/b", id="dots"),
        pytest.param("https://u:p@flows.example", "/", id="userinfo"),
    ],
)
def test_the_url_is_signed_as_it_arrives(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, given: str, seen: str
) -> None:
    http.post(re.compile("https://.*"), json={})
    make_runner(
        endpoint="https://flows.example", signature="rfc9421", signing_keys=keys("public")
    ).start(request_for(given))
    request = http.calls[0].request
    assert request.path_url == seen
    url = f"https://flows.example{seen}"
    assert "public" in verified("POST", url, request.headers, request.body)


def test_the_zone_of_an_address_is_not_signed() -> None:
    """A zone means something on the sending machine only (RFC 6874, 4)."""
    url = "http://[fe80::1%25eth0]:8080/hook"
    headers = message_signature.build_headers({"shared": SHARED}, "POST", url, {}, NOW, None)
    assert "shared" in verified(
        "POST", "http://[fe80::1]:8080/hook", requests_headers(headers), b""
    )


def test_every_send_is_signed_anew(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, clock: Any
) -> None:
    http.post(HOOK, status=503)
    runner = make_runner(
        endpoint="https://flows.example", signature="rfc9421", signing_keys=keys("public")
    )
    runner.start(request_for())
    clock.seconds += 1000
    runner.start(request_for(attempt=2))
    first, second = (call.request for call in http.calls)
    assert first.body == second.body
    assert verified("POST", HOOK, second.headers, second.body, clock.seconds)


@pytest.mark.parametrize(
    "settings", [{"signature": "rfc9421", "signing_keys": keys("public")}, {"signing_key": "k"}]
)
def test_nothing_is_signed_for_a_stranger(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, settings: dict[str, Any]
) -> None:
    http.post(HOOK, json={})
    runner = make_runner(endpoint="https://other.example", **settings)
    runner.start(request_for())
    assert not {"signature", "webhook-signature"} & {
        name.lower() for name in http.calls[0].request.headers
    }


def test_keys_are_for_an_endpoint(make_runner: MakeRunner) -> None:
    with pytest.raises(UsageError, match="credentials and no endpoint"):
        make_runner(signing_key="k")


def test_an_endpoint_may_change_its_webhook_key_one_side_at_a_time(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    http.post(HOOK, json={})
    make_runner(
        endpoint="https://flows.example", signing_keys=[{"id": "old", "key": "one"}, "two"]
    ).start(request_for())
    request = http.calls[0].request
    for accepted in ([b"one"], [b"two"], [b"two", b"three"]):
        assert webhook_signature.verify(accepted, request.headers, NOW, request.body) is None
    assert webhook_signature.verify([b"three"], request.headers, NOW, request.body) is not None


@pytest.mark.parametrize(
    ("given", "part"),
    [
        pytest.param({"signing_keys": []}, "must not be empty", id="none"),
        pytest.param({"signing_key": "text"}, "has no id", id="no-id"),
        pytest.param({"signing_keys": [{"id": "a"}]}, "must hold texts", id="no-key"),
        pytest.param({"signing_keys": [{"id": "a", "kee": "x"}]}, "must hold texts", id="misspelt"),
        pytest.param({"signing_keys": [*keys("shared"), *keys("shared")]}, "same id", id="twice"),
        pytest.param({"signing_keys": [{"id": 'a"', "key": "x"}]}, "plain ASCII", id="quote"),
        pytest.param({"signing_keys": [{"id": "a\nb", "key": "x"}]}, "plain ASCII", id="lines"),
        pytest.param(
            {"signing_keys": [{"id": "a", "key": "whsec_!"}]}, "not base64", id="not-base64"
        ),
        pytest.param(
            {"signing_keys": [{"id": "a", "key": "-----BEGIN PRIVATE KEY-----\nx"}]},
            "no private key in PEM",
            id="no-pem",
        ),
        pytest.param(
            {"signing_keys": [{"id": "a", "key": pem(PRIVATE, b"secret")}]},
            "without a passphrase",
            id="passphrase",
        ),
        pytest.param(
            {"signing_keys": [{"id": "a", "key": pem(generate_private_key(65537, 2048))}]},
            "not one of Ed25519",
            id="rsa",
        ),
        pytest.param({"signature": "md5"}, "must be one of webhooks, rfc9421", id="scheme"),
    ],
)
def test_wrong_settings_are_named(
    make_runner: MakeRunner, given: dict[str, Any], part: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make_runner(**{"endpoint": "https://flows.example", "signature": "rfc9421", **given})
    assert part in caught.value.message
    assert "PRIVATE" not in caught.value.message


def test_keys_are_in_no_repr(make_runner: MakeRunner) -> None:
    runner = make_runner(
        endpoint="https://flows.example", signature="rfc9421", signing_keys=keys("shared")
    )
    assert SHARED.decode() not in repr(runner._settings)
    assert runner._caller.redact(f"x {SHARED.decode()} y") == "x (hidden) y"
