"""The index of types that cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda_heat_compat import index


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "zonda" / "heat-compat"


def refuse() -> dict[str, str]:
    raise AssertionError("it is known")


def test_what_was_found_is_kept_until_anything_else_is_installed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index.load_faults(lambda: {"A::B": "broken"}) == {"A::B": "broken"}
    assert index.load_faults(refuse) == {"A::B": "broken"}
    (tmp_path / "site" / "novaclient-9.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    assert index.load_faults(dict) == {}
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_broken_file_is_made_anew(cache: Path, text: str) -> None:
    index.load_faults(dict)
    (kept,) = cache.iterdir()
    kept.write_text(text)
    assert index.load_faults(lambda: {"A::B": "x"}) == {"A::B": "x"}
    assert index.load_faults(refuse) == {"A::B": "x"}


def test_without_a_place_it_is_found_each_time(cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("a file in the place of the folder")
    assert index.load_faults(lambda: {"A::B": "x"}) == {"A::B": "x"}
