"""The ASGI application: request ids, hosts, bodies, pools, as a client sees them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from zonda.core.api.http.calls import Answer
from zonda.core.api.server import application
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.hosts import Hosts, choose_hosts
from zonda.core.api.server.process.serving import check_exposure
from zonda.core.api.server.readiness import Readiness
from zonda.core.system.addresses import is_loopback
from zonda.core.template.files.attachments import FetchLimits
from zonda.hooks.errors import StoreError, UsageError

TOKEN = {"x-auth-token": "p1"}
PATIENCE = 60.0


def make_readiness(api: Any) -> Readiness:
    """The readiness of an API without a server."""
    return Readiness(api.app, api.dispatcher.interfaces[0].identity)


@pytest.fixture
def client(api: Any) -> Iterator[TestClient]:
    hosts = Hosts(frozenset({"heat.example"}))
    made = application.Application(api.dispatcher, hosts, 1000, make_readiness(api))
    with TestClient(made, base_url="http://heat.example", follow_redirects=False) as found:
        yield found
    made.close()


def test_every_answer_has_the_id_of_its_request(client: TestClient) -> None:
    ids = set()
    for path in ("/", "/v1/p1/stacks", "/v1/p1/nope", "/v1/p1/stacks/nope", "/healthcheck"):
        reply = client.get(path, headers=TOKEN)
        ids.add(reply.headers["x-openstack-request-id"])
    assert len(ids) == 5
    assert all(each.startswith("req-") and len(each) == 40 for each in ids)


@pytest.mark.parametrize("path", ["/healthcheck", "/healthz", "/readyz"])
def test_health_needs_no_token(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert (reply.status_code, reply.text) == (200, "OK")
    assert reply.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/healthcheck", "/healthz", "/readyz"])
@pytest.mark.parametrize("host", ["10.1.2.3:8004", "evil.example", ""])
def test_a_probe_may_call_the_server_by_any_name(client: TestClient, path: str, host: str) -> None:
    assert client.get("/v1/p1/stacks", headers={**TOKEN, "Host": host}).status_code == 400
    assert client.get(path, headers={"Host": host}).status_code == 200


def test_a_server_whose_engine_has_died_is_not_ready(
    api: Any, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = api.app.engine._engine
    monkeypatch.setattr(engine, "is_over", True)
    monkeypatch.setattr(engine, "failure", StoreError("The disk is full."))
    reply = client.get("/readyz")
    assert (reply.status_code, reply.text) == (503, "The engine has stopped.")
    assert client.get("/healthz").status_code == 200
    body = {"stack_name": "s", "template": {"heat_template_version": "2018-08-31"}}
    assert client.post("/v1/p1/stacks", json=body, headers=TOKEN).status_code == 503
    assert client.get("/v1/p1/stacks", headers=TOKEN).status_code == 200


def test_json_is_just_that(client: TestClient) -> None:
    reply = client.get("/v1/p1/stacks", headers=TOKEN)
    assert reply.headers["content-type"] == "application/json"
    assert reply.json() == {"stacks": []}


def test_a_number_that_no_json_has_is_a_text(api: Any, client: TestClient) -> None:
    outputs = {"outputs": {"o": {"value": float("nan")}}}
    path = api.create("odd", {"heat_template_version": "2018-08-31", **outputs})
    reply = client.get(f"/v1/p1{path}/outputs/o", headers=TOKEN)
    shown = json.loads(reply.content, parse_constant=pytest.fail)
    assert shown["output"]["output_value"] == "nan"


def test_an_empty_answer_has_no_type(client: TestClient) -> None:
    reply = client.options("/v1/p1/stacks", headers=TOKEN)
    assert (reply.status_code, reply.content) == (204, b"")
    assert reply.headers["allow"] == "GET,POST"


def test_a_redirect_leads_to_the_host_of_the_request(api: Any, client: TestClient) -> None:
    path = api.create("there", {"heat_template_version": "2018-08-31"})
    reply = client.get("/v1/p1/stacks/there", headers=TOKEN)
    assert reply.status_code == 302
    assert reply.headers["location"] == f"http://heat.example/v1/p1{path}"


@pytest.mark.parametrize("host", ["evil.example", "heat.example.evil", "", "[::1]"])
def test_a_host_that_is_not_this_one_is_refused(client: TestClient, host: str) -> None:
    reply = client.get("/v1/p1/stacks", headers={**TOKEN, "host": host})
    assert reply.status_code == 400


@pytest.mark.parametrize("host", ["heat.example:8004", "HEAT.example"])
def test_the_port_and_the_case_of_a_host_do_not_matter(client: TestClient, host: str) -> None:
    assert client.get("/v1/p1/stacks", headers={**TOKEN, "host": host}).status_code == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(client: TestClient, chunked: bool) -> None:
    body: Any = b'{"stack_name": "' + b"x" * 2000 + b'"}'
    if chunked:
        body = iter([body[:900], body[900:]])
    reply = client.post("/v1/p1/stacks", content=body, headers=TOKEN)
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "RequestLimitExceeded"


@pytest.mark.parametrize(
    ("length", "token", "status"),
    [
        (500_000, "p1", 200),
        (500_000, "", 401),
        (2 * FetchLimits().total_bytes + 1, "p1", 400),
    ],
)
def test_a_bundle_may_be_larger_than_other_bodies(
    client: TestClient, length: int, token: str, status: int
) -> None:
    path = "/zonda/v1/p1/read/templates.validate"
    template = "heat_template_version: 2018-08-31\n"
    body = {"bundle": {"template": template}, "ignore_unknown": False, "all_given": False}
    text = json.dumps(body).encode()
    reply = client.post(path, content=text.ljust(length), headers={"x-auth-token": token})
    assert reply.status_code == status
    assert reply.headers.get("connection", "") == ("" if status == 200 else "close")


def test_a_large_body_announces_its_length(client: TestClient) -> None:
    path = "/zonda/v1/p1/read/templates.validate"
    reply = client.post(path, content=iter([b" " * 900, b" " * 900]), headers=TOKEN)
    assert (reply.status_code, reply.json()["error"]["message"]) == (
        400,
        "JSON body size exceeds maximum allowed size (1000 bytes).",
    )


def test_large_headers_are_refused(client: TestClient) -> None:
    reply = client.get("/v1/p1/stacks", headers={**TOKEN, "x-large": "x" * 17000})
    assert reply.status_code == 431
    assert reply.headers["connection"] == "close"


def ask_without_body(
    api: Any, header: tuple[str, str], use: Callable[[asyncio.Task[None]], object] = bool
) -> list[Any]:
    """The messages to a client that announces a body and sends none.

    ``use``: gets the task of the request, which waits for the body.
    """
    sent: list[Any] = []

    async def ask() -> None:
        waits = asyncio.Event()

        async def receive() -> Any:
            waits.set()
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        made = application.Application(
            api.dispatcher, Hosts(frozenset({"*"})), 1000, make_readiness(api)
        )
        scope = {
            "type": "http",
            "method": "POST",
            "scheme": "http",
            "path": "/v1/p1/stacks",
            "query_string": b"",
            "headers": [(b"host", b"x"), (header[0].encode(), header[1].encode())],
        }
        task = asyncio.create_task(made(scope, receive, send))
        await waits.wait()
        use(task)
        await task

    asyncio.run(ask())
    return sent


@pytest.mark.parametrize("header", [("content-length", "10"), ("transfer-encoding", "chunked")])
def test_a_body_that_does_not_come_is_waited_for_so_long(
    api: Any, monkeypatch: pytest.MonkeyPatch, header: tuple[str, str]
) -> None:
    monkeypatch.setattr(application, "BODY_SECONDS", 0.0)
    sent = ask_without_body(api, header)
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


def test_what_still_waits_when_the_server_ends_is_answered(api: Any) -> None:
    sent = ask_without_body(api, ("content-length", "10"), lambda task: task.cancel())
    assert sent[0]["status"] == 503
    assert b"The server stops" in sent[1]["body"]


def test_an_answer_that_takes_too_long_is_not_waited_for(
    api: Any, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    answer = Dispatcher.answer

    def wait(self: Dispatcher, request: Any, target: Any) -> Answer:
        assert go_on.wait(PATIENCE)
        return answer(self, request, target)

    monkeypatch.setattr(Dispatcher, "answer", wait)
    monkeypatch.setattr(application, "ANSWER_SECONDS", 0.0)
    reply = client.post("/v1/p1/stacks", json={}, headers=TOKEN)
    go_on.set()
    assert reply.status_code == 503
    assert "too long" in reply.json()["error"]["message"]


def test_requests_that_load_templates_do_not_stand_in_an_endless_line(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, begun = threading.Event(), threading.Semaphore(0)

    def wait(self: Dispatcher, request: Any, match: Any) -> Answer:
        begun.release()
        assert go_on.wait(PATIENCE)
        return Answer(200, {})

    monkeypatch.setattr(Dispatcher, "answer", wait)
    monkeypatch.setattr(application, "_HEAVY_LINE", 0)
    made = application.Application(
        api.dispatcher, Hosts(frozenset({"*"})), 1000, make_readiness(api)
    )
    with TestClient(made, base_url="http://heat.example") as client:
        slow = [
            threading.Thread(target=lambda: client.post("/v1/p1/validate", json={"a": 1}))
            for _ in range(application.HEAVY_THREADS)
        ]
        for each in slow:
            each.start()
        for _ in slow:
            assert begun.acquire(timeout=PATIENCE)
        reply = client.post("/v1/p1/validate", json={"a": 1})
        go_on.set()
        for each in slow:
            each.join(PATIENCE)
    made.close()
    assert reply.status_code == 503
    assert reply.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("heat.example", False),
    ],
)
def test_loopback_is_told_from_other_addresses(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_hosts_are_those_of_the_settings_or_of_the_address() -> None:
    assert choose_hosts(["Heat.example"], "127.0.0.1").names == {"heat.example"}
    assert {"localhost", "127.0.0.1"} <= choose_hosts([], "127.0.0.1").names


@pytest.mark.parametrize(
    ("settings", "host", "says"),
    [
        ({}, "127.0.0.1", ""),
        ({}, "0.0.0.0", "loopback addresses only"),
        ({"allowed_hosts": "heat.example"}, "127.0.0.1", "loopback addresses only"),
        ({"identity": "tokens"}, "0.0.0.0", "plain text"),
        ({"identity": "tokens", "insecure_http": "yes"}, "0.0.0.0", ""),
        ({"identity": "tokens", "allowed_hosts": "heat.example"}, "127.0.0.1", ""),
    ],
)
def test_strangers_reach_no_server_that_asks_nobody(
    settings: dict[str, str], host: str, says: str, tmp_path: Any
) -> None:
    from zonda.core.app.app import build_app
    from zonda.core.settings.settings import load_settings

    app = build_app(load_settings({"home": str(tmp_path), **settings}, {}))
    if not says:
        check_exposure(app, host)
        return
    with pytest.raises(UsageError, match=says):
        check_exposure(app, host)


def test_the_host_of_signal_urls_is_one_of_the_hosts() -> None:
    known = choose_hosts([], "127.0.0.1", "https://Zonda.Example:8443/x")
    assert known.find_base("https", "zonda.example:8443") == "https://zonda.example:8443"
    assert choose_hosts(["a"], "127.0.0.1", "http://[fd00::1]:8004").names == {"a", "[fd00::1]"}


def test_a_form_that_is_too_large_gets_a_page(client: TestClient) -> None:
    reply = client.post("/ui/sign-in", content=b"x" * 1001)
    assert reply.status_code == 400
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.headers["content-security-policy"].startswith("default-src 'none'")
    assert "maximum allowed size" in reply.text
