"""Callbacks that need a signature: the scheme, the listener, the runner."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import responses
from tests.workflows.conftest import KEY, NOW, StillClock

from zonda.hooks.errors import UsageError
from zonda.hooks.runners import Running, Started, Succeeded
from zonda.workflows.http_contract import callback_signature
from zonda.workflows.http_contract.callback_signature import HEADER
from zonda.workflows.http_contract.callback_store import Callbacks, CallbackStatus
from zonda.workflows.http_runner.runner import HttpRunner
from zonda.workflows.service import server

BASE = "http://127.0.0.1:8155"
DONE = {"state": "succeeded", "output": {"a": 1}}
BODY = json.dumps(DONE).encode()
SECRET = b"shared s3cret"
OPAQUE = "abc.de"
SOON = 4_000_000_000  # the service has the machine's clock


def chance() -> bytes:
    return b"x" * 32


# -- the scheme -----------------------------------------------------------------------------------


def test_what_is_signed_is_time_address_and_body() -> None:
    code = hmac.new(SECRET, b"1790000000.abc.de." + BODY, hashlib.sha256).hexdigest()
    assert callback_signature.sign([SECRET], NOW, OPAQUE, BODY) == f"t=1790000000,v1={code}"


@pytest.mark.parametrize(
    ("change", "now", "keys", "fault"),
    [
        pytest.param(lambda value: value, NOW, [SECRET], None, id="good"),
        pytest.param(lambda value: value, NOW + 299, [b"new", SECRET], None, id="while-changing"),
        pytest.param(lambda value: f"{value},v1={'0' * 64}", NOW, [SECRET], None, id="two"),
        pytest.param(lambda value: value.replace(",", " , "), NOW, [SECRET], None, id="blanks"),
        pytest.param(lambda value: value, NOW + 301, [SECRET], "too old", id="old"),
        pytest.param(lambda value: value, NOW - 301, [SECRET], "too new", id="of-the-future"),
        pytest.param(lambda value: value, NOW, [b"other"], "none of the keys", id="other-key"),
        pytest.param(lambda value: value, NOW, [], "none of the keys", id="no-key"),
        pytest.param(
            lambda value: value.replace("t=179", "t=178"),
            1_780_000_000,
            [SECRET],
            "none",
            id="time",
        ),
        pytest.param(lambda value: "", NOW, [SECRET], "not signed", id="none"),
        pytest.param(lambda value: value.upper(), NOW, [SECRET], "form", id="upper-case"),
        pytest.param(lambda value: value.partition(",")[0], NOW, [SECRET], "form", id="no-code"),
        pytest.param(lambda value: value.partition(",")[2], NOW, [SECRET], "form", id="no-time"),
        pytest.param(lambda value: "t=١٢٣,v1=" + "0" * 64, NOW, [SECRET], "form", id="odd-digits"),
        pytest.param(lambda value: value + "é", NOW, [SECRET], "form", id="not-ascii"),
    ],
)
def test_what_a_signature_says(
    change: Callable[[str], str], now: float, keys: list[bytes], fault: str | None
) -> None:
    given = change(callback_signature.sign([SECRET], NOW, OPAQUE, BODY))
    found = callback_signature.verify(keys, given, now, OPAQUE, BODY)
    assert (found is None) if fault is None else (fault in str(found))


def test_another_body_does_not_fit() -> None:
    given = callback_signature.sign([SECRET], NOW, OPAQUE, BODY)
    assert callback_signature.verify([SECRET], given, NOW, OPAQUE, BODY + b" ") is not None


def test_another_address_does_not_fit() -> None:
    given = callback_signature.sign([SECRET], NOW, OPAQUE, BODY)
    fault = callback_signature.verify([SECRET], given, NOW, "abc.df", BODY)
    assert fault == "the signature fits none of the keys"


# -- the addresses --------------------------------------------------------------------------------


def test_an_address_says_whose_signature_it_wants(tmp_path: Path) -> None:
    plain, signed = Callbacks(tmp_path), Callbacks(tmp_path, "a; section.é")
    listener = Callbacks(tmp_path)
    addresses = [each.address(KEY, SOON, chance) for each in (plain, signed)]
    assert [listener.find_signer(each) for each in addresses] == ["", "a; section.é"]
    assert listener.find_signer("A" + addresses[1][1:]) is None
    assert listener.tell(addresses[1], DONE, NOW) is CallbackStatus.STORED
    assert signed.read_answer(KEY, SOON) == DONE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "flows", id="a-key-is-added"),
        pytest.param("flows", "", id="the-key-is-taken-out"),
        pytest.param("flows", "renamed", id="the-section-is-renamed"),
    ],
)
def test_what_was_told_is_found_whatever_signs_now(tmp_path: Path, before: str, after: str) -> None:
    told = Callbacks(tmp_path, before).address(KEY, SOON, chance)
    listener, now = Callbacks(tmp_path), Callbacks(tmp_path, after)
    assert listener.tell(told, DONE, NOW) is CallbackStatus.STORED
    assert now.read_answer(KEY, SOON) == DONE
    assert listener.tell(now.address(KEY, SOON, chance), DONE, NOW) is CallbackStatus.REPEATED
    other = Callbacks(tmp_path, before).address("other", SOON, chance)
    now.end("other", SOON, NOW)
    assert listener.tell(other, DONE, NOW) is CallbackStatus.OVER


# -- the listener ---------------------------------------------------------------------------------


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "flows.yaml").write_text("workflows: {hello: {command: echo}}")
    with server.start(
        tmp_path / "flows.yaml",
        state_dir=tmp_path,
        token="t",
        callback_keys={"flows": [SECRET.decode(), "new"]},
    ) as handle:
        yield f"{handle.url}/v1/callbacks"


def address(folder: Path, signer: str, key: str = KEY) -> str:
    return Callbacks(folder / "callbacks", signer).address(key, SOON, chance)


def tell(url: str, folder: Path, signer: str, signature: str | None, body: bytes = BODY) -> Any:
    opaque = address(folder, signer)
    headers = {} if signature is None else {HEADER: signature}
    return requests.put(f"{url}/{opaque}", data=body, headers=headers, timeout=10)


def test_a_signed_callback_is_taken(listening: str, tmp_path: Path) -> None:
    opaque = address(tmp_path, "flows")
    signature = callback_signature.sign([b"new"], time.time(), opaque, BODY)
    assert tell(listening, tmp_path, "flows", signature).status_code == 200
    assert Callbacks(tmp_path / "callbacks", "flows").read_answer(KEY, SOON) == DONE


@pytest.mark.parametrize(
    ("signer", "signature", "body", "status", "said"),
    [
        pytest.param("flows", None, BODY, 401, "not signed", id="unsigned"),
        pytest.param("flows", "wrong", BODY, 401, "none of the keys", id="another-key"),
        pytest.param("flows", "old", BODY, 401, "too old", id="replayed"),
        pytest.param("flows", "other", BODY, 401, "none of the keys", id="of-another-run"),
        pytest.param("flows", None, b"{", 401, "not signed", id="before-it-is-read"),
        pytest.param("later", "right", BODY, 503, "restart", id="unknown-section"),
    ],
)
def test_what_is_not_signed_as_its_address_wants_is_not_stored(
    listening: str,
    tmp_path: Path,
    signer: str,
    signature: str | None,
    body: bytes,
    status: int,
    said: str,
) -> None:
    opaque, other = address(tmp_path, signer), address(tmp_path, signer, "of another run")
    value = {
        "wrong": callback_signature.sign([b"else"], time.time(), opaque, body),
        "old": callback_signature.sign([SECRET], time.time() - 400, opaque, body),
        "other": callback_signature.sign([SECRET], time.time(), other, body),
        "right": callback_signature.sign([SECRET], time.time(), opaque, body),
    }.get(signature or "")
    answer = tell(listening, tmp_path, signer, value, body)
    assert answer.status_code == status
    assert said in answer.json()["reason"]
    assert Callbacks(tmp_path / "callbacks", signer).read_answer(KEY, SOON) is None


def test_addresses_that_want_none_go_on_without(listening: str, tmp_path: Path) -> None:
    assert tell(listening, tmp_path, "", None).status_code == 200


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([], r"callback_key of \[runners\.flows\] holds no key"),
        ([""], r"callback_key of \[runners\.flows\] cannot be read: it is empty"),
        (["good", "whsec_"], r"callback_key of \[runners\.flows\] cannot be read: it is empty"),
        (["whsec_!"], r"callback_key of \[runners\.flows\] cannot be read: what follows"),
    ],
)
def test_no_service_starts_with_an_empty_key(tmp_path: Path, keys: list[str], said: str) -> None:
    (tmp_path / "flows.yaml").write_text("workflows: {}")
    with pytest.raises(UsageError, match=said):
        server.start(tmp_path / "flows.yaml", state_dir=tmp_path, callback_keys={"flows": keys})


# -- the runner -----------------------------------------------------------------------------------


@pytest.fixture
def make_signed(
    make_runner: Callable[..., HttpRunner], tmp_path: Path
) -> Callable[..., HttpRunner]:
    place = {"folder": str(tmp_path / "callbacks"), "url": BASE, "section": "flows"}

    def make(**more: Any) -> HttpRunner:
        given = {"endpoint": "https://flows.example", "callback": True, "service": place, **more}
        return make_runner(**given)

    return make


def test_the_runner_hears_what_was_told_with_a_signature(
    make_signed: Callable[..., HttpRunner], request_for: Any, tmp_path: Path, clock: StillClock
) -> None:
    runner = make_signed(callback_key="shared s3cret")
    with responses.RequestsMock() as http:
        http.post("https://flows.example/hook", status=202, headers={"Location": "/runs/1"})
        started = runner.start(request_for())
        url = json.loads(http.calls[0].request.body)["callback"]["url"]
    assert isinstance(started, Started)
    listener = Callbacks(tmp_path / "callbacks")
    opaque = url.removeprefix(f"{BASE}/v1/callbacks/")
    assert listener.find_signer(opaque) == "flows"
    assert isinstance(runner.poll(started.token), Running)
    assert listener.tell(opaque, DONE, clock.seconds) is CallbackStatus.STORED
    later = make_signed(callback_key=["new", "shared s3cret"])  # keys are changed meanwhile
    assert later.poll(started.token) == Succeeded({"a": 1}, None)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param("whsec_!", "callback_key", id="no-base64"),
        pytest.param(5, "callback_key", id="number"),
        pytest.param("", "callback_key must not be empty", id="empty"),
        pytest.param([], "callback_key must not be empty", id="none"),
        pytest.param([""], "callback_key must not be empty", id="one"),
        pytest.param("  ", "must not be empty", id="blanks"),
        pytest.param("whsec_", "must not be empty", id="nothing-encoded"),
        pytest.param(["good", " whsec_ "], "must not be empty", id="beside-a-good-one"),
    ],
)
def test_wrong_keys(make_signed: Callable[..., HttpRunner], key: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_signed(callback_key=key)


def test_a_key_is_masked(make_signed: Callable[..., HttpRunner], request_for: Any) -> None:
    runner = make_signed(callback_key=["shared s3cret"])
    with responses.RequestsMock() as http:
        http.post("https://flows.example/hook", status=400, body="no: shared s3cret")
        assert "s3cret" not in str(runner.start(request_for()))
