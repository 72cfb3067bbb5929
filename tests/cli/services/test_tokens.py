"""``zonda token create``: a token that the API knows, and that no file has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zonda.core.api.identity.tokens import Tokens
from zonda.hooks.testing import FakeClock


def test_a_token_is_shown_once_and_known(zonda: Any, tmp_path: Path) -> None:
    path = tmp_path / "home" / "tokens.toml"
    first = zonda("token", "create", "ann", "--project", "p1").out.strip()
    second = zonda(
        "token", "create", 'b"ob', "--project", "p2", "--role", "reader", "--role", "admin"
    ).out.strip()
    assert first != second
    assert first not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    tokens = Tokens(path, FakeClock())
    ann = tokens.authenticate({"x-auth-token": first})
    bob = tokens.authenticate({"x-auth-token": second})
    assert ann is not None
    assert bob is not None
    assert (ann.user, ann.project_id, ann.roles) == ("ann", "p1", {"member"})
    assert (bob.user, bob.project_id, bob.roles) == ('b"ob', "p2", {"reader", "admin"})


def test_a_token_may_end(zonda: Any, tmp_path: Path) -> None:
    token = zonda("token", "create", "ann", "--project", "p", "--days", "1").out.strip()
    path = tmp_path / "home" / "tokens.toml"
    assert Tokens(path, FakeClock(0.0)).authenticate({"x-auth-token": token}) is not None
    late = FakeClock(4_102_444_800.0)
    assert Tokens(path, late).authenticate({"x-auth-token": token}) is None


@pytest.mark.parametrize("days", ["0", "x", "-1", "99999"])
def test_days_are_a_number(zonda: Any, days: str) -> None:
    words = ("token", "create", "ann", "--project", "p", "--days", days)
    assert "number of days" in zonda(*words, code=2).err


@pytest.mark.parametrize("words", [("", "--project", "p"), ("ann", "--project", " ")])
def test_a_token_of_nobody_is_refused(zonda: Any, words: tuple[str, ...]) -> None:
    assert "must not be empty" in zonda("token", "create", *words, code=2).err


def test_a_file_with_a_fault_is_left_alone(zonda: Any, tmp_path: Path) -> None:
    path = tmp_path / "home" / "tokens.toml"
    path.parent.mkdir(mode=0o700)
    path.write_text("what = 1\n")
    path.chmod(0o600)
    assert "[[token]]" in zonda("token", "create", "ann", "--project", "p", code=2).err
    assert path.read_text() == "what = 1\n"


def test_a_revoked_token_is_known_no_more_and_all_else_stays(zonda: Any, tmp_path: Path) -> None:
    path = tmp_path / "home" / "tokens.toml"
    names = ("ann", "ben", "eve")
    made = {name: zonda("token", "create", name, "--project", "p1").out.strip() for name in names}
    path.write_text(f"# kept\n{path.read_text()}")
    path.chmod(0o600)
    tokens = Tokens(path, FakeClock())
    shown = zonda("token", "list").out
    assert all(name in shown for name in names)
    assert not any(token in shown for token in made.values())
    rows = zonda("token", "list", "-f", "value").out.splitlines()
    key = next(row.split()[0] for row in rows if " ben " in row)
    assert "ben" in zonda("token", "revoke", key).err
    assert tokens.authenticate({"x-auth-token": made["ben"]}) is None
    for name in ("ann", "eve"):
        assert tokens.authenticate({"x-auth-token": made[name]}) is not None
    assert path.read_text().startswith("# kept\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert "could not be found" in zonda("token", "revoke", key, code=1).err
