"""Real modules on this machine, directly and by SSH, each through its whole life."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from cases import CASES
from cases.ground import Ground, skip
from lives import find_differing, is_in_sync, live, make_life
from zonda.hooks import NotFound, ResourceFailure

from zonda_ansible.index import load_index

#: Each case runs in one of the places, so that both are tried often; with ``all`` in both.
PLACES = [
    pytest.param(name, place, id=f"{name}-{place}")
    for number, name in enumerate(CASES)
    for index, place in enumerate(("local", "ssh"))
    if os.environ.get("ZONDA_ANSIBLE_LIVES") == "all" or number % 2 == index
]


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_a_module_lives(
    name: str, place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as later:
        ground = Ground(tmp_path, later, lambda: request.getfixturevalue("postgresql"))
        case = CASES[name](ground)
        if case.module not in load_index().modules:
            skip(f"{case.module} is missing: pip install 'zonda-ansible[test]'")
        live(case, request.getfixturevalue("server").settings if place == "ssh" else {})


def test_another_name_is_another_thing(tmp_path: Path) -> None:
    given = {"path": str(tmp_path / "one"), "state": "directory"}
    life = make_life("ansible.builtin.file", given)
    life.create()
    assert life.resource_id == str(tmp_path / "one")
    assert life.update({**given, "path": str(tmp_path / "other")}) == "replaced"


def test_what_is_kept_stays(tmp_path: Path) -> None:
    path = tmp_path / "one"
    given = {"dest": str(path), "content": "x", "ansible_delete": "keep"}
    life = make_life("ansible.builtin.copy", given)
    life.create()
    life.delete()
    assert path.read_text() == "x"


@pytest.mark.parametrize("is_cut_off", [False, True])
@pytest.mark.parametrize("source", ["app.conf", "all", "all/"])
def test_a_folder_that_something_is_copied_into_stays(
    source: str, is_cut_off: bool, tmp_path: Path
) -> None:
    folder, given = tmp_path / "etc", tmp_path / source
    folder.mkdir()
    (folder / "other").write_text("precious")
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "one").write_text("1")
    (tmp_path / "app.conf").write_text("1")
    life = make_life(
        "ansible.builtin.copy",
        {"dest": str(folder), "src": f"{given}/" if source.endswith("/") else str(given)},
    )
    life.create()
    if is_cut_off:
        life.context.saved.data.clear()
    assert bool(life.instance().describe_remains()) == given.is_dir()
    life.delete()
    assert (folder / "other").read_text() == "precious"
    assert (folder / "app.conf").exists() == (is_cut_off and given.is_file())


def test_a_file_that_was_there_survives_a_creation_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "sudoers"
    path.write_text("precious")
    given = {"dest": str(path), "content": "bad", "validate": "false %s"}
    life = make_life("ansible.builtin.copy", given)
    with pytest.raises(ResourceFailure, match="failed to validate"):
        life.create()
    life.delete()
    assert path.read_text() == "precious"


def test_a_file_that_is_touched_is_in_sync(tmp_path: Path) -> None:
    path = tmp_path / "one"
    life = make_life("ansible.builtin.file", {"path": str(path), "state": "touch"})
    life.create()
    assert is_in_sync(life)
    path.unlink()
    assert not is_in_sync(life)


def test_what_the_module_returns_is_an_attribute(tmp_path: Path) -> None:
    life = make_life("ansible.builtin.copy", {"dest": str(tmp_path / "one"), "content": "four"})
    life.create()
    assert life.attribute("size") == 4
    assert life.attribute("ansible_result")["dest"] == str(tmp_path / "one")
    assert is_in_sync(life)


def test_drift_is_told_by_property_where_the_module_tells_it(tmp_path: Path) -> None:
    path = tmp_path / "one"
    given = {"dest": str(path), "content": "one\n", "mode": "0600"}
    life = make_life("ansible.builtin.copy", given)
    life.create()
    path.write_text("two\n")
    assert find_differing(life) == {"content": "two\n"}
    path.write_text("one\n")
    path.chmod(0o644)
    assert find_differing(life) == {"mode": "0644"}
    path.unlink()
    with pytest.raises(NotFound):
        life.live_state()


@pytest.mark.parametrize(
    ("module", "given"),
    [
        pytest.param("copy", {"content": "one", "mode": "0600"}, id="action"),
        pytest.param("file", {"state": "file", "mode": "0600"}, id="module"),
    ],
)
def test_what_was_there_before_is_told(module: str, given: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_text("one")
    path.chmod(0o644)
    name = "path" if module == "file" else "dest"
    for expected in ("was changed", "as the template says"):
        life = make_life(f"ansible.builtin.{module}", {name: str(path), **given})
        life.create()
        told = life.instance().describe_outcome()
        assert "was there already" in told
        assert expected in told
    path.unlink()
    life = make_life("ansible.builtin.copy", {"dest": str(path), "content": "one"})
    life.create()
    assert life.instance().describe_outcome() == ""
