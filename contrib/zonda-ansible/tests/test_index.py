"""The index: what is installed, by the names of files alone, kept until that changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zonda_ansible import index
from zonda_ansible.index import find_cache_folder, load_index


def test_modules_of_ansible_core_are_there_and_directives_are_not() -> None:
    found = load_index()
    assert {"ansible.builtin.user", "ansible.builtin.file", "ansible.builtin.template"} <= {
        *found.modules
    }
    assert not index.DIRECTIVES & found.modules.keys()
    assert found.get_version("ansible.builtin.user")[0].isdigit()


def test_a_collection_is_indexed_with_its_version(collection: Path) -> None:
    modules = collection / "plugins" / "modules"
    (modules / "sub").mkdir()
    for name in ("one.py", "one.yml", "_old.py", "sub/two.py", "__init__.py", "three.ps1", "x.txt"):
        (modules / name).write_text("")
    found = load_index()
    ours = {name: Path(file).name for name, file in found.modules.items() if "acme." in name}
    assert ours == {
        "acme.tools.one": "one.py",
        "acme.tools.old": "_old.py",
        "acme.tools.sub.two": "two.py",
        "acme.tools.three": "three.ps1",
    }
    assert found.get_version("acme.tools.sub.two") == "1.2.3"


def test_another_version_of_a_collection_is_another_set(collection: Path) -> None:
    before = load_index()
    assert load_index().fingerprint == before.fingerprint
    manifest = {"collection_info": {"version": "2.0.0-longer"}}
    (collection / "MANIFEST.json").write_text(json.dumps(manifest))
    after = load_index()
    assert after.fingerprint != before.fingerprint
    assert after.versions["acme.tools"] == "2.0.0-longer"


def test_what_is_kept_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_index()
    monkeypatch.setattr(index, "_build_index", None)
    assert load_index() == before


def test_a_kept_file_that_is_broken_is_made_anew() -> None:
    before = load_index()
    (find_cache_folder() / f"index-{before.fingerprint}.json").write_text('{"versions":')
    assert load_index() == before


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "ansible.builtin.user" in load_index().modules


def test_the_configured_path_of_collections_is_read(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (collection / "plugins" / "modules" / "one.py").write_text("")
    (tmp_path / "my.cfg").write_text(f"[defaults]\ncollections_path = {tmp_path}\n")
    monkeypatch.delenv("ANSIBLE_COLLECTIONS_PATH")
    monkeypatch.setenv("ANSIBLE_CONFIG", str(tmp_path / "my.cfg"))
    assert "acme.tools.one" in load_index().modules
