"""Files of this machine that documents name."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from zonda.core.template.files import local_files
from zonda.core.template.files.local_files import Refused, read_file
from zonda.core.template.files.reader import FetchLimits, load_bundle
from zonda.hooks.errors import ValidationErrors


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a key, and beside it the folder of a template."""
    (tmp_path / "home" / "secrets").mkdir(parents=True)
    (tmp_path / "home" / "zonda.key").write_text("the key")
    (tmp_path / "home" / "secrets" / "token").write_text("the token")
    (tmp_path / "elsewhere.key").write_text("another key")
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "plain").write_text("plain text")
    return tmp_path / "home"


def linked(target: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / "link").symlink_to(target)
        return folder / "link"

    return make


def hard_linked(folder: Path) -> Path:
    os.link(folder.parent / "home" / "secrets" / "token", folder / "another-name")
    return folder / "another-name"


def linked_folder(folder: Path) -> Path:
    (folder / "link").symlink_to(folder.parent / "home")
    return folder / "link" / "zonda.key"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def listening(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
    return folder / "socket"


def named(name: str) -> Callable[[Path], Path]:
    return lambda folder: folder / name


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(named("/proc/self/environ"), "nothing below /proc", id="proc"),
        pytest.param(named("/sys/kernel/notes"), "nothing below /proc, /sys", id="sys"),
        pytest.param(named("/dev/null"), "nothing below /proc, /sys, /dev", id="device"),
        pytest.param(linked("/proc/self/environ"), "nothing below /proc", id="link-to-proc"),
        pytest.param(linked("/dev/stdin"), "nothing below|no such", id="link-to-dev"),
        pytest.param(named("../home/zonda.key"), "belongs to zonda", id="home"),
        pytest.param(named("below/../../home/secrets/token"), "belongs to zonda", id="below-home"),
        pytest.param(linked("../home/zonda.key"), "belongs to zonda", id="link-to-home"),
        pytest.param(linked_folder, "belongs to zonda", id="link-to-a-folder"),
        pytest.param(hard_linked, "another name of what is read for no", id="hard-link"),
        pytest.param(named("../elsewhere.key"), "belongs to zonda", id="key-file"),
        pytest.param(pipe, "it is a pipe", id="pipe"),
        pytest.param(listening, "it is no plain file", id="socket"),
        pytest.param(named("below"), "it is a folder", id="folder"),
    ],
)
def test_what_belongs_to_zonda_the_machine_or_nobody_is_not_read(
    home: Path, make: Callable[[Path], Path], said: str
) -> None:
    path = make(home.parent / "folder")
    with pytest.raises(Refused, match=said):
        read_file(path, 1000, (), (home, home.parent / "elsewhere.key"))


def test_any_other_file_is_read_as_far_as_wanted(home: Path) -> None:
    assert read_file(home.parent / "folder" / "plain", 5, (), (home,)) == b"plain"


def test_roots_confine_what_is_read(home: Path) -> None:
    folder = home.parent / "folder"
    (folder / "link").symlink_to(home.parent / "elsewhere.key")
    assert read_file(folder / "plain", 5, (folder,), ()) == b"plain"
    for path in (folder / "link", folder / ".." / "elsewhere.key"):
        with pytest.raises(Refused, match=r"lies outside of .*/folder \(setting file_roots\)"):
            read_file(path, 5, (folder,), ())


def test_a_path_that_leads_elsewhere_while_it_is_read_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody puts a link to the key in the place of the folder, after it was looked at."""
    folder = home.parent / "folder"
    (folder / "below" / "zonda.key").write_text("harmless")
    really_open = os.open

    def swapped(path: Path, flags: int) -> int:
        (folder / "below").rename(folder / "aside")
        (folder / "below").symlink_to(home)
        return really_open(path, flags)

    monkeypatch.setattr(local_files.os, "open", swapped)
    with pytest.raises(Refused, match="leads elsewhere while it is read"):
        read_file(folder / "below" / "zonda.key", 1000, (), (home,))


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = home.parent / "folder" / "plain"
    really_open = os.open

    def swapped(path: Path, flags: int) -> int:
        plain.unlink()
        os.mkfifo(plain)
        return really_open(path, flags)

    monkeypatch.setattr(local_files.os, "open", swapped)
    with pytest.raises(Refused, match="it is a pipe"):
        read_file(plain, 1000, (), (home,))


KEY = "{home}/zonda.key"
WAYS = {
    "get_file": ("outputs: {{o: {{value: {{get_file: '{key}'}}}}}}", ""),
    "address": ("outputs: {{o: {{value: {{get_file: 'file://{key}'}}}}}}", ""),
    "escaped": ("outputs: {{o: {{value: {{get_file: 'file://{escaped}'}}}}}}", ""),
    "type": ("resources: {{a: {{type: '{home}/t.yaml'}}}}", ""),
    "registry": ("", "resource_registry: {{'X::Y': '{home}/t.yaml'}}"),
    "base-url": ("", "resource_registry: {{base_url: 'file://{home}', 'X::Y': t.yaml}}"),
    "nested": ("resources: {{a: {{type: nested.yaml}}}}", ""),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_naming_a_file_leads_into_the_home(home: Path, way: str) -> None:
    names = {
        "home": home,
        "key": home / "zonda.key",
        "escaped": f"{home.parent}/%68ome/zonda.key",
    }
    template_text, environment_text = (text.format(**names) for text in WAYS[way])
    folder, head = home.parent / "folder", "heat_template_version: 2018-08-31\n"
    (home / "t.yaml").write_text(head)
    (folder / "nested.yaml").write_text(f"{head}{WAYS['get_file'][0].format(**names)}\n")
    (folder / "t.yaml").write_text(head + template_text)
    (folder / "e.yaml").write_text(environment_text)

    with pytest.raises(ValidationErrors) as caught:
        load_bundle(folder / "t.yaml", [folder / "e.yaml"], limits=FetchLimits(own=(home,)))

    (fault,) = caught.value.errors
    assert fault.code == "ZON155"
    assert "belongs to zonda" in str(fault)
    assert fault.place is not None


def test_a_value_that_happens_to_name_a_file_of_zonda_is_left_alone(home: Path) -> None:
    folder = home.parent / "folder"
    (home / "t.yaml").write_text("heat_template_version: 2018-08-31\n")
    (folder / "t.yaml").write_text(
        "heat_template_version: 2018-08-31\n"
        f"parameters: {{p: {{type: string, default: {home}/t.yaml}}}}\n"
        "resources: {a: {type: {get_param: p}}}\n"
    )
    bundle = load_bundle(folder / "t.yaml", limits=FetchLimits(own=(home,)))
    assert bundle.files == {}


def test_files_from_outside_of_the_templates_folder_are_told(home: Path) -> None:
    folder = home.parent / "folder"
    (folder / "link").symlink_to("../elsewhere.key")
    (home.parent / "other").mkdir()
    (home.parent / "other" / "x").write_text("x")
    names = ("plain", "link", "../other/x", "below/../plain")
    values = ", ".join(f"{{get_file: {name}}}" for name in names)
    (folder / "t.yaml").write_text(
        f"heat_template_version: 2018-08-31\noutputs: {{o: {{value: [{values}]}}}}\n"
    )
    bundle = load_bundle(folder / "t.yaml")
    assert bundle.outside == (f"{home.parent}/elsewhere.key", f"{home.parent}/other/x")
