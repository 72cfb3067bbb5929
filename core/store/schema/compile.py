"""Writes ``prepared.py``: schema and statements as text, so that running zonda imports no ORM.

Run ``python -m zonda.core.store.schema.compile`` after a change to ``tables.py`` or
``statements.py``; a test fails when that was forgotten.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from .statements import STATEMENTS
from .tables import metadata

_HEAD = '''"""Made by ``compile.py`` from ``tables.py`` and ``statements.py``: do not edit."""

# ruff: noqa: E501
# fmt: off

'''


def _to_text(clause: object) -> str:
    return " ".join(str(clause).split()).replace("( ", "(").replace(" )", ")")


def build_schema() -> list[str]:
    """The statements that make an empty database."""
    dialect = sqlite.dialect()
    made: list[str] = []
    for table in metadata.sorted_tables:
        made.append(_to_text(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            made.append(_to_text(CreateIndex(index).compile(dialect=dialect)))
    return made


def build_statements() -> dict[str, tuple[str, list[str]]]:
    """Each statement's text and the names of its parameters, in order."""
    dialect = sqlite.dialect(paramstyle="qmark")
    made = {}
    for name, statement in STATEMENTS.items():
        compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        made[name] = (_to_text(compiled), list(compiled.positiontup or ()))
    return made


def build_prepared() -> str:
    """The text of ``prepared.py``."""
    lines = [_HEAD, "SCHEMA: tuple[str, ...] = (\n"]
    lines += [f"    {text!r},\n" for text in build_schema()]
    lines += [")\n\n", "SQL: dict[str, str] = {\n"]
    for name, (text, names) in build_statements().items():
        shown = ", ".join(names) if len(names) < 8 else f"{len(names)} columns"
        lines.append(f"    # ({shown})\n    {name!r}: {text!r},\n")
    lines.append("}\n")
    return "".join(lines)


if __name__ == "__main__":
    Path(__file__).with_name("prepared.py").write_text(build_prepared(), encoding="utf-8")
