"""The public API is one list: what plug-ins import, and what they are shown to import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from zonda import hooks
from zonda.hooks import runners

ROOT = Path(__file__).resolve().parents[2]
POLICY = (ROOT / "docs" / "reference" / "plugin-api.md").read_text()
#: The modules that the page on the plug-in API lists as public.
PUBLIC = set(re.findall(r"^\* `(zonda\.[\w.]+)`", POLICY.split("**Names.**")[0], re.M))
#: Imports as documents, templates of the scaffold and pages of errors have them.
IMPORT = re.compile(r"^ *(from zonda\.hooks[\w.]* import (?:\([^)]*\)|.+))$", re.M)
TEXTS = sorted(
    path
    for pattern in (
        *("README.md", "docs/**/*.md", "contrib/**/*.md"),
        *("core/scaffold/**/*.txt", "core/diagnostics/pages/*.yaml"),
    )
    for path in ROOT.glob(pattern)
)
SOURCES = sorted(
    path
    for pattern in (
        *("builtin_resources/**/*.py", "workflows/**/*.py", "examples/**/*.py"),
        *("contrib/*/src/**/*.py", "contrib/*/examples/**/*.py"),
    )
    for path in ROOT.glob(pattern)
)


def _imported(tree: ast.AST) -> Iterator[str]:
    """Every module and name of the hooks that is imported, as ``MODULE`` or ``MODULE:NAME``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}:{each.name}" for each in node.names)


def _is_public(name: str) -> bool:
    module, _, member = name.partition(":")
    if module == "zonda" and member:
        return f"zonda.{member}" in PUBLIC
    if not module.startswith("zonda.hooks"):
        return True
    if module == "zonda.hooks" and member:
        return member in hooks.__all__ or f"zonda.hooks.{member}" in PUBLIC
    if module == "zonda.hooks.runners" and member == "http_contract":
        return "zonda.hooks.runners.http_contract" in PUBLIC
    return module in PUBLIC


def test_the_page_lists_the_public_modules() -> None:
    assert {
        "zonda.hooks",
        *(
            f"zonda.hooks.{name}"
            for name in (
                *("runners", "http", "events", "policies", "settings", "processes"),
                *("testing", "conformance"),
            )
        ),
        "zonda.hooks.runners.http_contract",
    } == PUBLIC


def test_plugins_of_this_repository_import_only_what_is_public() -> None:
    assert len(SOURCES) > 100
    wrong = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in SOURCES
        for name in _imported(ast.parse(path.read_text()))
        if not _is_public(name)
    }
    assert wrong == set()


def test_what_readers_copy_imports_only_what_is_public() -> None:
    lines = [
        (path.relative_to(ROOT).as_posix(), line)
        for path in TEXTS
        for line in IMPORT.findall(path.read_text())
    ]
    assert len(lines) > 30
    wrong = {
        (path, name)
        for path, line in lines
        for name in _imported(ast.parse(re.sub(r"\n *", " ", line)))
        if not _is_public(name)
    }
    assert wrong == set()


@pytest.mark.parametrize("module", [hooks, runners], ids=lambda each: each.__name__)
def test_every_public_name_is_there_and_typed(module: object) -> None:
    """``__all__``, the imports for type checkers and those at the first use are the same names."""
    path = Path(str(getattr(module, "__file__", "")))
    branch = next(
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    typed = {
        each.name for node in branch.body if isinstance(node, ast.ImportFrom) for each in node.names
    }
    names = getattr(module, "__all__")  # noqa: B009
    assert typed == set(names)
    for name in names:
        assert getattr(module, name) is not None
