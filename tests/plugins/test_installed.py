import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from zonda.core.plugins import installed

ENTRY = "[zonda]\nmine = json:loads\n"


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "absent"), str(tmp_path)])

    def make(folder: str, entry_points: str) -> None:
        information = tmp_path / folder
        information.mkdir()
        name = "PKG-INFO" if folder.endswith(".egg-info") else "METADATA"
        (information / name).write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(entry_points)

    return make


def list_names() -> list[str]:
    return [name for name, _, _ in installed.list_installed()]


@pytest.mark.parametrize("folder", ["mine-1.0.dist-info", "mine-1.0.egg-info"])
def test_a_distribution_that_names_the_group_is_found(
    folder: str, distribution: Callable[[str, str], None]
) -> None:
    distribution("other-1.0.dist-info", "[console_scripts]\nother = json:loads\n")
    assert list_names() == []
    distribution(folder, f"[console_scripts]\nx = json:loads\n\n{ENTRY}")
    [(name, load, found)] = installed.list_installed()
    assert (name, getattr(load(), "__name__", "")) == ("mine", "loads")
    assert found is not None
    assert found.metadata["Name"] == "mine"


def test_a_distribution_in_an_archive_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "mine.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("mine-1.0.dist-info/METADATA", "Name: mine\nVersion: 1.0\n")
        file.writestr("mine-1.0.dist-info/entry_points.txt", ENTRY)
    monkeypatch.setattr(sys, "path", [str(archive)])
    assert list_names() == ["mine"]


def test_other_finders_of_distributions_are_asked(
    distribution: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finder:
        def find_spec(self, *arguments: object) -> None:
            return None

        def find_distributions(self, context: object) -> list[object]:
            asked.append(context)
            return []

    asked: list[object] = []
    assert list_names() == []
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert list_names() == []
    assert len(asked) == 1
