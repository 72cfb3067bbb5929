"""Directories: made with what leads to them, removed only if they are ours and empty."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from zonda.hooks import NotFound, ResourceFailure
from zonda.hooks.testing import Lifecycle

from zonda_files.directory import Directory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "etc" / "app"


@pytest.fixture(autouse=True)
def _parent(path: Path) -> None:
    path.parent.mkdir()


def life(path: Path, **properties: Any) -> Lifecycle:
    return Lifecycle(Directory, {"path": str(path), **properties})


def mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o7777:04o}"


def test_a_directory_from_beginning_to_end(path: Path) -> None:
    folder = life(path, mode="0750")
    folder.validate()
    folder.create()
    assert mode(path) == "0750"
    (path / "b").touch()
    assert folder.attribute("entries") == ["b"]
    assert folder.attribute("path") == folder.reference == str(path)
    assert folder.update({"path": str(path), "mode": "0700"}) == "updated"
    assert mode(path) == "0700"
    folder.check()
    (path / "b").unlink()
    folder.delete()
    folder.delete()
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize(
    ("policy", "remains"),
    [
        pytest.param("empty", True, id="empty-keeps-what-is-not"),
        pytest.param("contents", False, id="contents"),
        pytest.param("keep", True, id="keep"),
    ],
)
def test_what_is_in_it_goes_only_where_that_is_wanted(
    path: Path, policy: str, remains: bool
) -> None:
    folder = life(path, on_delete=policy)
    folder.create()
    (path / "deep").mkdir()
    (path / "deep" / "data").write_text("x")
    folder.delete()
    assert path.exists() is remains
    told = any("still something in it (1 entries)" in line for line in folder.context.messages)
    assert told is (policy == "empty")


def test_a_link_inside_is_removed_and_not_followed(path: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "data").touch()
    folder = life(path, on_delete="contents")
    folder.create()
    (path / "link").symlink_to(tmp_path / "precious")
    folder.delete()
    assert not path.exists()
    assert (tmp_path / "precious" / "data").exists()


def test_parents_are_made_and_removed_where_empty(path: Path) -> None:
    deep = path / "one" / "two"
    folder = life(deep, parents=True)
    folder.create()
    (path / "kept").touch()
    folder.delete()
    assert os.listdir(path) == ["kept"]


def test_without_parents_a_missing_one_is_told(path: Path) -> None:
    with pytest.raises(ResourceFailure, match="could not be made: No such file"):
        life(path / "one" / "two").create()


def test_a_directory_of_somebody_else_is_left_alone(path: Path) -> None:
    path.mkdir()
    folder = life(path, on_delete="contents")
    with pytest.raises(ResourceFailure, match="adopt: true"):
        folder.create()
    folder.delete()
    assert path.exists()


def test_a_directory_of_somebody_else_is_used_and_never_removed(path: Path) -> None:
    path.mkdir(mode=0o700)
    folder = life(path, adopt=True, on_delete="contents", mode="0755")
    folder.create()
    assert mode(path) == "0755"
    folder.delete()
    assert path.exists()


def test_what_a_stack_adopts_it_removes(path: Path) -> None:
    path.mkdir()
    folder = life(path)
    folder.adopt({"resource_id": str(path)})
    folder.delete()
    assert not path.exists()


def test_a_file_in_its_place_is_told(path: Path) -> None:
    path.touch()
    with pytest.raises(ResourceFailure, match="a file, not a directory"):
        life(path, adopt=True).create()


def test_drift_is_seen_told_and_put_right(path: Path) -> None:
    folder = life(path)
    folder.create()
    path.chmod(0o777)
    with pytest.raises(ResourceFailure, match=r"mode \(0755 -> 0777\)"):
        folder.check()
    path.rmdir()
    with pytest.raises(NotFound):
        folder.live_state()
    with pytest.raises(ResourceFailure, match="is gone"):
        folder.check()
    folder.update({"path": str(path), "on_delete": "empty"})
    folder.check()
    folder.delete()
    assert not path.exists()


def test_another_path_is_another_directory(path: Path) -> None:
    folder = life(path)
    folder.create()
    assert folder.update({"path": f"{path}/"}) == "updated"
    assert folder.update({"path": f"{path}2"}) == "replaced"
    assert os.listdir(path.parent) == ["app2"]


class Killed(BaseException):
    """The process has gone."""


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_whenever_it_is_killed_the_next_attempt_completes_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int, before: bool
) -> None:
    folder = life(path / "deep", parents=True)
    count = 0

    def watched(function: Any) -> Any:
        def call(*args: Any, **rest: Any) -> Any:
            nonlocal count
            count += 1
            if count == number + 1 and before:
                raise Killed
            result = function(*args, **rest)
            if count == number + 1:
                raise Killed
            return result

        return call

    with monkeypatch.context() as patch:
        for name in ("mkdir", "rename", "fchmod"):
            patch.setattr(os, name, watched(getattr(os, name)))
        for name in ("save_data", "save_resource_id"):
            patch.setattr(folder.context, name, watched(getattr(folder.context, name)))
        killed = False
        try:
            folder.create()
        except Killed:
            killed = True
    if killed:
        folder.create()
    assert os.listdir(path) == ["deep"]
    folder.delete()
    assert os.listdir(path.parent) == []
