"""The requirement on zonda in a new package, by the way zonda was installed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zonda.core.scaffold import own_requirement
from zonda.core.scaffold.plugin_package import Names, write_package

Installed = Callable[..., None]


class Distribution:
    def __init__(self, version: str, direct_url: dict[str, Any] | None) -> None:
        self.version = version
        self._text = None if direct_url is None else json.dumps(direct_url)

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self._text


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Installed:
    def set_to(version: str, direct_url: dict[str, Any] | None = None) -> None:
        made = Distribution(version, direct_url)
        monkeypatch.setattr(own_requirement, "distribution", lambda name: made)

    return set_to


def asked_for(folder: Path) -> tuple[str, str, bool]:
    """What the package needs, what its tests need, and whether hatchling takes URLs."""
    write_package(Names.of("acme-thing"), folder)
    read = tomllib.loads((folder / "pyproject.toml").read_text())
    (needed,) = read["project"]["dependencies"]
    *_, tests = read["project"]["optional-dependencies"]["dev"]
    hatch = read["tool"]["hatch"].get("metadata", {})
    return needed, tests, hatch.get("allow-direct-references", False)


@pytest.mark.parametrize(
    ("version", "least"), [("1.2", "1.2"), ("1.2.dev3", "1.2.dev3"), ("1.2+here", "1.2")]
)
def test_of_an_index_this_version_or_a_later_one(
    installed: Installed, tmp_path: Path, version: str, least: str
) -> None:
    installed(version)
    expected = (f"zonda>={least}", f"zonda[check]>={least}", False)
    assert asked_for(tmp_path / "p") == expected


def test_what_is_on_no_index_is_asked_for_where_it_is(installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    installed("1.2", {"url": folder.as_uri(), "dir_info": {}})
    url = folder.as_uri()
    assert asked_for(tmp_path / "p") == (f"zonda @ {url}", f"zonda[check] @ {url}", True)


def test_a_commit_is_asked_for_as_pip_takes_it(installed: Installed, tmp_path: Path) -> None:
    url = "https://git.example/zonda.git"
    installed("1.2", {"url": url, "vcs_info": {"vcs": "git", "commit_id": "abc"}})
    assert asked_for(tmp_path / "p")[0] == f"zonda @ git+{url}@abc"


@pytest.mark.parametrize(
    "direct_url",
    [
        {"url": "file:///gone/zonda-1.2.whl", "archive_info": {}},
        {"url": "file:///", "dir_info": {"editable": True}},
    ],
    ids=["gone", "a checkout, which pip would replace"],
)
def test_where_no_url_helps_the_version_is_asked_for(
    installed: Installed, tmp_path: Path, direct_url: dict[str, Any]
) -> None:
    installed("1.2", direct_url)
    assert asked_for(tmp_path / "p") == ("zonda>=1.2", "zonda[check]>=1.2", False)
