"""``zonda doctor`` reports faults with remedies and changes nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.databases import execute

TEMPLATE = """
heat_template_version: 2018-08-31
resources: {a: {type: OS::Heat::RandomString}}
"""


@pytest.fixture
def home(zonda: Any, write: Callable[[str, str], Path], tmp_path: Path) -> Path:
    """A home with a stack."""
    zonda("stack", "create", "s", "-t", write("t.yaml", TEMPLATE))
    return tmp_path / "home"


def findings(zonda: Any, code: int = 0) -> dict[str, dict[str, str]]:
    return {row["Check"]: row for row in zonda("doctor", "-f", "json", code=code).data}


def test_a_home_that_is_well_has_no_fault(zonda: Any, home: Path) -> None:
    found = findings(zonda)
    assert {row["Status"] for row in found.values()} == {"ok"}
    wanted = {"python", "packages", "settings", "home", "database", "engine", "clock", "plug-ins"}
    assert wanted <= set(found)
    assert "1 stacks" in found["database"]["Finding"]


def test_a_home_that_does_not_exist_is_told_and_not_made(zonda: Any, tmp_path: Path) -> None:
    assert findings(zonda)["home"]["Status"] == "warning"
    assert not (tmp_path / "home").exists()


def _open(home: Path) -> None:
    home.chmod(0o755)


def _lose_key(home: Path) -> None:
    (home / "zonda.key").unlink()


def _other_key(home: Path) -> None:
    (home / "zonda.key").write_text("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")


def _no_database(home: Path) -> None:
    (home / "zonda.db").write_bytes(b"no database at all\n" * 100)


def _newer(home: Path) -> None:
    execute(home, "UPDATE alembic_version SET version_num = '9999'")


def _future(home: Path) -> None:
    execute(home, "UPDATE stack SET updated_at = 9e9")


def _left(home: Path) -> None:
    execute(home, "UPDATE stack SET status = 'IN_PROGRESS'")


def _settings(home: Path) -> None:
    (home / "zonda.toml").write_text("wokers = 3\n")


def _plugin(home: Path) -> None:
    (home / "plugins").mkdir()
    (home / "plugins" / "broken.py").write_text("raise ValueError('broken')\n")


def _runner(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = f'[runners.builds]\nkind = "http"\nendpoint = "http://127.0.0.1:{port}/"\n'
    (home / "zonda.toml").write_text(text)


@pytest.mark.parametrize(
    ("spoil", "check", "status"),
    [
        (_open, "permissions", "warning"),
        (_lose_key, "database", "error"),
        (_other_key, "database", "error"),
        pytest.param(_no_database, "database", "error", marks=pytest.mark.sqlite),
        (_newer, "database", "error"),
        (_future, "clock", "warning"),
        (_left, "stacks", "warning"),
        (_settings, "settings", "error"),
        (_plugin, "plug-ins", "error"),
        (_runner, "runner builds", "error"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(
    zonda: Any, home: Path, spoil: Callable[[Path], None], check: str, status: str
) -> None:
    spoil(home)
    found = findings(zonda, code=int(status == "error"))
    assert found[check]["Status"] == status
    assert found[check]["What to do"]
    assert found["python"]["Status"] == "ok"
