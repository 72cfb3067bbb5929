"""The listener of ``zonda runner check`` answers whatever an endpoint sends."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import pytest

from zonda.workflows.endpoint_check.callback_rules import callback_listener


@pytest.mark.parametrize(
    ("length", "body"),
    [("2", b"{}"), ("9" * 5000, b""), ("\xb2", b""), ("-1", b""), ("", b"")],
)
def test_what_comes_is_kept_and_acknowledged(length: str, body: bytes) -> None:
    with callback_listener(("127.0.0.1", 0)) as (url, told):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
        connection.putrequest("PUT", "/callbacks/x")
        connection.putheader("Content-Length", length)
        connection.endheaders(body)
        assert connection.getresponse().status == 200
        assert told.get(timeout=20) == ("PUT", "/callbacks/x", "", body)
        connection.close()
