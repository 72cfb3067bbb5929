"""``type new`` and ``type schema``: the files that they write work unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Zonda

ROOT = Path(__file__).resolve().parents[3]


def test_a_new_type_passes_its_check_and_its_template_validates(
    zonda: Zonda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = zonda("type", "new", "Acme::BlockDisk")
    assert "acme-block-disk/acme-block-disk.yaml" in said.out
    folder = tmp_path / "acme-block-disk"
    zonda("plugin", "check", str(folder / "acme-block-disk.yaml"))
    template, environment = folder / "template.yaml", folder / "environment.yaml"
    found = zonda("template", "validate", "-f", "json", str(template), "-e", str(environment))
    assert found.data["resources"] == {"thing": "Acme::BlockDisk"}


def test_a_manifest_is_shown_by_its_file(zonda: Zonda, tmp_path: Path) -> None:
    file = ROOT / "examples/workflow-type/disk.yaml"
    shown = zonda("resource", "type", "show", file, "-f", "json").data
    assert shown["resource_type"] == "Acme::Disk"
    assert shown["properties"]["pool"]["update_allowed"] is False
    assert shown["properties"]["passphrase"]["hidden"] is True
    made = yaml.safe_load(zonda("resource", "type", "template", file, "--example").out)
    assert made["resources"]["example"]["type"] == "Acme::Disk"
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(file.read_text().replace("type: map", "type: mapp"))
    said = zonda("resource", "type", "show", wrong, code=1).err
    assert "wrong.yaml:" in said
    assert "Did you mean map?" in said


def test_a_type_of_a_folder_is_listed_shown_and_documented(zonda: Zonda, tmp_path: Path) -> None:
    (tmp_path / "home" / "types").mkdir(parents=True)
    file = tmp_path / "home" / "types" / "disk.yaml"
    file.write_text((ROOT / "examples/workflow-type/disk.yaml").read_text())
    assert "Acme::Disk" in zonda("resource", "type", "list", "--filter", "acme").out
    shown = zonda("resource", "type", "show", "Acme::Disk", "-f", "json").data
    assert shown["actions"] == ["update", "check", "live state"]
    assert shown["origin"] == str(file)
    zonda("resource", "type", "docs", str(file), "-o", str(tmp_path / "docs"))
    page = (tmp_path / "docs" / "Acme-Disk.md").read_text()
    assert "Where it lies. A disk cannot move." in page
    assert "Acme::Disk" in zonda("plugin", "list").out


@pytest.mark.parametrize("name", ["disk", "OS::Disk", "Zonda::Disk", "acme::disk", "Acme::"])
def test_a_name_that_is_none_of_ones_own_is_refused(zonda: Zonda, name: str) -> None:
    assert "Acme::Disk" in zonda("type", "new", name, code=2).err


def test_what_is_there_is_not_written_over(zonda: Zonda, tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "file").touch()
    said = zonda("type", "new", "Acme::Disk", "--folder", str(tmp_path / "it"), code=2)
    assert "not empty" in said.err


def test_the_schema_accepts_the_example(zonda: Zonda) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(zonda("type", "schema").out)
    manifest = yaml.safe_load((ROOT / "examples/workflow-type/disk.yaml").read_text())
    jsonschema.validate(manifest, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**manifest, "propertes": {}}, schema)


def test_a_schema_that_is_not_there(zonda: Zonda) -> None:
    assert "zonda_type" in zonda("type", "schema", "other", code=1).err
