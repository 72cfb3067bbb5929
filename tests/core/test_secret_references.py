"""Secrets that are named: where they are read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from zonda.core.secret_references import resolve
from zonda.hooks.errors import UsageError

ALL = "env:*,file:*"


def test_a_variable_and_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_TOKEN", "one")
    (tmp_path / "token").write_text(" two \n\n")
    assert resolve("env:THE_TOKEN", tmp_path, ALL) == "one"
    assert resolve("file:token", tmp_path, ALL) == " two"
    assert resolve(f"file:{tmp_path / 'token'}", Path("/nowhere"), ALL) == " two"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("env:NO_SUCH_VARIABLE", "is not set"),
        ("file:nothing", "cannot be read"),
        ("file:.", "cannot be read"),
        ("file:large", "too large"),
        ("file:odd", "not UTF-8"),
        ("evn:X", "env"),
        ("TOKEN", "names no secret"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, reference: str, said: str) -> None:
    (tmp_path / "large").write_text("x" * 70_000)
    (tmp_path / "odd").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError) as found:
        resolve(reference, tmp_path, "*")
    assert said in f"{found.value} {found.value.hint}"


@pytest.mark.parametrize("allowed", ["", "env:ZONDA_SECRET_*", "file:*"])
def test_what_is_not_allowed_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: str
) -> None:
    monkeypatch.setenv("OTHER", "hushhush")
    with pytest.raises(UsageError, match="may not be read") as found:
        resolve("env:OTHER", tmp_path, allowed)
    assert "secret_sources" in found.value.hint


def test_what_is_allowed_by_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZONDA_SECRET_A", "one")
    assert resolve("env:ZONDA_SECRET_A", tmp_path, "file:x, env:ZONDA_SECRET_*") == "one"
