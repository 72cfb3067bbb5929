"""Whole templates: what depends on what, what a check tells, what nobody may see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  where: {type: string}
  port: {type: number, default: 80}
  token: {type: string, hidden: true, default: hunter2-hunter2}
resources:
  folder:
    type: Zonda::Files::Directory
    properties: {path: {get_param: where}, mode: "0750"}
  settings:
    type: Zonda::Files::File
    properties:
      path: {list_join: [/, [{get_resource: folder}, app.ini]]}
      mode: "0600"
      content:
        str_replace:
          template: "port = PORT, token = TOKEN"
          params: {PORT: {get_param: port}, TOKEN: {get_param: token}}
outputs:
  checksum: {value: {get_attr: [settings, checksum]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "app"


def test_a_stack_of_files_through_its_life(zonda_stack: Any, folder: Path) -> None:
    assert zonda_stack.create(TEMPLATE, where=str(folder)).state == "CREATE_COMPLETE"
    settings = folder / "app.ini"
    assert settings.read_text() == "port = 80, token = hunter2-hunter2"
    settings.chmod(0o644)
    folder.chmod(0o777)
    stack = zonda_stack.check()
    assert stack.state == "CHECK_FAILED"
    assert "mode (0600 -> 0644)" in zonda_stack.resources["settings"].status_reason
    assert "mode (0750 -> 0777)" in zonda_stack.resources["folder"].status_reason
    ids = {name: view.id for name, view in zonda_stack.resources.items()}
    assert zonda_stack.update(TEMPLATE, where=str(folder)).state == "UPDATE_COMPLETE"
    assert {name: view.id for name, view in zonda_stack.resources.items()} == ids, "in place"
    assert zonda_stack.check().state == "CHECK_COMPLETE"
    changed = zonda_stack.update(TEMPLATE, where=str(folder), port=8080)
    assert (changed.state, settings.read_text()[:11]) == ("UPDATE_COMPLETE", "port = 8080")
    assert zonda_stack.delete().state == "DELETE_COMPLETE"
    assert not folder.exists()


def test_another_folder_takes_the_file_along(zonda_stack: Any, folder: Path) -> None:
    zonda_stack.create(TEMPLATE, where=str(folder))
    other = folder.with_name("other")
    assert zonda_stack.update(TEMPLATE, where=str(other)).state == "UPDATE_COMPLETE"
    assert (other / "app.ini").exists()
    assert not folder.exists()


def test_what_is_hidden_is_seen_nowhere(zonda_stack: Any, folder: Path) -> None:
    zonda_stack.create(TEMPLATE, where=str(folder))
    (folder / "app.ini").write_text("token = hunter2-hunter2?")
    stack = zonda_stack.check()
    shown = repr([stack, zonda_stack.resources, zonda_stack.outputs])
    assert zonda_stack.resources["settings"].properties["content"] == "(hidden)"
    assert zonda_stack.outputs["checksum"] == "(hidden)"
    assert "hunter2" not in shown


def test_faults_of_a_template_are_told_at_once_with_their_places(zonda_stack: Any) -> None:
    faulty = TEMPLATE.replace("{get_param: where}", "here").replace(
        'mode: "0600"', "content_base64: x"
    )
    with pytest.raises(Exception, match="Property error") as told:
        zonda_stack.create(faulty, where="/x")
    places = {error.at[-1] for error in told.value.errors}
    assert places == {"path", "content_base64"}
    assert all(error.place is not None for error in told.value.errors)


def test_what_a_failed_command_has_made_is_removed_before_the_next_one_makes_it(
    zonda_stack: Any, tmp_path: Path
) -> None:
    text = f"""
heat_template_version: 2018-08-31
parameters: {{code: {{type: number}}}}
resources:
  database:
    type: Zonda::Files::Command
    properties:
      create:
        str_replace:
          template: mkdir -p data && exit CODE
          params: {{CODE: {{get_param: code}}}}
      delete: rmdir data
      cwd: {tmp_path}
"""
    assert zonda_stack.create(text, code=1).state == "CREATE_FAILED"
    assert zonda_stack.update(text, code=0).state == "UPDATE_COMPLETE"
    assert (tmp_path / "data").is_dir()
