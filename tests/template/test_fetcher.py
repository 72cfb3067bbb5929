"""From files on disk to a bundle."""

from __future__ import annotations

from pathlib import Path

import pytest

from zonda.core.template.bundle import Bundle
from zonda.core.template.fetcher import FetchLimits, bundle_from_files
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


def test_files_are_taken_along_under_the_key_as_written(folder: Path) -> None:
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

    bundle = bundle_from_files(template, [environment], {"p": 1})

    assert bundle.files == {
        "scripts/a.sh": "echo ä\n",
        "./scripts/a.sh": "echo ä\n",
        f"file://{folder}/raw": "/wA=\n",
        "child.yaml": "heat_template_version: rocky\n",
    }
    assert bundle.template_file == str(template)
    assert bundle.environment_files[0][0] == str(environment)
    assert (bundle.parameters, bundle.parameters_win) == ({"p": 1}, True)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param("nope.sh", "there is no file", id="missing"),
        pytest.param("scripts", "there is no file", id="folder"),
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
        bundle_from_files(template, limits=FetchLimits(file_bytes=100, roots=(folder,)))

    (fault,) = caught.value.errors
    assert said in str(fault)
    assert str(fault.place) == f"{template}:3:25"


def test_one_key_cannot_mean_two_files(folder: Path) -> None:
    (folder / "child.yaml").write_text("heat_template_version: pike\n")
    template = write(
        folder / "t.yaml",
        "heat_template_version: rocky\nresources: {a: {type: child.yaml}}\n",
    )
    environment = write(folder / "envs" / "e.yaml", "resource_registry: {My::T: child.yaml}\n")

    with pytest.raises(ValidationErrors, match="means two files"):
        bundle_from_files(template, [environment])


def test_a_text_that_cannot_be_read_is_left_to_the_loader(folder: Path) -> None:
    template = write(folder / "t.yaml", "heat_template_version: [")

    assert bundle_from_files(template).template == "heat_template_version: ["


@pytest.mark.parametrize("name", ["nope.yaml", "scripts", "raw"])
def test_a_named_file_that_cannot_be_read_is_a_usage_error(folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        bundle_from_files(folder / name)


def test_a_bundle_travels_as_json() -> None:
    bundle = Bundle("t", "f", "e", (("a", "b"),), {"p": [1]}, parameters_win=True, files={"x": "y"})

    assert Bundle.from_json(bundle.to_json()) == bundle
