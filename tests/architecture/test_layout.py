"""The repository's shape: top level, links, module size, nothing of one machine, the README."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("builtin_resources", "core", "examples", "hooks", "workflows")

TOP_LEVEL = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "bench",
    "builtin_resources",
    "contrib",
    "core",
    "docs",
    "examples",
    "hooks",
    "pyproject.toml",
    "src",
    "tests",
    "workflows",
}

MOST_MODULES = 14  # of a folder, its ``__init__`` aside; 12 is what to aim at
LONGEST_MODULE = 500
LONGEST_TEST = 700  # tables of cases: long, and still one idea

#: Absolute paths that exist on one machine only.
MACHINE_PATH = re.compile(r"(?<![\w.}-])/(?:work|root|farm|home/\w+|tmp/(?:zv|design))/")


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """Every file of the repository, those of a change not yet committed included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def test_the_top_level_is_as_agreed(tracked: list[Path]) -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked} == TOP_LEVEL


def test_the_package_folder_holds_its_face_and_a_link_per_room() -> None:
    package = ROOT / "src" / "zonda"
    entries = {path.name: path for path in package.iterdir() if path.name != "__pycache__"}
    assert set(entries) == {"__init__.py", "__main__.py", "py.typed", *ROOMS}
    links = {
        name: path.readlink().as_posix() for name, path in entries.items() if path.is_symlink()
    }
    assert links == {room: f"../../{room}" for room in ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_a_link_leads_to_its_room(room: str) -> None:
    assert (ROOT / "src" / "zonda" / room).resolve() == ROOT / room


def test_no_module_is_longer_than_one_idea_needs(tracked: list[Path]) -> None:
    found = {}
    for path in tracked:
        name = path.relative_to(ROOT)
        if path.suffix == ".py":
            limit = LONGEST_TEST if "tests" in name.parts else LONGEST_MODULE
            length = len(path.read_text().splitlines())
            if length > limit:
                found[str(name)] = length
    assert found == {}


def test_no_folder_has_more_modules_than_a_reader_can_keep_in_mind(tracked: list[Path]) -> None:
    modules = Counter(
        str(path.parent.relative_to(ROOT))
        for path in tracked
        if path.suffix == ".py"
        and path.name != "__init__.py"
        and path.relative_to(ROOT).parts[0] in ROOMS
        and "versions" not in path.parts  # one module a migration
    )
    assert {name: number for name, number in modules.items() if number > MOST_MODULES} == {}


def test_no_file_names_a_path_of_one_machine(tracked: list[Path]) -> None:
    found = []
    for path in tracked:
        if path.is_symlink() or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if MACHINE_PATH.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


def test_the_machine_path_pattern_knows_what_it_looks_for() -> None:
    assert MACHINE_PATH.search("see " + "/".join(["", "root", "x"]))
    assert MACHINE_PATH.search("/".join(["", "work", "main"]))
    assert not MACHINE_PATH.search("https://example.org/work/x")
    assert not MACHINE_PATH.search("usr/root/x")


def test_the_readme_has_two_shell_blocks_of_one_line_each() -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    shell = [text.splitlines() for language, text in blocks if language == "sh"]
    assert [len(lines) for lines in shell] == [1, 1]
    assert all(language for language, _ in blocks), "every block names its language"


def anchors(page: Path) -> set[str]:
    """The anchors that code hosts give the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def test_links_between_the_documents_lead_somewhere(tracked: list[Path]) -> None:
    dead = []
    for path in tracked:
        if path.suffix != ".md" or "conformance" in path.parts:
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
            name, _, anchor = target.partition("#")
            page = path.parent / name if name else path
            if "://" in target:
                continue
            if not page.exists() or (anchor and anchor not in anchors(page)):
                dead.append(f"{path.relative_to(ROOT)}: {target}")
    assert dead == []


DOORS = ("tutorial", "how-to", "reference", "explanation")


@pytest.mark.parametrize("door", DOORS)
def test_every_page_is_listed_by_the_index_of_its_folder(door: str) -> None:
    folder = ROOT / "docs" / door
    index = folder / "index.md"
    listed = re.findall(r"^- \[.*?\]\(([^)]+\.md)\)", index.read_text(), re.M)
    assert sorted(listed) == sorted({*listed})
    pages = {path.name for path in folder.glob("*.md")} - {index.name}
    assert {name for name in listed if "/" not in name} == pages


def test_the_documents_have_four_doors_and_a_page_for_contributors() -> None:
    names = {path.name for path in (ROOT / "docs").iterdir()}
    assert names == {"index.md", "contributing.md", *DOORS}


def test_nothing_is_left_for_later(tracked: list[Path]) -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX)\b")
    found = [
        str(path.relative_to(ROOT))
        for path in tracked
        if path.suffix == ".py" and path != Path(__file__) and words.search(path.read_text())
    ]
    assert found == []
