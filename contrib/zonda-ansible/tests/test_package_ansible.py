"""The package: found by its entry point, on zonda.hooks alone, without ansible-core in zonda."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from zonda_ansible import plugin

PACKAGE = Path(__file__).resolve().parent.parent
MODULES = sorted((PACKAGE / "src").rglob("*.py"))


def test_the_entry_point_leads_to_the_plugin() -> None:
    [found] = [entry for entry in entry_points(group="zonda") if entry.name == "ansible"]
    assert found.load() is plugin


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.name)
def test_nothing_of_zonda_is_imported_but_its_hooks(path: Path) -> None:
    ours = {name for name in imported(path) if name.split(".")[0] == "zonda"}
    assert all(name.startswith("zonda.hooks") for name in ours)
    if path.parent.name == "agent":
        assert not ours


def test_zonda_never_imports_ansible() -> None:
    code = (
        "import sys, zonda_ansible.check_modules as checked, zonda_ansible.plugin;"
        "print(len(checked.load_index().modules), 'ansible' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, is_there = said.stdout.split()
    assert int(count) > 50
    assert is_there == "False"
