"""Files: made once, changed as a whole, seen when they drift, removed only if they are ours."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from zonda.hooks import NotFound, ResourceFailure, ValidationErrors, ZondaError
from zonda.hooks.testing import Lifecycle

from zonda_files.file import File


def life(**properties: Any) -> Lifecycle:
    return Lifecycle(File, {key: str(v) if key == "path" else v for key, v in properties.items()})


def mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o7777:04o}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "app.ini"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        pytest.param({"content": "a = 1\n"}, b"a = 1\n", id="text"),
        pytest.param({"content": "ä"}, b"\xc3\xa4", id="utf-8"),
        pytest.param({"content_base64": "AP8=\n"}, b"\x00\xff", id="base64"),
        pytest.param({"hidden_content": "key"}, b"key", id="hidden"),
        pytest.param({}, b"", id="empty"),
    ],
)
def test_the_content_is_what_the_template_says(path: Path, given: Any, written: bytes) -> None:
    file = life(path=path, mode="0640", **given)
    file.validate()
    file.create()
    assert (path.read_bytes(), mode(path), file.resource_id) == (written, "0640", str(path))
    assert file.attribute("checksum") == hashlib.sha256(written).hexdigest()
    assert file.attribute("size") == len(written)
    assert os.listdir(path.parent) == ["app.ini"]
    file.check()
    file.delete()
    assert not path.exists()


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        pytest.param({"path": "etc/x"}, "not an absolute path", id="relative"),
        pytest.param({"path": "~/x"}, "not an absolute path", id="home"),
        pytest.param({"path": "/a/../b"}, 'contains ".."', id="dots"),
        pytest.param({"path": "//"}, "root directory", id="root"),
        pytest.param({"path": "/a\nb"}, "control characters", id="newline"),
        pytest.param({"path": "/" + "x" * 201}, "201 bytes", id="long-name"),
        pytest.param({"path": "/a", "mode": 0o644}, "four octal digits", id="mode-as-number"),
        pytest.param({"path": "/a", "mode": 0o4755}, "quotation marks", id="long-mode-as-number"),
        pytest.param(
            {"path": "/a", "mode": "rw-r--r--"}, "four octal digits", id="mode-in-letters"
        ),
        pytest.param({"path": "/a", "content_base64": "%"}, "not base64", id="base64"),
        pytest.param(
            {"path": "/a", "content": "x", "hidden_content": "y"}, "not content and", id="2"
        ),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_made(properties: Any, told: str) -> None:
    with pytest.raises(ZondaError, match=told):
        life(**properties).validate()


def test_an_update_writes_a_new_file_in_its_place(path: Path) -> None:
    file = life(path=path, content="one")
    file.create()
    with open(path) as reader:
        assert file.update({"path": str(path), "content": "two", "mode": "0600"}) == "updated"
        assert reader.read() == "one", "a reader has the old file or the new one, never a mix"
    assert (path.read_text(), mode(path)) == ("two", "0600")


def test_another_mode_keeps_the_file(path: Path) -> None:
    file = life(path=path, content="one")
    file.create()
    before = path.stat().st_ino
    file.update({"path": str(path), "content": "one", "mode": "0400"})
    assert (path.stat().st_ino, mode(path)) == (before, "0400")


def test_another_path_is_another_file(path: Path) -> None:
    file = life(path=path, content="one")
    file.create()
    assert file.update({"path": f"{path.parent}//./app.ini", "content": "one"}) == "updated"
    assert file.update({"path": str(path.parent / "b"), "content": "one"}) == "replaced"
    assert os.listdir(path.parent) == ["b"]


def test_a_file_of_somebody_else_is_left_alone(path: Path) -> None:
    path.write_text("theirs")
    file = life(path=path, content="ours")
    with pytest.raises(ResourceFailure, match="overwrite: true"):
        file.create()
    file.delete()
    assert path.read_text() == "theirs"
    assert os.listdir(path.parent) == ["app.ini"]


def test_a_file_of_somebody_else_is_overwritten_where_that_is_wanted(path: Path) -> None:
    path.write_text("theirs")
    file = life(path=path, content="ours", overwrite=True)
    file.create()
    assert path.read_text() == "ours"
    file.delete()
    assert not path.exists()


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_file_is_never_overwritten(path: Path, make: Any) -> None:
    make(path)
    file = life(path=path, content="ours", overwrite=True)
    with pytest.raises(ResourceFailure, match="not a file"):
        file.create()
    file.delete()
    assert os.path.lexists(path)


def test_a_file_that_appears_while_one_is_written_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def appear(source: Any, target: Any, **rest: Any) -> None:
        path.write_text("theirs")
        link(source, target, **rest)

    monkeypatch.setattr(os, "link", appear)
    with pytest.raises(ResourceFailure, match="could not be written"):
        life(path=path, content="ours").create()
    assert path.read_text() == "theirs"
    assert os.listdir(path.parent) == ["app.ini"]


class Killed(BaseException):
    """The process has gone."""


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("action", ["create", "update"])
def test_whenever_it_is_killed_the_next_attempt_completes_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int, before: bool, action: str
) -> None:
    """Killed before or after every single step: no file is lost, taken over or left behind."""
    file = life(path=path, content="one")
    if action == "update":
        file.create()
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
        for name in ("fsync", "link", "replace", "fchmod"):
            patch.setattr(os, name, watched(getattr(os, name)))
        for name in ("save_data", "save_resource_id"):
            patch.setattr(file.context, name, watched(getattr(file.context, name)))
        # Death leaves what is there: nothing tidies up.
        unlink = Path.unlink
        alive = lambda path, missing_ok=False: count > number or unlink(path, missing_ok)  # noqa: E731
        patch.setattr(Path, "unlink", alive)
        killed = False
        try:
            if action == "create":
                file.create()
            else:
                file.update({"path": str(path), "content": "two", "mode": "0600"})
        except Killed:
            killed = True
    if killed:
        file.action, file.status = action.upper(), "FAILED"
        if action == "create":
            file.create()
        else:
            file.update({"path": str(path), "content": "two", "mode": "0600"})
    assert path.read_text() == ("one" if action == "create" else "two")
    assert os.listdir(path.parent) == ["app.ini"]
    file.delete()
    assert os.listdir(path.parent) == []


def test_drift_is_seen_told_and_put_right(path: Path) -> None:
    file = life(path=path, content="port = 1")
    file.create()
    path.write_text("port = 2")
    path.chmod(0o666)
    live = file.live_state()
    assert live is not None
    assert (live["content"], live["mode"], live["path"]) == ("port = 2", "0666", str(path))
    with pytest.raises(ResourceFailure, match=r"has changed: content, mode \(0644 -> 0666\)"):
        file.check()
    file.update({"path": str(path), "content": "port = 1", "on_delete": "own"})
    file.check()
    assert path.read_text() == "port = 1"


def test_a_file_that_is_gone_is_told_and_made_again(path: Path) -> None:
    file = life(path=path, content="one")
    file.create()
    path.unlink()
    with pytest.raises(NotFound):
        file.live_state()
    with pytest.raises(ResourceFailure, match="is gone"):
        file.check()
    file.update({"path": str(path), "content": "one", "on_delete": "own"})
    file.check()


def test_hidden_content_is_in_no_error(path: Path) -> None:
    file = life(path=path, hidden_content="hunter2")
    file.create()
    path.write_text("hunter3")
    with pytest.raises(ResourceFailure) as told:
        file.check()
    assert "hidden_content" in str(told.value)
    assert "hunter" not in str(told.value)
    assert File.properties_schema["hidden_content"].hidden
    assert "hunter2" not in str(file.saved.data)


@pytest.mark.parametrize(
    ("policy", "remains"),
    [
        pytest.param("own", True, id="own-keeps-what-others-put-there"),
        pytest.param("always", False, id="always-removes-it"),
        pytest.param("keep", True, id="keep"),
    ],
)
def test_deletion_removes_what_it_may(path: Path, policy: str, remains: bool) -> None:
    file = life(path=path, content="one", on_delete=policy)
    file.create()
    other = path.with_name("other")
    other.write_text("by hand")
    other.rename(path)
    file.delete()
    assert path.exists() is remains


def test_a_file_edited_in_place_is_removed_with_the_stack(path: Path) -> None:
    file = life(path=path, content="one")
    file.create()
    path.write_text("two")
    file.delete()
    file.delete()
    assert not path.exists()


def test_a_successor_at_the_same_path_keeps_its_file(path: Path) -> None:
    first, second = life(path=path, content="one"), life(path=path, content="two", overwrite=True)
    first.create()
    second.create()
    first.delete()
    assert path.read_text() == "two"


def test_a_file_is_adopted_as_it_is(path: Path) -> None:
    path.write_text("theirs")
    file = life(path=path, content="ours")
    file.adopt({"resource_id": str(path)})
    assert path.read_text() == "theirs"
    live = file.live_state()
    assert live is not None
    assert live["content"] == "theirs"
    file.delete()
    assert not path.exists()


def test_what_is_missing_is_not_adopted(path: Path) -> None:
    with pytest.raises(NotFound):
        life(path=path).adopt({"resource_id": str(path)})


def test_a_missing_directory_is_told_with_what_helps(tmp_path: Path) -> None:
    with pytest.raises(ResourceFailure, match="Zonda::Files::Directory"):
        life(path=tmp_path / "no" / "x", content="").create()


def test_an_unknown_owner_is_told(path: Path) -> None:
    with pytest.raises(ResourceFailure, match="no user no-such-user"):
        life(path=path, owner="no-such-user").create()
    assert not path.exists()


def test_owner_and_group_by_name_and_number(path: Path) -> None:
    uid, gid = os.getuid(), os.getgid()
    file = life(path=path, owner=str(uid), group=str(gid))
    file.create()
    live = file.live_state()
    assert live is not None
    assert (live["owner"], live["group"]) == (str(uid), str(gid))
    file.check()


def test_faults_are_faults_of_the_template() -> None:
    with pytest.raises(ValidationErrors):
        life(path="/a", colour="red").validate()
