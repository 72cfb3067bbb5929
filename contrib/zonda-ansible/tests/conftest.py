"""A cache and a set of collections of their own for each test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for ``lives``


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
