"""A cache and a set of collections of their own for each test."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for ``lives``

from cases.ground import skip
from servers import ABSENT, SshServer, find_server, run_postgresql


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    """An SSH server of the loopback for many tests."""
    if os.environ.get("ZONDA_ANSIBLE_TESTS") == "never":
        pytest.skip("ZONDA_ANSIBLE_TESTS=never")
    if find_server() is None:
        skip(ABSENT)
    found = SshServer(tmp_path_factory.mktemp("sshd"))
    yield found
    found.stop()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Mapping[str, Any]]:
    """The settings of a PostgreSQL whose superuser needs no password."""
    with run_postgresql() as settings:
        yield settings


@pytest.fixture(scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _environment(_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(_cache))
    monkeypatch.delenv("ANSIBLE_CONFIG", raising=False)


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installed collection ``acme.tools`` without modules."""
    folder = tmp_path / "ansible_collections" / "acme" / "tools"
    (folder / "plugins" / "modules").mkdir(parents=True)
    manifest = '{"collection_info": {"namespace": "acme", "name": "tools", "version": "1.2.3"}}'
    (folder / "MANIFEST.json").write_text(manifest)
    monkeypatch.setenv("ANSIBLE_COLLECTIONS_PATH", str(tmp_path))
    return folder
