"""Connections to PostgreSQL as ``database.protocols`` describes them: one writes, a pool reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import psycopg
from psycopg import Pipeline
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import LockNotAvailable
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from zonda.hooks.errors import StoreError
from zonda.hooks.records import dataclass

from ..database.faults import Lost
from ..database.protocols import Dialect, Row
from ..schema.prepared_postgresql import SQL
from .cursor import PREPARED, Cursor, clean, is_insertion, split_rows
from .faults import to_store_error

DIALECT = Dialect(
    sql=SQL,
    place="%s",
    is_one_of="{} = ANY(%s)",
    # As they are written: a text of PostgreSQL can be neither NUL nor half of a surrogate pair.
    has_tag="EXISTS (SELECT 1 FROM json_array_elements({}::json) AS tag(value)"
    " WHERE tag.value::text = ANY(%s))",
    contains='STRPOS(LOWER({}), LOWER(%s COLLATE "C")) > 0',
)
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#: Seconds after which a server that does not answer is given up.
_PATIENCE = 10
#: Seconds for which an asynchronous connection waits without a look round.
_WAIT = 5.0
#: Seconds that a pool waits for a connection before it asks the server for another one.
_LOOK = 0.5
#: The lock that writers of events share and readers of all events have alone, for a moment.
_EVENTS = int.from_bytes(b"zondaevt")
#: Milliseconds for which a reader waits for that lock at a time, and how many times: all who write
#: wait behind it, and a member that has stopped in a transaction holds it for its whole lease.
_EVENTS_WAIT, _EVENTS_TRIES = 100, 50
_FINAL = f"""WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', %s, true)),
    barrier AS MATERIALIZED (SELECT pg_advisory_xact_lock(%s) FROM patience)
    SELECT ({SQL["last_event"]}) FROM barrier"""
_IDLE = (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)


def connect(url: str, where: str) -> psycopg.Connection[Row]:
    """Connect to the server; raises StoreError."""
    try:
        connection: psycopg.Connection[Row] = psycopg.connect(
            url,
            autocommit=True,
            client_encoding="utf8",
            connect_timeout=_PATIENCE,
            fallback_application_name=f"zonda {os.getpid()}",
        )
    except psycopg.Error as error:
        raise to_store_error(error, where) from error
    try:
        _adapt(connection)
    except psycopg.Error as error:
        connection.close()
        raise to_store_error(error, where) from error
    return connection


def add_option(url: str, option: str) -> str:
    """A URL whose sessions begin with another option of the server."""
    known = conninfo_to_dict(url)
    return make_conninfo(url, options=f"{known.get('options') or ''} {option}".strip())


def _adapt(connection: psycopg.Connection[Row]) -> None:
    connection.prepared_max = PREPARED
    if is_pooled(connection):  # what one session prepares, another one does not know
        connection.prepare_threshold = None


def is_pooled(connection: psycopg.Connection[Row]) -> bool:
    """Whether a pooler stands before the server: it makes up the numbers of processes."""
    ((pid,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
    return bool(pid != connection.info.backend_pid)


class _ReadingPool(ConnectionPool[psycopg.Connection[Row]]):
    """A pool that finds a server soon which was away.

    By itself a pool asks such a server after 1, 2, 4, 8 ... seconds, whoever waits.
    """

    def getconn(self, timeout: float | None = None) -> psycopg.Connection[Row]:
        """See ``ConnectionPool``; each wait is cut into short ones, which ask the server."""
        for _ in range(round((timeout or self.timeout) / _LOOK) - 1):
            with suppress(PoolTimeout):
                return super().getconn(_LOOK)
        return super().getconn(_LOOK)


def make_pool(url: str, most: int) -> ConnectionPool[psycopg.Connection[Row]]:
    """A pool of connections that read. It connects when it is first asked."""
    return _ReadingPool(
        url,
        min_size=0,
        max_size=most,
        timeout=_PATIENCE,
        reconnect_timeout=_LOOK / 2,
        open=True,
        configure=_adapt,
        kwargs={
            "autocommit": True,
            "client_encoding": "utf8",
            "connect_timeout": _PATIENCE,
            "fallback_application_name": f"zonda {os.getpid()}",
        },
    )


def _run(connection: psycopg.Connection[Row], statement: str, values: Sequence[Any]) -> Cursor:
    return Cursor(connection).run(statement, values)


class _Words:
    """The parts that do not depend on who holds the connection."""

    dialect = DIALECT
    Error = psycopg.Error

    def __init__(self, where: str) -> None:
        self.where = where

    def make_list(self, values: Iterable[str]) -> list[str]:
        """A list of texts as one parameter."""
        return [*map(clean, values)]

    def make_limit(self, most: int | None) -> int | None:
        """The parameter of a limit; None: no limit."""
        return None if most == -1 else most

    def find_damage(self) -> str:
        """Nothing: the server looks after its files itself."""
        return ""

    def to_store_error(self, error: Exception) -> StoreError:
        """See ``faults.to_store_error``."""
        assert isinstance(error, psycopg.Error)
        return to_store_error(error, self.where)


class PatientConnection(psycopg.AsyncConnection[Any]):
    """A connection for a thread: by itself psycopg looks for Ctrl-C ten times a second.

    For one that listens that was two fifths of what a member costs that has nothing to do.
    """

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the server."""
        return await super().wait(gen, *args, **{"interval": _WAIT, **options})


class ServerConnection(_Words):
    """A connection that writes. What fails in a transaction ends all of it.

    The statements of a transaction are sent one after the other; only who looks at a result waits
    for it, and for those before it. So what is wrong with one may be raised by a later one.
    """

    def __init__(self, connection: psycopg.Connection[Row], where: str) -> None:
        super().__init__(where)
        self._connection = connection
        self._pipeline: Pipeline | None = None
        self._leaves = ExitStack()

    @property
    def driver(self) -> psycopg.Connection[Row]:
        """The connection of psycopg, for who writes to other tables in the same transaction.

        All that was sent before is carried out.
        """
        self.settle()
        return self._connection

    @property
    def is_pooled(self) -> bool:
        """Whether each transaction may be in another session of the server."""
        return self._connection.prepare_threshold is None

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self._pipeline is not None or (self._connection.info.transaction_status not in _IDLE)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement."""
        return Cursor(self._connection, self._wait).run(statement, values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> Any:
        """Run a statement for each row of values; they travel together."""
        if not is_insertion(statement):
            return Cursor(self._connection, self._wait).run_each(statement, [*rows])
        return _Several([self.execute(*each) for each in split_rows(statement, [*rows])])

    def add_events(self, rows: Sequence[Row]) -> list[int]:
        """Insert events; the ``seq`` of each. ``find_final_event`` waits for the commit."""
        self.execute("SELECT pg_advisory_xact_lock_shared(%s)", (_EVENTS,))
        results = [self.execute(*each) for each in split_rows(SQL["insert_event"], rows)]
        return [int(found[0]) for result in results for found in result.fetchall()]

    def wait_for_others(self, what: str) -> None:
        """See ``Connection``."""
        self.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (what,))

    def find_final_event(self) -> None:
        """Raise AssertionError: whoever writes reads no events of others."""
        raise AssertionError("A writer reads no events of others.")

    def begin(self) -> None:
        """Begin a transaction that writes."""
        self._pipeline = self._leaves.enter_context(self._connection.pipeline())
        self.execute("BEGIN")

    def begin_snapshot(self) -> None:
        """Begin a transaction that sees one state of the database."""
        self.execute(_SNAPSHOT)

    def commit(self) -> None:
        """Keep what the transaction has written."""
        self.execute("COMMIT")
        self.settle()

    def rollback(self) -> None:
        """Undo the transaction."""
        with suppress(self.Error):  # what it is undone for
            self.settle()
        self.execute("ROLLBACK")

    def settle(self) -> None:
        """Wait until all statements are carried out; from now on each is waited for."""
        self._pipeline = None
        self._leaves.close()

    def _wait(self) -> None:
        if self._pipeline is not None:
            self._pipeline.sync()

    def close(self) -> None:
        """Close the connection."""
        with suppress(self.Error):
            self.settle()
        self._connection.close()


@dataclass(frozen=True, slots=True)
class _Several:
    """The results of statements that stand for one with many rows."""

    results: list[Cursor]

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed."""
        return sum(each.rowcount for each in self.results)


class PooledConnection(_Words):
    """Reads on any connection of a pool; in a snapshot, on one."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Row]], where: str) -> None:
        super().__init__(where)
        self._pool = pool
        self._held: psycopg.Connection[Row] | None = None

    @property
    def in_transaction(self) -> bool:
        """Whether a snapshot has begun and not ended."""
        return self._held is not None

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement; once more, where the server was started again meanwhile."""
        if self._held is not None:
            return _run(self._held, statement, values)
        try:
            return self._read(statement, values)
        except psycopg.OperationalError as error:
            if not isinstance(self.to_store_error(error), Lost):
                raise
            self._pool.check()
            return self._read(statement, values)

    def _read(self, statement: str, values: Sequence[Any]) -> Any:
        with self._pool.connection() as connection:
            return _run(connection, statement, values)

    def find_final_event(self) -> int | None:
        """The last event that none of a smaller number follows.

        Numbers are given before the commit, and several members commit: nobody adds events while
        the last one is read, and whoever adds later gets a larger number.
        """
        for _ in range(_EVENTS_TRIES - 1):
            with suppress(LockNotAvailable):
                return self._read_final_event()
        return self._read_final_event()

    def _read_final_event(self) -> int:
        """One statement, so that the lock ends with it whatever becomes of this process.

        What it sees was there when it began to wait; whoever wrote then has ended since.
        """
        with self._pool.connection() as connection:
            found = _run(connection, _FINAL, (f"{_EVENTS_WAIT}ms", _EVENTS))
            [(last,)] = found.fetchall()
        return last or 0

    def begin_snapshot(self) -> None:
        """Begin a transaction that sees one state of the database."""
        held = self._pool.getconn()
        try:
            _run(held, _SNAPSHOT, ())
        except BaseException:
            self._pool.putconn(held)
            raise
        self._held = held

    def rollback(self) -> None:
        """End the snapshot."""
        held, self._held = self._held, None
        if held is not None:
            try:
                _run(held, "COMMIT", ())  # a session that rolls back prepares all anew
            finally:
                self._pool.putconn(held)

    commit = rollback

    def begin(self) -> None:
        """Raise AssertionError: nothing is written here."""
        raise AssertionError("A reader writes nothing.")

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> Any:
        """Raise AssertionError: nothing is written here."""
        raise AssertionError("A reader writes nothing.")

    def wait_for_others(self, what: str) -> None:
        """Raise AssertionError: nothing is written here."""
        raise AssertionError("A reader writes nothing.")

    def add_events(self, rows: Sequence[Row]) -> list[int]:
        """Raise AssertionError: nothing is written here."""
        raise AssertionError("A reader writes nothing.")

    def close(self) -> None:
        """Give back what is held."""
        self.rollback()
