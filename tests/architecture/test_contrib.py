"""The packages of contrib: each stands alone. What they import: test_public_api.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

CONTRIB = Path(__file__).resolve().parents[2] / "contrib"
PACKAGES = sorted(path.parent for path in CONTRIB.glob("*/pyproject.toml"))


@pytest.fixture(params=PACKAGES, ids=lambda path: path.name)
def package(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_there_are_packages() -> None:
    assert {"zonda-files", "zonda-postgresql"} <= {path.name for path in PACKAGES}


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "LICENSE", "src", "tests", "docs"])
def test_a_package_has_what_every_package_has(package: Path, name: str) -> None:
    assert (package / name).exists()


def test_a_package_is_listed(package: Path) -> None:
    assert f"]({package.name}/README.md)" in (CONTRIB / "README.md").read_text()


def test_a_package_is_found_by_its_entry_point_and_needs_zonda(package: Path) -> None:
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["zonda"]
    assert "zonda" in project["dependencies"]
