"""docs/explanation/architecture.md shows the layers as they are; what documents name is there."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
PAGES = [
    path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "resource-types"
]
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
}


@pytest.mark.parametrize(
    ("title", "contract"),
    [("The folders", "core is layered"), ("The engine", "The engine is layered")],
)
def test_a_table_of_layers_is_the_contract(title: str, contract: str) -> None:
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| \d+ \| ([^|]+) \|", section, re.M)
    shown = [set(re.findall(r"`([\w/]+)`", row)) for row in rows]
    layers = [layer.split("|") for layer in CONTRACTS[contract]["layers"]]
    assert shown == [
        {name.strip().removeprefix("zonda.").replace(".", "/") for name in names}
        for names in layers
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_document_names_are_there(page: Path) -> None:
    text = page.read_text()
    names = re.findall(
        r"`((?:core|hooks|builtin_resources|workflows|tests|bench)/[a-z0-9_./-]+)`", text
    )
    assert [name for name in names if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_of_the_api_that_a_document_mentions_can_be_imported(page: Path) -> None:
    names = set(re.findall(r"\b(zonda\.(?:hooks|core)(?:\.\w+)+)", page.read_text()))
    for name in sorted(names):
        pkgutil.resolve_name(name)
