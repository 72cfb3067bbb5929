"""From files on disk to a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zonda.core.template.files.reader import FetchLimits, load_bundle
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import UsageError, ValidationErrors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "a.sh").write_text("echo ä\n", encoding="utf-8")
    (tmp_path / "raw").write_bytes(b"\xff\x00")
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "child.yaml").write_text("heat_template_version: rocky\n")
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_files_are_taken_along_by_their_urls(folder: Path) -> None:
    template = write(
        folder / "t.yaml",
        "heat_template_version: rocky\n"
        "outputs:\n"
        "  a: {value: {get_file: scripts/a.sh}}\n"
        "  b: {value: [{get_file: ./scripts/a.sh}, {get_file: {get_param: x}}]}\n"
        f"  c: {{value: {{get_file: 'file://{folder}/raw'}}}}\n"
        "  d: {value: {get_file: 5, other: x}}\n",
    )
    environment = write(
        folder / "envs" / "e.yaml",
        "resource_registry:\n"
        "  My::T: child.yaml\n"
        "  My::U: OS::Heat::None\n"
        "  resources: {r: {My::V: [child.yaml], hooks: pre-create}}\n",
    )

    bundle = load_bundle(template, [environment], {"p": 1})

    url = folder.as_uri()
    assert bundle.files == {
        f"{url}/scripts/a.sh": "echo ä\n",
        f"{url}/raw": "/wA=\n",
        f"{url}/envs/child.yaml": "heat_template_version: rocky\n",
    }
    assert bundle.links == {
        str(template): {
            "scripts/a.sh": f"{url}/scripts/a.sh",
            "./scripts/a.sh": f"{url}/scripts/a.sh",
            f"file://{folder}/raw": f"{url}/raw",
        },
        str(environment): {"child.yaml": f"{url}/envs/child.yaml"},
    }
    assert bundle.files_of(str(template))["./scripts/a.sh"] == "echo ä\n"
    assert bundle.template_file == str(template)
    assert bundle.environment_files[0][0] == str(environment)
    assert (bundle.parameters, bundle.parameters_win) == ({"p": 1}, True)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param("nope.sh", "there is no file", id="missing"),
        pytest.param("scripts", "it is a folder", id="folder"),
        pytest.param("http://host/x", "on the network", id="network"),
        pytest.param("../outside", "lies outside", id="outside"),
        pytest.param("/etc/hostname", "lies outside", id="absolute"),
        pytest.param("link", "lies outside", id="link"),
        pytest.param("big", "too large", id="size"),
        pytest.param("a\\0b", "", id="no-name"),
    ],
)
def test_a_file_that_cannot_be_taken_along_is_told_with_its_place(
    folder: Path, key: str, said: str
) -> None:
    (folder / "big").write_text("x" * 101)
    (folder / "link").symlink_to("/etc/hostname")
    template = write(
        folder / "t.yaml",
        f'heat_template_version: rocky\noutputs:\n  a: {{value: {{get_file: "{key}"}}}}\n',
    )

    with pytest.raises(ValidationErrors) as caught:
        load_bundle(template, limits=FetchLimits(file_bytes=100, roots=(folder,)))

    (fault,) = caught.value.errors
    assert said in str(fault)
    assert str(fault.place) == f"{template}:3:25"


def test_one_key_may_mean_two_files_in_two_folders(folder: Path) -> None:
    (folder / "child.yaml").write_text("heat_template_version: pike\n")
    template = write(
        folder / "t.yaml",
        "heat_template_version: rocky\nresources: {a: {type: child.yaml}}\n",
    )
    environment = write(folder / "envs" / "e.yaml", "resource_registry: {My::T: child.yaml}\n")

    bundle = load_bundle(template, [environment])

    assert bundle.files_of(str(template))["child.yaml"] == "heat_template_version: pike\n"
    assert bundle.files_of(str(environment))["child.yaml"] == "heat_template_version: rocky\n"


def test_nested_templates_bring_what_they_name(folder: Path) -> None:
    nested = folder / "nested"
    nested.mkdir()
    write(
        nested / "child.yaml",
        "resources: {g: {type: Group, properties: {of: [{type: deeper.yaml}]}}}\n"
        "outputs: {o: {value: {get_file: note}}}\n",
    )
    write(nested / "deeper.yaml", "resources: {back: {type: child.yaml}}\n")
    write(nested / "note", "inner")
    write(folder / "note", "outer")
    template = write(
        folder / "t.yaml",
        "resources: {a: {type: nested/child.yaml}}\noutputs: {o: {value: {get_file: note}}}\n",
    )

    bundle = load_bundle(template)

    url = folder.as_uri()
    assert sorted(bundle.files) == [
        f"{url}/nested/child.yaml",
        f"{url}/nested/deeper.yaml",
        f"{url}/nested/note",
        f"{url}/note",
    ]
    assert bundle.files_of(str(template))["note"] == "outer"
    assert bundle.files_of(f"{url}/nested/child.yaml")["note"] == "inner"


def test_a_fault_in_a_nested_template_stands_there(folder: Path) -> None:
    write(folder / "envs" / "child.yaml", "outputs:\n  o: {value: {get_file: gone}}\n")
    environment = write(folder / "envs" / "e.yaml", "resource_registry: {My::T: child.yaml}\n")
    template = write(folder / "t.yaml", "heat_template_version: rocky\n")

    with pytest.raises(ValidationErrors) as caught:
        load_bundle(template, [environment])

    [fault] = caught.value.errors
    assert str(fault.place) == f"{folder}/envs/child.yaml:2:25"


def test_a_registry_may_name_its_base(folder: Path) -> None:
    (folder / "lib").mkdir()
    write(folder / "lib" / "child.yaml", "heat_template_version: pike\n")
    environment = write(
        folder / "envs" / "e.yaml",
        "resource_registry:\n  base_url: ../lib\n  My::T: child.yaml\n",
    )

    bundle = load_bundle(write(folder / "t.yaml", ""), [environment])

    assert list(bundle.files) == [f"{folder.as_uri()}/lib/child.yaml"]


def test_a_link_is_followed_but_what_it_names_stands_beside_the_link(folder: Path) -> None:
    (folder / "far").mkdir()
    write(folder / "far" / "child.yaml", "outputs: {o: {value: {get_file: raw.txt}}}\n")
    write(folder / "raw.txt", "beside the link")
    (folder / "child.yaml").symlink_to(folder / "far" / "child.yaml")
    template = write(folder / "t.yaml", "resources: {a: {type: child.yaml}}\n")

    assert f"{folder.as_uri()}/raw.txt" in load_bundle(template).files


def test_get_file_reads_the_file_that_its_own_template_means(folder: Path, loaded: Any) -> None:
    template = write(folder / "t.yaml", "outputs: {o: {value: {get_file: scripts/a.sh}}}\n")
    bundle = load_bundle(template)
    text = {"files": bundle.files, "links": {"t.yaml": bundle.links[str(template)]}}

    definition = loaded(bundle.template, **text)

    assert definition.outputs["o"].resolve(definition.scope(None)) == "echo ä\n"


def test_a_text_that_cannot_be_read_is_left_to_the_loader(folder: Path) -> None:
    template = write(folder / "t.yaml", "heat_template_version: [")

    assert load_bundle(template).template == "heat_template_version: ["


@pytest.mark.parametrize("name", ["nope.yaml", "scripts", "raw"])
def test_a_named_file_that_cannot_be_read_is_a_usage_error(folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        load_bundle(folder / name)


def test_a_bundle_travels_as_json() -> None:
    files = {"x": "y"}
    bundle = Bundle("t", "f", "e", (("a", "b"),), {"p": [1]}, True, files, {"f": {"z": "x"}})

    assert Bundle.from_json(bundle.to_json()) == bundle
