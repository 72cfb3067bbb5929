"""Tokens of a file: who they are, what is refused, and that changes count at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zonda.core.api.identity.tokens import (
    Tokens,
    hash_token,
    list_tokens,
    load_tokens,
    remove_token,
)
from zonda.hooks.errors import UsageError
from zonda.hooks.testing import FakeClock


def write(path: Path, *rows: str, mode: int = 0o600) -> Path:
    path.write_text("".join(f"[[token]]\n{row}\n" for row in rows))
    path.chmod(mode)
    return path


def make_row(token: str = "t1", **more: str) -> str:
    rows = {"hash": f'"{hash_token(token)}"', "user": '"ann"', "project": '"p1"', **more}
    return "\n".join(f"{key} = {value}" for key, value in rows.items())


@pytest.mark.parametrize(
    ("headers", "known"),
    [
        ({"x-auth-token": "t1"}, True),
        ({"authorization": "Bearer t1"}, True),
        ({"authorization": "bearer  t1 "}, True),
        ({"x-auth-token": "t2"}, False),
        ({"x-auth-token": ""}, False),
        ({"authorization": "Basic t1"}, False),
        ({}, False),
        ({"x-auth-token": hash_token("t1")}, False),
    ],
)
def test_a_token_is_known_by_its_hash(tmp_path: Path, headers: dict[str, str], known: bool) -> None:
    path = write(tmp_path / "tokens.toml", make_row(roles='["reader"]'))
    found = Tokens(path, FakeClock()).authenticate(headers)
    assert (found is not None) is known
    if found is not None:
        assert (found.user, found.project_id, found.roles) == ("ann", "p1", {"reader"})


def test_a_token_ends_at_its_time(tmp_path: Path) -> None:
    clock = FakeClock()
    path = write(tmp_path / "tokens.toml", make_row(expires="1970-01-01T00:00:01Z"))
    assert Tokens(path, clock).authenticate({"x-auth-token": "t1"}) is None
    path = write(tmp_path / "tokens.toml", make_row(expires="2999-01-01T00:00:01Z"))
    assert Tokens(path, clock).authenticate({"x-auth-token": "t1"}) is not None


def test_a_changed_file_counts_at_once_and_a_faulty_one_does_not(tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    tokens = Tokens(path, FakeClock())
    assert tokens.authenticate({"x-auth-token": "t1"}) is None
    write(path, make_row())
    assert tokens.authenticate({"x-auth-token": "t1"}) is not None
    write(path, "no toml", make_row("t2"))
    assert tokens.authenticate({"x-auth-token": "t1"}) is not None
    write(path, make_row("t2"))
    os.utime(path, ns=(1, 1))
    assert tokens.authenticate({"x-auth-token": "t1"}) is None
    assert tokens.authenticate({"x-auth-token": "t2"}) is not None


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("x = 1", "its keys are"),
        (make_row(user='""'), "user must be a text"),
        (make_row(project="7"), "project must be a text"),
        (make_row(hash='"sha256:1"'), "64 hexadecimal digits"),
        (make_row(roles='"member"'), "roles must be a list"),
        (make_row(expires='"soon"'), "expires must be a time with a zone"),
        (make_row(expires="2030-01-01T00:00:00"), "expires must be a time with a zone"),
        ("= =", "not valid TOML"),
    ],
)
def test_a_fault_of_the_file_is_told(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        load_tokens(write(tmp_path / "tokens.toml", row))


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="open to other users"):
        load_tokens(write(tmp_path / "tokens.toml", make_row(), mode=0o640))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_file_that_root_takes_a_token_out_of_stays_its_owners(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens.toml", make_row(), make_row("t2"))
    os.chown(path, 1234, 5678)

    remove_token(path, list_tokens(path)[0].id)

    found = path.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (1234, 5678, 0o600)
