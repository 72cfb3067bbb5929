"""The start of the server: certificates that fit, proxies that are believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zonda.core.api.server.hosts import Proxies
from zonda.core.api.server.process.serving import check_tls
from zonda.core.settings.settings import load_settings
from zonda.hooks.errors import UsageError


def load(home: Path, **flags: str) -> Any:
    return load_settings({"home": str(home), **flags}, {})


def test_both_files_of_tls_are_needed(tmp_path: Path) -> None:
    assert check_tls(load(tmp_path)) == {}
    for name in ("tls_cert", "tls_key"):
        with pytest.raises(UsageError, match="both"):
            check_tls(load(tmp_path, **{name: "x.pem"}))


def test_a_certificate_that_cannot_be_used_is_told_before_it_listens(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    for name in ("bad.pem", "none.pem"):
        path = str(tmp_path / name)
        with pytest.raises(UsageError, match="TLS cannot be spoken") as caught:
            check_tls(load(tmp_path, tls_cert=path, tls_key=path))
        assert path in str(caught.value)


@pytest.mark.parametrize(
    ("address", "headers", "origin"),
    [
        ("10.0.0.1", {}, ("http", "inner")),
        ("10.0.0.1", {"x-forwarded-proto": "https"}, ("https", "inner")),
        ("10.0.0.1", {"x-forwarded-host": "heat.example"}, ("http", "heat.example")),
        ("::ffff:10.0.0.1", {"x-forwarded-proto": "https"}, ("https", "inner")),
        ("10.0.0.1", {"x-forwarded-proto": "javascript"}, ("http", "inner")),
        ("10.0.0.1", {"x-forwarded-host": "evil.example, heat.example"}, ("http", "heat.example")),
        ("10.0.1.1", {"x-forwarded-proto": "https", "x-forwarded-host": "evil"}, ("http", "inner")),
        ("", {"x-forwarded-proto": "https"}, ("http", "inner")),
    ],
)
def test_only_trusted_proxies_say_where_a_request_went(
    address: str, headers: dict[str, str], origin: tuple[str, str]
) -> None:
    named, proxies = {"host": "inner", **headers}, Proxies.parse(["10.0.0.0/24"])
    assert proxies.find_origin(address, "http", named) == origin
    assert Proxies().find_origin(address, "http", named) == ("http", "inner")
