"""Addresses that may be called; the checked address is the one that is called."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from zonda.hooks.http import AddressPolicy, ClientConfig, Denied, host_and_port, networks, origin
from zonda.hooks.http.resolver import resolve_host
from zonda.hooks.runners import Failed, Finished, Started, StartRequest, Succeeded
from zonda.workflows.http_runner.runner import HttpRunner

MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]

ANYBODY, OPERATOR, NOBODY = "anybody", "operator", "nobody"


@pytest.mark.parametrize(
    ("address", "who"),
    [
        pytest.param("8.8.8.8", ANYBODY, id="public"),
        pytest.param("2001:4860:4860::8888", ANYBODY, id="public-v6"),
        pytest.param("127.0.0.1", OPERATOR, id="loopback"),
        pytest.param("127.255.0.9", OPERATOR, id="all-of-loopback"),
        pytest.param("::1", OPERATOR, id="loopback-v6"),
        pytest.param("10.1.2.3", OPERATOR, id="private-10"),
        pytest.param("172.31.0.1", OPERATOR, id="private-172"),
        pytest.param("192.168.1.1", OPERATOR, id="private-192"),
        pytest.param("100.64.0.1", OPERATOR, id="carrier"),
        pytest.param("fd00::1", OPERATOR, id="private-v6"),
        pytest.param("169.254.169.254", NOBODY, id="metadata"),
        pytest.param("169.254.0.1", NOBODY, id="link-local"),
        pytest.param("fe80::1%eth0", NOBODY, id="link-local-v6"),
        pytest.param("fd00:ec2::254", NOBODY, id="metadata-v6"),
        pytest.param("100.100.100.200", NOBODY, id="metadata-100"),
        pytest.param("224.0.0.1", NOBODY, id="multicast"),
        pytest.param("ff02::1", NOBODY, id="multicast-v6"),
        pytest.param("0.0.0.0", NOBODY, id="unspecified"),
        pytest.param("::", NOBODY, id="unspecified-v6"),
        pytest.param("255.255.255.255", NOBODY, id="broadcast"),
        pytest.param("::ffff:127.0.0.1", OPERATOR, id="mapped-loopback"),
        pytest.param("::ffff:169.254.169.254", NOBODY, id="mapped-metadata"),
        pytest.param("::ffff:8.8.8.8", ANYBODY, id="mapped-public"),
        pytest.param("64:ff9b::7f00:1", OPERATOR, id="nat64-loopback"),
        pytest.param("64:ff9b::a9fe:a9fe", NOBODY, id="nat64-metadata"),
        pytest.param("64:ff9b::808:808", ANYBODY, id="nat64-public"),
        pytest.param("2002:7f00:1::", OPERATOR, id="6to4-loopback"),
        pytest.param("2002:a9fe:a9fe::", NOBODY, id="6to4-metadata"),
        pytest.param("::a9fe:a9fe", NOBODY, id="compatible-metadata"),
        pytest.param("2001:0:4136:e378:8000:63bf:5601:5601", NOBODY, id="teredo-metadata"),
        pytest.param("2606:4700::5efe:a9fe:a9fe", NOBODY, id="isatap-metadata"),
    ],
)
def test_who_may_name_an_address(address: str, who: str) -> None:
    policy = AddressPolicy()
    found = [
        who_may
        for who_may, trusted in ((ANYBODY, False), (OPERATOR, True))
        if is_allowed(policy, address, trusted=trusted)
    ]
    assert found == {ANYBODY: [ANYBODY, OPERATOR], OPERATOR: [OPERATOR], NOBODY: []}[who]


def is_allowed(policy: AddressPolicy, address: str, *, trusted: bool) -> bool:
    try:
        policy.check(address, trusted=trusted)
    except Denied:
        return False
    return True


@pytest.mark.parametrize(
    ("allowed", "denied", "address", "wanted"),
    [
        pytest.param(["10.0.0.0/8"], [], "10.1.1.1", True, id="allowed"),
        pytest.param(["10.0.0.0/8"], [], "::ffff:10.1.1.1", True, id="allowed-mapped"),
        pytest.param(["10.0.0.0/8"], [], "192.168.0.1", False, id="another"),
        pytest.param(["169.254.7.7"], [], "169.254.7.7", True, id="link-local-on-request"),
        pytest.param([], ["8.8.8.0/24"], "8.8.8.8", False, id="denied"),
        pytest.param([], ["8.8.8.0/24"], "::ffff:8.8.8.8", False, id="denied-mapped"),
        pytest.param([], ["8.8.8.0/24"], "64:ff9b::808:808", False, id="denied-nat64"),
        pytest.param(["10.0.0.0/8"], ["10.1.0.0/16"], "10.1.1.1", False, id="denied-wins"),
        pytest.param(["fd00::/8"], [], "fd00::1", True, id="allowed-v6"),
    ],
)
def test_lists_of_networks(
    allowed: Sequence[str], denied: Sequence[str], address: str, wanted: bool
) -> None:
    policy = AddressPolicy(networks(allowed), networks(denied))
    assert is_allowed(policy, address, trusted=False) is wanted


def test_a_refusal_names_the_address() -> None:
    with pytest.raises(Denied, match=r"the address 10\.0\.0\.1 is not public"):
        AddressPolicy().check("10.0.0.1")


def test_what_is_denied_is_denied_to_the_operator_too() -> None:
    assert not is_allowed(AddressPolicy(denied=networks(["10.0.0.0/8"])), "10.0.0.1", trusted=True)


@pytest.mark.parametrize("text", ["10.0.0.1/8", "somewhere", "300.1.1.1", ""])
def test_what_is_no_network(text: str) -> None:
    with pytest.raises(ValueError, match="no network"):
        networks([text])


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "0"]
)
def test_odd_forms_of_numbers_are_read_before_they_are_checked(host: str) -> None:
    with pytest.raises(Denied):
        AddressPolicy().list_addresses(host, 80)
    assert resolve_host(host, 80)[0] in ("127.0.0.1", "0.0.0.0")


class Names:
    """A resolver whose answers follow each other."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_name_is_resolved_once_and_never_after_the_check(listening: int) -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    policy = AddressPolicy(networks(["127.0.0.1"]), resolve=names)
    with policy.connect("rebind.example", listening, left=lambda: 2.0) as connection:
        assert connection.getpeername()[0] == "127.0.0.1"
    assert names.asked == ["rebind.example"]


def test_denied_addresses_of_a_name_are_left_out(listening: int) -> None:
    names = Names(["169.254.169.254", "127.0.0.1", "::1"])
    policy = AddressPolicy(networks(["127.0.0.1"]), resolve=names)
    assert policy.list_addresses("mixed.example", listening) == ["127.0.0.1"]


def test_the_next_address_is_tried(listening: int) -> None:
    names = Names(["127.0.0.9", "127.0.0.1"])
    policy = AddressPolicy(networks(["127.0.0.0/8"]), resolve=names)
    with policy.connect("two.example", listening, left=lambda: 2.0) as connection:
        assert connection.getpeername()[0] == "127.0.0.1"


def test_what_a_wire_trusts() -> None:
    wire = ClientConfig(
        clock=object(),  # type: ignore[arg-type]
        trusted=frozenset({"http://flows.example:80", "https://[::1]:8443"}),
        proxy="http://proxy.example:3128",
    )
    assert wire.trusts("flows.example", 80)
    assert not wire.trusts("flows.example", 8080)
    assert wire.trusts("::1", 8443)
    assert wire.trusts("proxy.example", 3128)
    assert not wire.trusts("other.example", 80)


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example\\@flows.example/",
        "http://flows.example\\@evil.example/",
        "http://flows.ex\tample/",
        "http://flows.example\r\nHost:x/",
        " http://flows.example/",
    ],
)
def test_urls_that_parsers_disagree_about_have_no_origin(url: str) -> None:
    assert origin(url) == ""
    assert host_and_port(url) is None


# -- the runner ---------------------------------------------------------------------------------


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: list[str]
    location = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(f"{self.command} {self.headers['Host']}")
        self.send_response(202 if self.location else 200)
        if self.location:
            self.send_header("Location", self.location)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[type[Endpoint]]:
    handler = type("Bound", (Endpoint,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    handler.port = server.server_port  # type: ignore[attr-defined]
    yield handler
    server.shutdown()
    server.server_close()


def test_a_url_of_a_template_must_be_public(
    endpoint: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner()
    for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"):
        answer = runner.start(request_for(f"http://{host}:{endpoint.port}/hook"))
        assert isinstance(answer, Finished)
        assert isinstance(answer.result, Failed)
        assert "is not public, and nobody has configured it" in answer.result.reason
    assert endpoint.seen == []


def test_an_endpoint_of_the_operator_may_be_private(
    endpoint: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner(endpoint=f"http://localhost:{endpoint.port}")
    assert runner.start(request_for("flow")).result == Succeeded({})  # type: ignore[union-attr]
    assert endpoint.seen == [f"POST localhost:{endpoint.port}"]


def test_an_endpoint_of_the_operator_may_be_denied(
    endpoint: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner(endpoint=f"http://localhost:{endpoint.port}", denied_networks="127.0.0.1")
    answer = runner.start(request_for("flow"))
    assert "denied_networks" in answer.result.reason  # type: ignore[union-attr]
    assert endpoint.seen == []


def test_a_status_url_of_a_listed_origin_may_be_private(
    endpoint: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    endpoint.location = f"http://127.0.0.1:{endpoint.port}/runs/1"
    trusting = make_runner(
        endpoint=f"http://localhost:{endpoint.port}",
        poll_origins=[f"http://127.0.0.1:{endpoint.port}"],
    )
    assert isinstance(trusting.start(request_for("flow")), Started)


def test_behind_a_proxy_numbers_are_checked_all_the_same(
    endpoint: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner(proxy=f"http://127.0.0.1:{endpoint.port}")
    numbers = ("169.254.169.254", "0xa9fea9fe", "10.0.0.1", "[::1]")
    dotted = ("169.254.169.254.", "127.0.0.1.", "0xa9fea9fe.", "127.0.0.1..")
    own = ("localhost", "localhost.", "LOCALHOST", "a.localhost")
    for host in (*numbers, *dotted, *own):
        answer = runner.start(request_for(f"http://{host}/latest"))
        assert isinstance(answer, Finished), host
    assert endpoint.seen == []
    assert runner.start(request_for("http://flows.example/x")).result == Succeeded({})  # type: ignore[union-attr]
    assert endpoint.seen == ["POST flows.example"]
    named = make_runner(proxy=f"http://127.0.0.1:{endpoint.port}", allowed_networks=["127.0.0.0/8"])
    assert isinstance(named.start(request_for("http://localhost/x")), Finished)
    assert endpoint.seen == ["POST flows.example", "POST localhost"]
