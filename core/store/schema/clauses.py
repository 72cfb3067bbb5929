"""Parts of statements that both databases have, and those that each says in its own way.

Called by ``statements``, and like it not imported when zonda runs.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, bindparam, update
from sqlalchemy.dialects.postgresql import insert  # SQLite has the same ON CONFLICT
from sqlalchemy.ext.compiler import compiles

from .rows import FIXED

P: Any = bindparam


class IsOneOf(ColumnElement[bool]):
    """Whether a column has one of the values of a list, which is one parameter."""

    inherit_cache = False

    def __init__(self, column: Any, name: str) -> None:
        self.column, self.parameter = column, P(name)


@compiles(IsOneOf, "sqlite")
def _write_json(clause: IsOneOf, compiler: Any, **_: Any) -> str:
    column, place = compiler.process(clause.column), compiler.process(clause.parameter)
    return f"{column} IN (SELECT value FROM json_each({place}))"


@compiles(IsOneOf, "postgresql")
def _write_array(clause: IsOneOf, compiler: Any, **_: Any) -> str:
    return f"{compiler.process(clause.column)} = ANY({compiler.process(clause.parameter)})"


class Most(ColumnElement[int]):
    """The parameter of a limit; -1 is none."""

    inherit_cache = False

    def __init__(self, name: str) -> None:
        self.parameter = P(name)


@compiles(Most, "sqlite")
def _write_limit(clause: Most, compiler: Any, **_: Any) -> str:
    return str(compiler.process(clause.parameter))


@compiles(Most, "postgresql")
def _write_limit_or_null(clause: Most, compiler: Any, **_: Any) -> str:
    return f"NULLIF({compiler.process(clause.parameter)}, -1)"


def build_insert(table: Any) -> Any:
    """Insert a row with all columns."""
    return insert(table).values({column.name: P(column.name) for column in table.columns})


def build_put(table: Any) -> Any:
    """Insert a row, or rewrite the one with the same key."""
    made, keys = build_insert(table), table.primary_key.columns
    left = {
        column.name: made.excluded[column.name]
        for column in table.columns
        if column.name not in keys
    }
    return made.on_conflict_do_update(index_elements=[*keys], set_=left)


def build_update(table: Any, *keys: str) -> Any:
    """Rewrite all columns that may change, but ``keys``; which row is for the caller to say."""
    left = [column for column in table.columns if column.name not in FIXED.union(keys)]
    return update(table).values({column: P("new_" + column.name) for column in left})
