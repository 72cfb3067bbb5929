"""The package: found by its entry point, on zonda.hooks alone, documented, with examples."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from zonda.hooks import properties

from zonda_files import plugin

PACKAGE = Path(__file__).resolve().parent.parent
TYPES = plugin.zonda_resource_types()


def test_the_entry_point_leads_to_the_types() -> None:
    [found] = [entry for entry in entry_points(group="zonda") if entry.name == "files"]
    assert found.load() is plugin


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sorted((PACKAGE / "src").rglob("*.py")), ids=lambda p: p.name)
def test_nothing_of_zonda_is_imported_but_its_hooks(path: Path) -> None:
    ours = {name for name in imported(path) if name.split(".")[0] == "zonda"}
    assert all(name.startswith("zonda.hooks") for name in ours)


def undescribed(schemata: Mapping[str, properties.Schema]) -> Iterator[str]:
    for key, schema in schemata.items():
        if not schema.description:
            yield key
        if isinstance(schema.schema, Mapping):
            yield from undescribed(schema.schema)


@pytest.mark.parametrize(("name", "cls"), TYPES.items(), ids=TYPES)
def test_everything_has_a_description(name: str, cls: Any) -> None:
    assert list(undescribed(cls.properties_schema)) == []
    assert [key for key, schema in cls.attributes_schema.items() if not schema.description] == []


def page(name: str) -> Path:
    return PACKAGE / "docs" / f"{name.rsplit('::', 1)[1].lower()}.md"


def reference(cls: Any) -> str:
    """The tables of a type's page. ``python tests/test_package.py`` writes them."""
    rows = ["| property | type | default | meaning |", "|---|---|---|---|"]
    for key, schema in cls.properties_schema.items():
        default = "required" if schema.required else f"`{schema.default}`"
        default = "" if schema.default is None and not schema.required else default
        rows.append(f"| `{key}` | {schema.type.lower()} | {default} | {schema.description} |")
    rows += ["", "| attribute | meaning |", "|---|---|"]
    rows += [f"| `{key}` | {found.description} |" for key, found in cls.attributes_schema.items()]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize(("name", "cls"), TYPES.items(), ids=TYPES)
def test_a_type_has_a_page_that_is_in_step(name: str, cls: Any) -> None:
    text = page(name).read_text()
    assert text.startswith(f"# {name}\n")
    assert reference(cls) in text


def test_no_page_is_about_a_type_that_is_not_there() -> None:
    assert {path.name for path in (PACKAGE / "docs").iterdir()} == {page(n).name for n in TYPES}


def examples() -> Iterator[tuple[str, str]]:
    """The templates of the pages and of the folder ``examples``."""
    for path in sorted((PACKAGE / "docs").glob("*.md")):
        [text] = re.findall(r"^```yaml\n(.*?)^```$", path.read_text(), re.M | re.S)
        yield path.stem, text
    for path in sorted((PACKAGE / "examples").glob("*.yaml")):
        yield path.stem, path.read_text()


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in examples()])
def test_an_example_is_a_template_without_fault(name: str, text: str, tmp_path: Path) -> None:
    if "Zonda::Files::" in text and not any(
        entry.name == "files" for entry in entry_points(group="zonda")
    ):
        pytest.skip("zonda-files is not installed")
    assert name not in {page(key).stem for key in TYPES} or any(
        f"type: {key}\n" in text for key in TYPES if page(key).stem == name
    )
    (tmp_path / "template.yaml").write_text(text)
    words = [
        sys.executable,
        "-m",
        "zonda",
        "--home",
        str(tmp_path / "home"),
        "template",
        "validate",
    ]
    given = [
        f"--parameter={key}=/x/y"
        for key in re.findall(
            r"^  (\w+): {type: string}$|^  (config_file|pg_host|path):$", text, re.M
        )
        for key in key
        if key
    ]
    done = subprocess.run(
        [*words, *given, "template.yaml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def main() -> None:
    """Write the tables of every page anew."""
    for name, cls in TYPES.items():
        text = page(name).read_text()
        head, _, rest = text.partition("| property |")
        tail = rest.partition("\n\n| attribute |")[2].partition("\n\n")[2]
        page(name).write_text(head + reference(cls) + ("\n" + tail if tail else ""))


if __name__ == "__main__":
    main()
