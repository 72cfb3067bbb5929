"""Messages keep the host and the port of an address, and no secret."""

from __future__ import annotations

import pytest

from zonda.hooks.text.redaction import redact, redact_message, secret_texts

PG = 'connection to server at "127.0.0.1", port 5432 failed: Connection refused'
KEPT = [
    ("5432", PG),
    ("127.0.0.1", PG),
    ("5432", "cannot reach http://host:5432/x"),
    ("5432", "cannot reach http://host:5432: refused"),
    ("5432", "(https://u@host:5432)."),
    ("5432", "[https://host:5432]"),
    ("5432", "no route to postgres://u:pw@db.example.com:5432/x?a=b"),
    ("5432", "HTTPConnectionPool(host='db.example.com', port=5432): Max retries exceeded"),
    ("db.example.com", "HTTPConnectionPool(host='db.example.com', port=5432): Max retries"),
    ("db.example.com", 'could not translate host name "db.example.com" to address'),
    ("5432", "dial tcp 10.0.0.5:5432: connect: connection refused"),
    ("10.0.0.5", "dial tcp 10.0.0.5:5432: connect: connection refused"),
    ("6379", "Error 111 connecting to localhost:6379. Connection refused."),
    ("localhost", "Error 111 connecting to localhost:6379. Connection refused."),
    ("3306", "Can't connect to MySQL server on 'db.example.com:3306' (111)"),
    ("5432", "GET http://[fe80::1]:5432/ failed"),
    ("fe80::1", "GET http://[fe80::1]:5432/ failed"),
    ("fe80::1", 'Get "https://[fe80::1]": EOF'),
]
MASKED = [
    # a password, a user or a part of either
    ("5432", "postgres://u:5432@host/x", "postgres://u:(hidden)@host/x"),
    ("5432", "postgres://5432@host/x", "postgres://(hidden)@host/x"),
    ("5432", "http://u:5432!x@host/", "http://u:(hidden)!x@host/"),
    ("5432", "u:5432@10.0.0.5", "u:(hidden)@10.0.0.5"),
    ("5432", "10.0.0.5:5432@host", "10.0.0.5:(hidden)@host"),
    ("localhost", "http://localhost:pw@host/", "http://(hidden):pw@host/"),
    ("hunter2", "postgres://u:hunter2@host", "postgres://u:(hidden)@host"),
    ("p@ss/w0rd", "postgres://u:p@ss/w0rd@host", "postgres://u:(hidden)@host"),
    # long or odd ones, wherever they stand
    ("hunter2", "cannot reach http://hunter2:80/", "cannot reach http://(hidden):80/"),
    ("hunter2", 'server at "hunter2", port 5432', 'server at "(hidden)", port 5432'),
    ("T0k.En.x", "cannot reach https://T0k.En.x/", "cannot reach https://(hidden)/"),
    (
        "a7x9",
        "cannot reach https://a7x9.example.com/",
        "cannot reach https://(hidden).example.com/",
    ),
    ("123456", "port 123456", "port (hidden)"),
    ("0123", "host port 0123", "host port (hidden)"),
    ("80801", "http://host:80801/", "http://host:(hidden)/"),
    # no address, or only a part of one
    ("5432", "the pin 5432 is wrong", "the pin (hidden) is wrong"),
    ("5432", "admin:5432 is refused", "admin:(hidden) is refused"),
    ("5432", "john.doe:5432 is refused", "john.doe:(hidden) is refused"),
    ("5432", "passport 5432", "passport (hidden)"),
    ("5432", "http://host:80/5432?pin=5432", "http://host:80/(hidden)?pin=(hidden)"),
    ("5432", "port 54321 and port 5432", "port (hidden)1 and port 5432"),
    ("db.example.com", "db.example.com is wrong", "(hidden) is wrong"),
    ("example.com", "http://db.example.com/", "http://db.(hidden)/"),
]


@pytest.mark.parametrize(("secret", "text"), KEPT)
def test_a_message_keeps_the_host_and_the_port(secret: str, text: str) -> None:
    assert redact_message(text, secret_texts([secret])) == text


@pytest.mark.parametrize(("secret", "text", "expected"), MASKED)
def test_a_message_never_keeps_a_secret(secret: str, text: str, expected: str) -> None:
    assert redact_message(text, secret_texts([secret])) == expected


def test_what_is_no_message_keeps_nothing() -> None:
    assert redact(PG, secret_texts([5432])) == PG.replace("5432", "(hidden)")


def test_several_hidden_values_are_masked_beside_a_port_that_stays() -> None:
    text = "postgres://u:hunter2@db:5432/x, pin 5432, hunter2"
    shown = redact_message(text, secret_texts(["hunter2", 5432]))
    assert shown == "postgres://u:(hidden)@db:5432/x, pin (hidden), (hidden)"
