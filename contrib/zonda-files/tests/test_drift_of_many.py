"""A thousand files: what somebody has changed by hand is found, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HEAD = "heat_template_version: 2018-08-31\nresources:\n"
#: Name -> which property of it is changed.
CHANGED = {
    "f17": "content",
    "f99": "content",
    "f200": "mode",
    "f404": "content",
    "f512": "mode",
    "f777": "content",
    "f990": "mode",
}
FAR = ("f300", "f301", "f302")


def template(folder: Path) -> str:
    lines = [
        f"  {name}: {{type: Zonda::Files::File, properties: {{path: {path(folder, name)}, "
        f'content: "file {name}", mode: "0640"}}}}'
        for name in (f"f{number}" for number in range(1000))
    ]
    return HEAD + "\n".join(lines) + "\n"


def path(folder: Path, name: str) -> Path:
    return folder / ("far" if name in FAR else "near") / name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("near", "far"):
        (tmp_path / "files" / name).mkdir(parents=True)
    return tmp_path / "files"


def stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {file.name: file.stat() for file in (folder / "near").iterdir()}
    return {name: (it.st_ino, it.st_mtime_ns, it.st_ctime_ns) for name, it in found.items()}


def test_seven_of_a_thousand_files_are_found_and_put_right(zonda_stack: Any, folder: Path) -> None:
    assert zonda_stack.create(template(folder)).state == "CREATE_COMPLETE"
    zonda_stack.schedule_drift("15m")
    assert zonda_stack.pass_time(960) == {}, "the schedule fires, and all is well"
    for name, what in CHANGED.items():
        file = path(folder, name)
        if what == "mode":
            file.chmod(0o666)
        else:
            file.write_text("changed by hand")
    # A link that leads to itself: what is behind it cannot be looked at.
    (folder / "far").rename(folder / "hidden")
    (folder / "far").symlink_to(folder / "far")

    before = stamps(folder)
    found = zonda_stack.pass_time(900)
    assert stamps(folder) == before, "a check changes nothing"
    assert found is not None
    assert {name: it.verdict for name, it in found.items()} == {
        **dict.fromkeys(CHANGED, "DRIFTED"),
        **dict.fromkeys(FAR, "UNKNOWN"),
    }
    assert {name: [each.path for each in found[name].differences] for name in CHANGED} == {
        name: [(what,)] for name, what in CHANGED.items()
    }

    assert zonda_stack.repair().state == "UPDATE_COMPLETE"
    after = stamps(folder)
    assert {name for name in after if after[name] != before[name]} == set(CHANGED)
    (folder / "far").unlink()
    (folder / "hidden").rename(folder / "far")
    assert zonda_stack.drift() == {}


def test_a_mode_that_was_left_at_its_default_drifts(zonda_stack: Any, tmp_path: Path) -> None:
    template = f"""
heat_template_version: 2018-08-31
resources:
  file: {{type: "Zonda::Files::File", properties: {{path: {tmp_path}/a}}}}
"""
    assert zonda_stack.create(template).state == "CREATE_COMPLETE"
    assert zonda_stack.drift() == {}
    (tmp_path / "a").chmod(0o600)
    (mode,) = zonda_stack.drift()["file"].differences
    assert (mode.path, mode.template, mode.live) == (("mode",), "0644", "0600")
    zonda_stack.repair()
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644
