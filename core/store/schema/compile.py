"""Writes schema and statements as text, so that running zonda imports no ORM.

``prepared.py`` is for SQLite, ``prepared_postgresql.py`` for PostgreSQL.

Run ``python -m zonda.core.store.schema.compile`` after a change to ``tables.py`` or
``statements.py``; a test fails when that was forgotten.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.schema import CreateIndex, CreateTable

from .cluster_statements import CLUSTER
from .page_tables import PAGES
from .statements import STATEMENTS
from .tables import IN_ORDER, metadata

_HEAD = '''"""Made by ``compile.py`` from ``tables.py`` and ``statements.py``: do not edit."""

# ruff: noqa: E501
# fmt: off

'''


def _to_text(clause: object) -> str:
    return " ".join(str(clause).split()).replace("( ", "(").replace(" )", ")")


_SQLITE: Any = sqlite.dialect(paramstyle="qmark")
_POSTGRESQL: Any = PGDialect(paramstyle="format")  # type: ignore[no-untyped-call]
#: The modules, and the dialect of each.
DIALECTS = {"prepared.py": _SQLITE, "prepared_postgresql.py": _POSTGRESQL}


def build_schema(dialect: Any) -> list[str]:
    """The statements that make an empty database."""
    made: list[str] = []
    for table in metadata.sorted_tables:
        made.append(_to_text(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            made.append(_to_text(CreateIndex(index).compile(dialect=dialect)))
        if dialect is _POSTGRESQL and table.name in IN_ORDER:
            made.append(
                f"ALTER TABLE {table.name} ADD COLUMN rowid BIGINT GENERATED ALWAYS AS IDENTITY"
            )
    return made


def build_statements(dialect: Any) -> dict[str, tuple[str, list[str]]]:
    """Each statement's text and the names of its parameters, in order."""
    made = {}
    for name, statement in (STATEMENTS | CLUSTER | PAGES).items():
        compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        made[name] = (_to_text(compiled), list(compiled.positiontup or ()))
    return made


def build_prepared(dialect: Any) -> str:
    """The text of a module."""
    lines = [_HEAD, "SCHEMA: tuple[str, ...] = (\n"]
    lines += [f"    {text!r},\n" for text in build_schema(dialect)]
    lines += [")\n\n", "SQL: dict[str, str] = {\n"]
    for name, (text, names) in build_statements(dialect).items():
        shown = ", ".join(names) if len(names) < 8 else f"{len(names)} columns"
        lines.append(f"    # ({shown})\n    {name!r}: {text!r},\n")
    lines.append("}\n")
    return "".join(lines)


if __name__ == "__main__":
    for module, chosen in DIALECTS.items():
        Path(__file__).with_name(module).write_text(build_prepared(chosen), encoding="utf-8")
