"""The protocols of what the store needs of a database: connections, locks, and its SQL.

``file`` and ``postgresql`` implement it. A plain connection writes; what ``open_reader`` gives
reads, and may stand for several connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

from zonda.hooks.errors import StoreError
from zonda.hooks.records import dataclass

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The statements of one kind of database, and pieces of those that are made by filters.

    ``sql``: the prepared statements by their names. ``place`` stands for a parameter.
    ``is_one_of`` and ``has_tag`` take the text of a column and a list, see
    ``Connection.make_list``, the latter of JSON strings; ``contains`` a column and a text, in any
    case.
    """

    sql: Mapping[str, str]
    place: str
    is_one_of: str
    has_tag: str
    contains: str


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """The rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Each row that is left."""


class Connection(Protocol):
    """A connection, for one thread at a time."""

    dialect: Dialect

    @property
    def Error(self) -> type[Exception]:
        """The class of what its methods raise; ``to_store_error`` says what it means."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Cursor:
        """Run a statement once for each row of values; ``rowcount`` is that of all together."""

    def add_events(self, rows: Sequence[Row], /) -> list[int]:
        """Insert events; the ``seq`` of each."""

    def wait_for_others(self, what: str, /) -> None:
        """Wait until no other transaction has done the same; from now to the commit they wait."""

    def find_final_event(self) -> int | None:
        """The last event that none of a smaller number follows; None: that is so for each."""

    def begin(self) -> None:
        """Begin a transaction that writes."""

    def begin_snapshot(self) -> None:
        """Begin a transaction that sees one state of the database."""

    def commit(self) -> None:
        """Keep what the transaction has written."""

    def rollback(self) -> None:
        """Undo the transaction."""

    def close(self) -> None:
        """Close the connection."""

    def make_list(self, values: Iterable[str], /) -> Any:
        """A list of texts as one parameter."""

    def make_limit(self, most: int | None, /) -> int | None:
        """The parameter of a limit; None: no limit."""

    def find_damage(self) -> str:
        """The database's own report of damage; '' where it is whole."""

    def to_store_error(self, error: Exception, /) -> StoreError:
        """The meaning of an error; the caller chains it."""


class Lock(Protocol):
    """A lock of one database that ends with its process."""

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""

    def acquire(self, blocking: bool = False) -> bool:
        """Take the lock; False if another process, or another lock object, holds it."""

    def release(self) -> None:
        """Give the lock back."""

    def is_taken(self) -> bool:
        """Whether anybody holds the lock."""

    def read_holder(self) -> int | None:
        """The process id of the holder, as far as known."""

    def __enter__(self) -> Self:
        """Take the lock, however long that takes."""

    def __exit__(self, *_: object) -> None:
        """Give the lock back."""


class Database(Protocol):
    """One database, open or not. ``url``: what names it, with a password perhaps."""

    url: str

    @property
    def where(self) -> str:
        """Its file or its address, for people: without a password."""

    @property
    def folder(self) -> Path | None:
        """The folder of its file; None for a server."""

    def is_made(self) -> bool:
        """Whether it has tables, or cannot be read to find out."""

    def is_unreadable(self) -> bool:
        """Whether what stands there is no database, as opening it will say."""

    def open(self, key_check: str, *, read_only: bool) -> Connection:
        """Open it; makes the tables, or brings them up to date. Raises StoreError.

        ``key_check`` tells of the key that it is sealed with; another one is refused.
        """

    def open_reader(self) -> Connection:
        """Open a connection that reads. Raises StoreError."""

    def engine_lock(self) -> Lock:
        """The right to run the engine."""

    def server_lock(self) -> Lock:
        """The right to be the long-running engine, also before it has the other lock.

        Commands leave the engine's lock to whoever holds this one.
        """

    def request_lock(self, request_id: str) -> Lock:
        """The lock of the process that waits for the answer to a request."""

    def is_awaited(self, request_id: str) -> bool:
        """Whether a process waits for the answer to a request; not one that has died."""

    def close(self) -> None:
        """Close what is open beside the connections that were handed out."""
