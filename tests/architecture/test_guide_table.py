"""The table of the guide's statements: each has tests that are there, and no test is forgotten."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "tests" / "heat_guide" / "statements.md").read_text()
ROWS = [
    (statement, re.findall(r"`([^`]+)`", tests))
    for statement, tests in re.findall(r"^\| (.+?) \| ((?:`tests/.*|)) \|$", TABLE, re.M)
]
NAMED = {test for _, tests in ROWS for test in tests}


@lru_cache
def functions_in(path: Path) -> frozenset[str]:
    """The test functions of a file."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return frozenset(
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_every_line_of_the_tables_is_read() -> None:
    lines = [line for line in TABLE.splitlines() if line.startswith("| ")]
    headings = [line for line in lines if line == "| statement | tests |"]
    assert len(ROWS) == len(lines) - len(headings)
    assert len(ROWS) > 70


@pytest.mark.parametrize(("statement", "tests"), ROWS, ids=[row[0][:60] for row in ROWS])
def test_a_statement_has_tests_that_are_there(statement: str, tests: list[str]) -> None:
    assert tests, statement
    for test in tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), file
        assert name in functions_in(ROOT / file), test


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "heat_guide").glob("test_*.py")), ids=lambda path: path.name
)
def test_every_test_of_the_guide_is_in_the_table(path: Path) -> None:
    file = path.relative_to(ROOT).as_posix()
    assert {f"{file}::{name}" for name in functions_in(path)} <= NAMED
