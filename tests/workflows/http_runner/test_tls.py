"""TLS with real certificates: trust, and client certificates."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from zonda.hooks.errors import UsageError
from zonda.hooks.http import ClientConfig, RequestRejected, Transport, TransportError, origin
from zonda.hooks.runners import Finished, Retry, Running, StartRequest, Succeeded
from zonda.hooks.testing import FakeClock
from zonda.workflows.http_runner.runner import HttpRunner

PASSPHRASE = "open sesame"

MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]


class Authority:
    """Makes certificates, in files of a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / f"{name}.pem"
        made = self._builder(self.name, self.key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        made = made.add_extension(
            x509.KeyUsage(
                digital_signature=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=True,
                crl_sign=True,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
        self.file.write_bytes(self._pem(made))

    def issue(self, name: str, *, host: str = "", passphrase: str = "", days: int = 2) -> Path:
        """The file of a certificate; its key is beside it, with the ending ``.key``."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._builder(subject, key, days)
        use = ExtendedKeyUsageOID.SERVER_AUTH if host else ExtendedKeyUsageOID.CLIENT_AUTH
        made = made.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        if host:
            known_as: list[x509.GeneralName] = [x509.DNSName(host)]
            if host == "localhost":
                known_as.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
            made = made.add_extension(x509.SubjectAlternativeName(known_as), critical=False)
        path = self.folder / f"{name}.pem"
        path.write_bytes(self._pem(made))
        locked: Any = serialization.NoEncryption()
        if passphrase:
            locked = serialization.BestAvailableEncryption(passphrase.encode())
        path.with_suffix(".key").write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
        )
        return path

    def _builder(self, subject: x509.Name, key: Any, days: int = 2) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=3))
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
        )

    def _pem(self, made: x509.CertificateBuilder) -> bytes:
        return made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


class Endpoint(BaseHTTPRequestHandler):
    """Says who has called, by the certificate that was shown."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        shown: Any = self.connection.getpeercert()  # type: ignore[attr-defined]
        caller = dict(one[0] for one in shown["subject"])["commonName"] if shown else ""
        self.server.callers.append(caller)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, certificate: Path, clients: Path | None) -> None:
        super().__init__(("127.0.0.1", 0), Endpoint)
        self.callers: list[str] = []
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        if clients is not None:
            self._context.load_verify_locations(clients)
            self._context.verify_mode = ssl.CERT_REQUIRED

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread, so that a handshake holds up nobody."""
        request.settimeout(10)
        with self._context.wrap_socket(request, server_side=True) as secured:
            self.RequestHandlerClass(secured, client_address, self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A handshake that fails is what some tests are about."""

    @property
    def url(self) -> str:
        return f"https://localhost:{self.server_port}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ours"), "authority")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("theirs"), "stranger")


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def make(certificate: Path, clients: Path | None = None) -> Server:
        server = Server(certificate, clients)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return server

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def close_first(serve: Any, make_runner: MakeRunner) -> Iterator[MakeRunner]:
    """Runners that let go of their connections before the servers end."""
    made: list[HttpRunner] = []

    def make(**settings: Any) -> HttpRunner:
        made.append(make_runner(**settings))
        return made[-1]

    yield make
    for runner in made:
        runner.close()


def test_a_certificate_of_a_known_authority(
    serve: Any, close_first: MakeRunner, request_for: MakeRequest, authority: Authority
) -> None:
    server = serve(authority.issue("server", host="localhost"))
    runner = close_first(endpoint=server.url, ca_bundle=str(authority.file))
    assert runner.start(request_for("flow")).result == Succeeded({})  # type: ignore[union-attr]
    assert server.callers == [""]


@pytest.mark.parametrize(
    ("host", "days", "known", "part"),
    [
        pytest.param("localhost", 2, False, "unable to get local issuer", id="unknown-authority"),
        pytest.param("other.example", 2, True, "Hostname mismatch", id="another-host"),
        pytest.param("localhost", -1, True, "expired", id="expired"),
    ],
)
def test_a_certificate_that_is_not_accepted(
    serve: Any,
    close_first: MakeRunner,
    request_for: MakeRequest,
    authority: Authority,
    stranger: Authority,
    host: str,
    days: int,
    known: bool,
    part: str,
) -> None:
    server = serve(authority.issue("bad", host=host, days=days))
    bundle = authority.file if known else stranger.file
    runner = close_first(endpoint=server.url, ca_bundle=str(bundle))
    answer = runner.start(request_for("flow"))
    assert isinstance(answer, Retry)
    assert "TLS failed: the certificate is not accepted" in answer.message
    assert part in answer.message
    assert server.callers == []


@pytest.mark.parametrize("passphrase", ["", PASSPHRASE], ids=["open-key", "locked-key"])
@pytest.mark.parametrize("together", [False, True], ids=["two-files", "one-file"])
def test_the_runner_shows_its_certificate(
    serve: Any,
    close_first: MakeRunner,
    request_for: MakeRequest,
    authority: Authority,
    passphrase: str,
    together: bool,
) -> None:
    server = serve(authority.issue("server", host="localhost"), authority.file)
    mine = authority.issue("zonda", passphrase=passphrase)
    key = mine.with_suffix(".key")
    settings = {"client_certificate": str(mine), "client_key": str(key)}
    if together:
        mine.write_bytes(mine.read_bytes() + key.read_bytes())
        settings = {"client_certificate": str(mine)}
    if passphrase:
        settings["client_key_passphrase"] = passphrase
    runner = close_first(endpoint=server.url, ca_bundle=str(authority.file), **settings)
    assert runner.start(request_for("flow")).result == Succeeded({})  # type: ignore[union-attr]
    assert runner.poll({"url": "/runs/1", "key": "k"}) == Succeeded({})
    assert server.callers == ["zonda", "zonda"]


def test_a_stranger_is_not_shown_the_certificate(
    serve: Any, close_first: MakeRunner, request_for: MakeRequest, authority: Authority
) -> None:
    ours = serve(authority.issue("server", host="localhost"), authority.file)
    theirs = serve(authority.issue("server2", host="localhost"), authority.file)
    mine = authority.issue("zonda")
    runner = close_first(
        endpoint=ours.url,
        ca_bundle=str(authority.file),
        client_certificate=str(mine),
        client_key=str(mine.with_suffix(".key")),
        allowed_networks="127.0.0.0/8",
    )
    assert isinstance(runner.start(request_for("flow")), Finished)
    assert isinstance(runner.start(request_for(f"{theirs.url}/hook")), Retry)
    assert (ours.callers, theirs.callers) == (["zonda"], [])


@pytest.mark.parametrize("shown", ["none", "stranger"])
def test_who_shows_no_good_certificate_is_told(
    serve: Any,
    close_first: MakeRunner,
    request_for: MakeRequest,
    authority: Authority,
    stranger: Authority,
    shown: str,
) -> None:
    server = serve(authority.issue("server", host="localhost"), authority.file)
    settings = {}
    if shown == "stranger":
        mine = stranger.issue("zonda")
        settings = {
            "client_certificate": str(mine),
            "client_key": str(mine.with_suffix(".key")),
        }
    runner = close_first(endpoint=server.url, ca_bundle=str(authority.file), **settings)
    answer = runner.start(request_for("flow"))
    assert isinstance(answer, Retry)
    # Who writes while the other side closes may be told of the closing only.
    told = ("it may want (another) client certificate", "connection reset", "broken pipe")
    assert any(part in answer.message for part in told)
    assert isinstance(runner.poll({"url": "/runs/1", "key": "k"}), Running)
    assert server.callers == []


def test_a_handshake_that_fails_has_sent_nothing(
    serve: Any, close_first: MakeRunner, authority: Authority, tmp_path: Path
) -> None:
    server = serve(authority.issue("server", host="localhost"))
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as plain:
        plain.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=plain.serve_forever, args=(0.01,), daemon=True).start()
        for url in (server.url, f"https://localhost:{plain.server_port}"):
            transport = Transport(ClientConfig(FakeClock(), trusted=frozenset({origin(url)})))
            with pytest.raises(TransportError, match="TLS failed") as caught:
                transport.send("GET", url, {})
            assert not caught.value.may_have_arrived
            transport.close()
        plain.shutdown()


@pytest.mark.parametrize("setting", ["ca_bundle", "client_certificate"])
def test_a_file_that_goes_later_is_named(
    serve: Any, authority: Authority, tmp_path: Path, setting: str
) -> None:
    server = serve(authority.issue("server", host="localhost"))
    files: dict[str, Any] = {"ca_bundle": str(authority.file), setting: str(tmp_path / "gone")}
    transport = Transport(
        ClientConfig(FakeClock(), trusted=frozenset({origin(server.url)}), **files)
    )
    with pytest.raises(RequestRejected, match="ca_bundle or the client_certificate is not there"):
        transport.send("GET", server.url, {})
    transport.close()


@pytest.mark.parametrize(
    ("content", "part"),
    [
        pytest.param(None, "No such file", id="no-file"),
        pytest.param("", "no certificate", id="empty"),
        pytest.param("-----BEGIN CERTIFICATE-----\nx\n", "no certificate", id="no-pem"),
    ],
)
def test_a_bundle_that_cannot_be_used_is_told_at_once(
    make_runner: MakeRunner, tmp_path: Path, content: str | None, part: str
) -> None:
    bundle = tmp_path / "bundle.pem"
    if content is not None:
        bundle.write_text(content)
    with pytest.raises(UsageError, match=f"ca_bundle cannot be used: .*{part}"):
        make_runner(endpoint="https://localhost", ca_bundle=str(bundle))


def test_a_folder_of_certificates_is_a_bundle(make_runner: MakeRunner, tmp_path: Path) -> None:
    make_runner(endpoint="https://localhost", ca_bundle=str(tmp_path))


def test_a_plain_server_where_tls_is_expected(
    close_first: MakeRunner, request_for: MakeRequest
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        runner = close_first(endpoint=f"https://localhost:{server.server_port}")
        answer = runner.start(request_for("flow"))
        server.shutdown()
    assert isinstance(answer, Retry)
    assert "TLS failed" in answer.message


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        pytest.param({"client_certificate": "/nowhere.pem"}, "No such file", id="no-file"),
        pytest.param({"client_key": "KEY"}, "no client_certificate", id="key-only"),
        pytest.param({"client_certificate": "CERTIFICATE"}, "do not fit", id="no-key"),
        pytest.param(
            {"client_certificate": "CERTIFICATE", "client_key": "OTHER"}, "do not fit", id="another"
        ),
        pytest.param(
            {"client_certificate": "CERTIFICATE", "client_key": "KEY"}, "do not fit", id="locked"
        ),
        pytest.param(
            {
                "client_certificate": "CERTIFICATE",
                "client_key": "KEY",
                "client_key_passphrase": "wr0ng",
            },
            "do not fit",
            id="wrong-passphrase",
        ),
    ],
)
def test_files_that_cannot_be_used_are_told_at_once(
    make_runner: MakeRunner, authority: Authority, settings: dict[str, str], part: str
) -> None:
    mine = authority.issue("locked", passphrase=PASSPHRASE)
    other = authority.issue("other")
    files = {
        "CERTIFICATE": mine,
        "KEY": mine.with_suffix(".key"),
        "OTHER": other.with_suffix(".key"),
    }
    given = {name: str(files.get(value, value)) for name, value in settings.items()}
    with pytest.raises(UsageError) as caught:
        make_runner(endpoint="https://localhost", **given)
    assert part in caught.value.message
    assert "wr0ng" not in str(caught.value)


def test_the_name_that_is_checked_is_the_one_that_was_asked_for(
    serve: Any, close_first: MakeRunner, request_for: MakeRequest, authority: Authority
) -> None:
    """The connection goes to an address; what the certificate must say is still the name."""
    server = serve(authority.issue("named", host="localhost"))
    by_name = close_first(endpoint=server.url, ca_bundle=str(authority.file))
    other_name = server.url.replace("localhost", "127.1")
    by_number = close_first(endpoint=other_name, ca_bundle=str(authority.file))
    assert isinstance(by_name.start(request_for("flow")), Finished)
    assert isinstance(by_number.start(request_for("flow")), Retry)
