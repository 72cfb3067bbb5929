"""The documents keep step with the code: hooks, settings, resource types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from zonda.builtin_resources import plugin as builtin_plugin
from zonda.core.cli import commands
from zonda.core.cli.shell import completion_table
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.settings import settings
from zonda.hooks import errors, specs
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Schema
from zonda.workflows import plugin as workflows_plugin
from zonda.workflows.http_runner.schema import HTTP
from zonda.workflows.service import config

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = DOCS / "reference"


def hooks() -> list[tuple[str, str]]:
    """(name, signature as documented) of every hook specification."""
    found = []
    for name, function in inspect.getmembers(specs, inspect.isfunction):
        if name.startswith("zonda_"):
            arguments = ", ".join(inspect.signature(function).parameters)
            found.append((name, f"{name}({arguments})"))
    return found


@pytest.mark.parametrize(("name", "signature"), hooks(), ids=[name for name, _ in hooks()])
def test_a_hook_has_a_heading_with_its_arguments(name: str, signature: str) -> None:
    headings = re.findall(r"^### `(.*)`$", (REFERENCE / "plugin-api.md").read_text(), re.M)
    assert signature in headings


def test_no_hook_is_documented_that_does_not_exist() -> None:
    headings = re.findall(r"^### `(zonda_\w+)\(", (REFERENCE / "plugin-api.md").read_text(), re.M)
    assert sorted(headings) == sorted(name for name, _ in hooks())


def test_every_setting_is_documented_as_it_is() -> None:
    assert settings.format_markdown_table() in (REFERENCE / "settings.md").read_text()


def test_every_setting_of_an_http_runner_is_documented() -> None:
    text = (REFERENCE / "http-runner.md").read_text()
    rows = re.findall(r"^\| (`.*?`) \|", text.split("\n## ")[0], re.M)
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert documented == set(HTTP.entries)


def test_the_error_tree_is_documented_as_it_is() -> None:
    drawn = re.search(r"::\n\n((?:    .*\n)+)", inspect.getdoc(errors) or "")
    assert drawn is not None
    assert inspect.cleandoc(drawn[1]) in (REFERENCE / "plugin-api.md").read_text()


def built_in_types() -> Mapping[str, type[Resource]]:
    manager = make_manager(builtin_plugin, workflows_plugin, discover=False)
    return gather_plugins(manager).resource_types


def undescribed(schema: Mapping[str, Schema], path: str) -> Iterator[str]:
    """Properties without a description, nested ones included."""
    for name, entry in schema.items():
        if not entry.description:
            yield f"{path}.{name}"
        below = entry.schema
        if isinstance(below, Schema):  # the items of a list need no words of their own
            below = below.schema
        yield from undescribed(below or {}, f"{path}.{name}")


@pytest.mark.parametrize(
    ("name", "cls"), [pytest.param(*row, id=row[0]) for row in built_in_types().items()]
)
def test_a_resource_type_describes_itself(name: str, cls: type[Resource]) -> None:
    assert inspect.getdoc(cls) != inspect.getdoc(Resource), f"{name} has no docstring"
    assert list(undescribed(cls.properties_schema, name)) == []
    assert [key for key, entry in cls.attributes_schema.items() if not entry.description] == []


def test_every_command_is_documented_as_it_is() -> None:
    rows = re.findall(
        r"^\| `zonda (.*?)` \| (.*) \|$", (REFERENCE / "commands.md").read_text(), re.M
    )
    assert dict(rows) == {name: command.help for name, command in commands.COMMANDS.items()}


def test_the_workflow_file_in_the_documents_is_one(tmp_path: Path) -> None:
    page = (DOCS / "how-to" / "run-scripts-as-workflows.md").read_text()
    [text] = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "disks").mkdir()
    (tmp_path / "flows.py").touch()
    (tmp_path / "flows.yaml").write_text(text)
    assert set(config.load_config(tmp_path / "flows.yaml").workflows) == {
        "make-disk",
        "resize",
        "tell",
    }


#: Made from the texts of the code.
GENERATED = ("error-codes.md", "resource-types")


@pytest.mark.parametrize(
    "page",
    [path for path in sorted(DOCS.rglob("*.md")) if not set(path.parts) & set(GENERATED)],
    ids=lambda page: page.stem,
)
def test_a_document_names_who_acts(page: Path) -> None:
    vague = re.findall(r"\b(?:some|any|every|no)body\b|\bwhoever\b", page.read_text(), re.I)
    assert vague == [], "say which: the user, the operator, another stack, an engine ..."


def test_completion_knows_the_commands_as_they_are() -> None:
    made = (
        "after a change to a command or an option: python -m zonda.core.cli.shell.completion_table"
    )
    assert completion_table.FILE.read_text() == completion_table.format_completions(), made
