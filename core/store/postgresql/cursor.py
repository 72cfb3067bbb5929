"""The way of a statement to the server: as few messages, waits and objects as the driver allows.

Used by ``connection``. Statements come with ``%s`` for a parameter, as they are compiled; the
server's own notation needs no work at each run. Rows that are inserted together are one statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Self

import psycopg
from psycopg.rows import tuple_row

from ..database.protocols import Row

#: Rows of one statement, at most. Each power of two up to that is prepared by itself, and each
#: number up to the second: small stacks insert that many again and again.
_ROWS, _FEW = 64, 8
#: Statements that a session keeps prepared.
PREPARED = 300
_PLACE = re.compile("%(s|%)")
_VALUES = re.compile(r"VALUES \((%s(?:, %s)*)\)")


class Cursor(psycopg.RawCursor[Row]):
    """The result of a statement. ``wait`` comes back when all that was sent is carried out."""

    def __init__(
        self, connection: psycopg.Connection[Row], wait: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(connection, row_factory=tuple_row)
        self._wait = wait
        # Rows of values of a statement that changes one row with each, if all goes well.
        self._rows: int | None = None

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed; waits for the result if it is on its way."""
        is_here = self.pgresult if self._rows is None else super().rowcount == self._rows
        if not is_here:
            self._wait()
        return super().rowcount

    def run(self, statement: str, values: Sequence[Any]) -> Self:
        """Run a statement."""
        return self.execute(_number(statement), _clean(values))

    def run_each(self, statement: str, rows: Sequence[Sequence[Any]]) -> Self:
        """Run a statement that changes one row with each row of values."""
        self._rows = len(rows)
        self.executemany(_number(statement), [*map(_clean, rows)])
        return self


def split_rows(
    statement: str, rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[str, Sequence[Any]]]:
    """Statements that insert many rows at once each, with their values, for one that inserts one.

    See ``is_insertion``.
    """
    at = 0
    while at < len(rows):
        left = len(rows) - at
        count = left if left <= _FEW else min(_ROWS, 1 << left.bit_length() - 1)
        yield _repeat(statement, count), [*chain.from_iterable(rows[at : at + count])]
        at += count


def is_insertion(statement: str) -> bool:
    """Whether all that a statement does is to insert the values that it is given."""
    return statement.startswith("INSERT") and _VALUES.search(statement) is not None


@lru_cache(maxsize=1024)
def _repeat(statement: str, count: int) -> str:
    return _VALUES.sub(lambda found: "VALUES " + ", ".join([f"({found[1]})"] * count), statement)


@lru_cache(maxsize=2048)
def _number(statement: str) -> bytes:
    parts, number = _PLACE.split(statement), 0
    for index in range(1, len(parts), 2):
        if parts[index] == "s":
            number += 1
            parts[index] = f"${number}"
    return "".join(parts).encode()


def _clean(values: Sequence[Any]) -> Sequence[Any]:
    """The values as PostgreSQL can have them; raises OverflowError, as sqlite3 does."""
    for value in values:
        if type(value) is str:
            if "\0" in value:
                return [clean(each) if type(each) is str else each for each in values]
        elif type(value) is int and value.bit_length() > 63:
            raise OverflowError("A number has more than 64 bits.")
    return values


def clean(text: str) -> str:
    """A text as PostgreSQL can have it: the picture of the character NUL stands for it."""
    return text.replace("\0", "\N{SYMBOL FOR NULL}")
