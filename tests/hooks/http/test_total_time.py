"""One total time for all of a request, on a clock that servers move: nothing is waited for."""

from __future__ import annotations

import contextlib
import gzip
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from zonda.hooks.http import (
    AddressPolicy,
    ClientConfig,
    RequestRejected,
    TokenAuth,
    Transport,
    TransportError,
    address_policy,
    networks,
)
from zonda.hooks.http.resolver import Lookups, NotResolved, TooManyLookups
from zonda.hooks.runners.deadline import keep_deadline
from zonda.hooks.testing import FakeClock

TOTAL = 60.0
Behaviour = Callable[[socket.socket], None]
Serve = Callable[[Behaviour], str]
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Servers for one connection each, which ends when the caller goes."""
    threads: list[threading.Thread] = []
    listening: list[socket.socket] = []

    def start(behave: Behaviour) -> str:
        server = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    behave(connection)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        listening.append(server)
        return f"http://127.0.0.1:{server.getsockname()[1]}/x"

    yield start
    for server in listening:
        server.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture
def transport(clock: FakeClock) -> Iterator[Transport]:
    policy = AddressPolicy(networks(["127.0.0.0/8"]))
    made = Transport(ClientConfig(clock, answer_timeout=TOTAL, policy=policy))
    yield made
    made.close()


@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(OK + b"Content-Length: 100000\r\n\r\n", id="body"),
        pytest.param(OK + b"\r\n", id="body-until-close"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n1000\r\n", id="chunk"),
        pytest.param(OK + b"X-Long: ", id="headers"),
        pytest.param(b"HTTP/1.1 200 ", id="status-line"),
    ],
)
def test_an_answer_of_a_byte_a_second_ends_at_the_total_time(
    clock: FakeClock, serve: Serve, transport: Transport, beginning: bytes
) -> None:
    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(beginning)
        while True:
            clock.advance(1)
            connection.sendall(b"1")

    with pytest.raises(TransportError, match="no whole answer within 60 s"):
        transport.send("GET", serve(drip), {})


@pytest.mark.parametrize(
    ("left", "seconds"), [(90, 60), (7, 7), (1, 5), (-30, 5)], ids=["far", "near", "last", "over"]
)
def test_a_request_ends_at_the_deadline_of_the_call(
    clock: FakeClock, serve: Serve, transport: Transport, left: float, seconds: float
) -> None:
    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(OK + b"\r\n")
        while True:
            clock.advance(1)
            connection.sendall(b"1")

    with (
        keep_deadline(clock.now() + left),
        pytest.raises(TransportError, match=f"no whole answer within {seconds} s"),
    ):
        transport.send("GET", serve(drip), {})


def test_a_request_that_is_taken_slowly_ends_at_the_total_time(
    clock: FakeClock, serve: Serve, transport: Transport
) -> None:
    taken: list[int] = []
    over = threading.Event()

    def sip(connection: socket.socket) -> None:
        while data := connection.recv(16384):
            taken.append(len(data))
            clock.advance(1)
        over.set()

    with pytest.raises(TransportError, match="no whole answer within 60 s") as caught:
        transport.send("POST", serve(sip), {}, b"x" * 16_000_000)
    assert caught.value.may_have_arrived
    assert over.wait(30)
    assert sum(taken) < 16_000_000  # what is in the buffers between them arrives all the same


def test_the_time_of_the_connection_counts(clock: FakeClock) -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        clock.advance(TOTAL)
        return ["127.0.0.1"]

    slow = AddressPolicy(networks(["127.0.0.0/8"]), resolve=resolve)
    late = Transport(ClientConfig(clock, connect_timeout=600.0, answer_timeout=TOTAL, policy=slow))
    with pytest.raises(TransportError, match="no connection within 60 s") as caught:
        late.send("GET", "http://slow.example/", {})
    assert not caught.value.may_have_arrived
    late.close()


def test_nothing_is_sent_when_no_time_is_left(transport: Transport) -> None:
    with pytest.raises(TransportError, match="no time is left") as caught:
        transport.send("GET", "http://127.0.0.1:9/", {}, seconds=0.0)
    assert not caught.value.may_have_arrived


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Price", "\u20ac"), ("X-Two", "a\nb"), ("X-Two", "a\r\nX: b"), ("X-Blank", " a")],
)
def test_a_header_that_cannot_be_sent_is_named(transport: Transport, name: str, value: str) -> None:
    with pytest.raises(RequestRejected, match=f"the header {name} must be one line of Latin-1"):
        transport.send("GET", "http://127.0.0.1:9/", {name: value})


def test_a_token_that_cannot_be_sent_is_not_shown(transport: Transport) -> None:
    auth = TokenAuth(lambda: "sesame\n", lambda token: False, "X-Auth-Token")
    with pytest.raises(RequestRejected, match="the header X-Auth-Token must be one") as caught:
        transport.send("GET", "http://127.0.0.1:9/", {}, auth=auth)
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "X: a", " X", "X\n"])
def test_a_name_of_a_header_that_is_none_is_refused(transport: Transport, name: str) -> None:
    with pytest.raises(RequestRejected, match="must be one line of Latin-1"):
        transport.send("GET", "http://127.0.0.1:9/", {name: "a"})


def test_letters_of_western_europe_are_sent(serve: Serve, transport: Transport) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(OK + b"Content-Length: 0\r\n\r\n")

    assert transport.send("GET", serve(answer), {"X-Name": "Zo\u00eb"}).status == 200


class MachineClock(FakeClock):
    """The handshake looks at the machine's clock."""

    def monotonic(self) -> float:
        return time.monotonic()


def test_a_handshake_of_a_byte_at_a_time_ends_with_the_time_for_the_connection(
    serve: Serve,
) -> None:
    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"\x16\x03\x03\x40\x00")  # the head of a record of 16 KiB
        while not select.select([connection], [], [], 0.01)[0]:
            connection.sendall(b"\x02")

    policy = AddressPolicy(networks(["127.0.0.0/8"]))
    transport = Transport(ClientConfig(MachineClock(), connect_timeout=0.1, policy=policy))
    with pytest.raises(TransportError, match=r"no connection within 0\.1 s") as caught:
        transport.send("GET", serve(drip).replace("http://", "https://"), {})
    assert not caught.value.may_have_arrived
    transport.close()


class Resolver:
    """Never answers until the test is over."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.begun = threading.Semaphore(0)
        self.over = threading.Event()

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        self.begun.release()
        assert self.over.wait(30)
        return ["192.0.2.1"]


@pytest.fixture
def resolver() -> Iterator[Resolver]:
    made = Resolver()
    yield made
    made.over.set()


def test_a_name_that_is_not_resolved_is_given_up(clock: FakeClock, resolver: Resolver) -> None:
    wire = ClientConfig(clock, connect_timeout=0.01, policy=AddressPolicy(resolve=resolver))
    transport = Transport(wire)
    with pytest.raises(TransportError, match="looking up the name of the host") as caught:
        transport.send("GET", "http://never.example/", {})
    assert not caught.value.may_have_arrived
    transport.close()


def test_one_thread_looks_a_name_up_for_all_who_ask(resolver: Resolver) -> None:
    lookups = Lookups(most=2)
    for _ in range(5):
        with pytest.raises(NotResolved):
            lookups.find(resolver, "never.example", 80, lambda: 0.001)
    assert resolver.asked == ["never.example"]


def test_there_are_no_more_threads_than_allowed(resolver: Resolver) -> None:
    lookups = Lookups(most=2)
    for name in ("a.example", "b.example", "c.example"):
        with pytest.raises(NotResolved):
            lookups.find(resolver, name, 80, lambda: 0.001)
    assert resolver.asked == ["a.example", "b.example"]


def test_who_waits_for_a_place_gets_it(resolver: Resolver) -> None:
    lookups = Lookups(most=1)
    with pytest.raises(NotResolved):
        lookups.find(resolver, "a.example", 80, lambda: 0.001)
    resolver.over.set()
    assert lookups.find(resolver, "b.example", 80, lambda: 30.0) == ["192.0.2.1"]


def test_what_a_lookup_raises_is_raised() -> None:
    def refuse(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    with pytest.raises(socket.gaierror):
        Lookups().find(refuse, "none.example", 80, lambda: 30.0)


def test_numbers_need_no_thread() -> None:
    threads: list[str] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        threads.append(threading.current_thread().name)
        return [host]

    for host in ("192.0.2.7", "::1", "fe80::1%lo"):
        assert Lookups().find(resolve, host, 80, lambda: 1.0) == [host]
    assert set(threads) == {threading.current_thread().name}


@pytest.mark.parametrize("host", ["1.2.3.4%ab.evil.example", "1.2.3.4%25ab", "%lo", "name%lo"])
def test_a_zone_makes_no_number_of_a_name(host: str) -> None:
    threads: list[str] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        threads.append(threading.current_thread().name)
        return ["192.0.2.7"]

    Lookups().find(resolve, host, 80, lambda: 30.0)
    assert threads == ["lookup"]


def test_all_ports_of_a_host_are_one_name(resolver: Resolver) -> None:
    lookups = Lookups(most=2)
    for port in range(80, 85):
        with pytest.raises(NotResolved):
            lookups.find(resolver, "never.example", port, lambda: 0.001)
    assert resolver.asked == ["never.example"]


def test_who_has_no_place_is_told_so(resolver: Resolver) -> None:
    lookups = Lookups(most=1)
    with pytest.raises(NotResolved) as own:
        lookups.find(resolver, "a.example", 80, lambda: 0.001)
    assert not isinstance(own.value, TooManyLookups)
    with pytest.raises(TooManyLookups):
        lookups.find(resolver, "b.example", 80, lambda: 0.001)


def test_who_has_no_time_left_in_the_queue_is_told_so(resolver: Resolver) -> None:
    def over() -> float:
        raise TimeoutError("the total time is over")

    lookups = Lookups(most=1)
    with pytest.raises(NotResolved):
        lookups.find(resolver, "a.example", 80, lambda: 0.001)
    with pytest.raises(TooManyLookups):
        lookups.find(resolver, "b.example", 80, over)


def test_names_of_strangers_that_hang_hold_up_nothing_that_is_configured(
    clock: FakeClock, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "own.example" else resolver(host, port)

    monkeypatch.setattr(address_policy, "_LOOKUPS", Lookups(most=1))
    policy = AddressPolicy(resolve=resolve)
    for name, why in [("a.example", NotResolved), ("b.example", TooManyLookups)]:
        with pytest.raises(why):
            policy.list_addresses(name, 80, left=lambda: 0.001)
    assert policy.list_addresses("own.example", 80, trusted=True, left=lambda: 30.0) == [
        "127.0.0.1"
    ]
    transport = Transport(ClientConfig(clock, connect_timeout=0.01, policy=policy))
    with pytest.raises(TransportError, match="too many names are being looked up") as caught:
        transport.send("GET", "http://c.example/", {})
    assert not caught.value.may_have_arrived
    transport.close()


def test_a_resolver_that_fails_otherwise_is_an_answer() -> None:
    def fail(host: str, port: int) -> Sequence[str]:
        raise RuntimeError("a bug of the resolver")

    with pytest.raises(socket.gaierror, match="the resolver failed"):
        Lookups().find(fail, "bad.example", 80, lambda: 30.0)


def test_a_machine_without_a_thread_for_it_looks_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    lookups = Lookups()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(TooManyLookups):
            lookups.find(lambda host, port: [host], "a.example", 80, lambda: 30.0)
    assert lookups.find(lambda host, port: [host], "a.example", 80, lambda: 30.0) == ["a.example"]


def test_what_comes_with_a_redirect_is_read_like_any_answer(
    serve: Serve, transport: Transport
) -> None:
    head = b"HTTP/1.1 301 x\r\nLocation: /y\r\n"

    def plain(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(head + b"Content-Length: 4\r\n\r\nmove")

    def bomb(connection: socket.socket) -> None:
        packed = gzip.compress(b"x" * 5_000_000)
        connection.recv(65536)
        connection.sendall(
            head + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
        )

    assert transport.send("GET", serve(plain), {}).body == b"move"
    with pytest.raises(RequestRejected, match="compressed"):
        transport.send("GET", serve(bomb), {})


def test_a_large_answer_is_not_taken(serve: Serve, clock: FakeClock) -> None:
    policy = AddressPolicy(networks(["127.0.0.0/8"]))
    transport = Transport(ClientConfig(clock, max_body=100, policy=policy))

    def flood(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(OK + b"\r\n" + b"x" * 101)

    with pytest.raises(RequestRejected, match="larger than 100 bytes"):
        transport.send("GET", serve(flood), {})
    transport.close()
