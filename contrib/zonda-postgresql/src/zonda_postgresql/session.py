"""One connection to one database, for one operation. The only module that talks to psycopg.

Names go through ``psycopg.sql``, so that none can be anything but a name; a string holds one
statement, and no schema that others may write to is searched for functions. Errors come out as
``ResourceFailure``: what was done, on which server, what the server said, what to do.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import psycopg
from psycopg import sql
from zonda.hooks import NotReady, ResourceFailure

from . import connection

#: Errors of statements that lost a race and may simply be tried again.
_RACES: Final = frozenset({"40001", "40P01"})
#: Words of SQL: what may stand in a statement as it is.
_KEYWORDS: Final = re.compile(r"[A-Z]+(?: [A-Z]+)*")
_ADVICE: Final = {
    "28000": "check the user and pg_hba.conf",
    "28P01": "check the user and the password",
    "3D000": "check `dbname`, or make the database first",
    "42501": "connect as a role that may do this",
    "53300": "the server has too many connections: try again, or raise max_connections",
    "55006": "others are connected; say `force: true` to disconnect them",
    "55P03": "another session holds a lock: end it, or raise `lock_timeout`",
    "57014": "it took too long: raise `statement_timeout`",
    "0A000": "this server cannot do that",
}
_CONNECTION_ADVICE: Final = (
    ("SSL", "check `sslmode` and `sslrootcert`"),
    ("certificate", "check `sslmode` and `sslrootcert`"),
    ("password", "check the user and the password"),
    ("authentication", "check the user and the password"),
    ("pg_hba", "the server refuses this user from here: see its pg_hba.conf"),
    ("does not exist", "check `dbname` and `user`"),
    ("translate host name", "check `host`"),
    ("timeout", "check `host`, `port` and firewalls, or raise `connect_timeout`"),
    ("definition of service", "check `service` and libpq's service file"),
)


#: Else a function of somebody else's might fit a call better than PostgreSQL's own, and would run
#: with the rights of zonda's login. ``RESET search_path`` gives back what the server would search.
_OWN_FUNCTIONS: Final = sql.SQL("SELECT pg_catalog.set_config('search_path', '', false)")


class Session:
    """The connection of the types. ``where``: the server in words."""

    def __init__(self, raw: psycopg.Connection[tuple[Any, ...]], where: str) -> None:
        self.raw = raw
        self.where = where

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query; ``%s`` stands for a value."""
        return self._execute(sql.SQL(query), values).fetchall()

    def one(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        """The first row of a query, if there is one."""
        return self._execute(sql.SQL(query), values).fetchone()

    def run(self, statement: str, *parts: str | sql.Composable) -> None:
        """Run a statement; ``{}`` stands for a name, or for a part that is composed already."""
        self._execute(composed(statement, *parts), ())

    def _execute(
        self, query: sql.SQL | sql.Composed, values: Sequence[Any]
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """By the protocol that refuses more than one statement: ``binary`` asks for it."""
        return self.raw.execute(query, values, binary=True)

    def transaction(self) -> contextlib.AbstractContextManager[Any]:
        """All or nothing."""
        return self.raw.transaction()

    @property
    def version(self) -> int:
        """E.g. 170004."""
        return self.raw.info.server_version

    @property
    def database(self) -> str:
        """The database of this connection."""
        return self.raw.info.dbname

    def cluster(self) -> str:
        """The identity of this server, under whatever name it is reached."""
        found = self.one("SELECT system_identifier FROM pg_control_system()")
        assert found is not None, "a function gives a row"
        return str(found[0])

    def database_oid(self) -> int:
        """The identity of this database, which renaming does not change."""
        found = self.one("SELECT oid FROM pg_database WHERE datname = current_database()")
        assert found is not None, "a session has a database"
        return int(found[0])

    def verifier(self, password: str, role: str) -> str:
        """The verifier that the server keeps of a password; the password itself is never sent."""
        made = self.raw.pgconn.encrypt_password(password.encode(), role.encode(), None)
        return made.decode()


def literal(value: Any) -> sql.Composable:
    """A value inside a statement that takes no parameters."""
    return sql.Literal(value)


def joined(parts: Sequence[sql.Composable], separator: str = ", ") -> sql.Composable:
    """Parts of a statement in a row."""
    return sql.SQL(separator).join(parts)


def keywords(*words: str) -> sql.Composable:
    """Words of SQL with commas between them; raises ValueError for what can be no such word."""
    for word in words:
        if not _KEYWORDS.fullmatch(word):
            raise ValueError(f"{word!r} is no word of SQL")
    return sql.SQL(", ".join(words))


def composed(text: str, *parts: str | sql.Composable) -> sql.Composed:
    """A part of a statement; ``{}`` stands for a name. ``text``: nobody's but this package's."""
    names = [part if isinstance(part, sql.Composable) else sql.Identifier(part) for part in parts]
    return sql.SQL(text).format(*names)


@contextlib.contextmanager
def connect(settings: Mapping[str, Any], database: str, application: str) -> Iterator[Session]:
    """A session for the time of a ``with``; raises ResourceFailure for whatever goes wrong."""
    where = connection.place_of(settings)
    raw = _connected(connection.parameters(settings, database, application), where)
    try:
        with raw, told(where):
            raw.execute(_OWN_FUNCTIONS)
            yield Session(raw, where)
    finally:
        raw.close()


def _connected(parameters: Mapping[str, Any], where: str) -> psycopg.Connection[tuple[Any, ...]]:
    try:
        return psycopg.connect(autocommit=True, prepare_threshold=None, **parameters)
    except psycopg.Error as error:
        said = _line(str(error))
        advice = next((words for mark, words in _CONNECTION_ADVICE if mark in said), "")
        advice = advice or "check `host` and `port`, and that the server runs"
        raise Unreachable(f"PostgreSQL at {where} cannot be reached: {said} ({advice})") from error


class Unreachable(ResourceFailure):
    """No connection: nobody knows what is there."""

    code = ResourceFailure.code


@contextlib.contextmanager
def told(where: str) -> Iterator[None]:
    """The server's errors as failures."""
    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate in _RACES or "concurrently" in str(error):
            raise NotReady(1.0, "another session was faster") from error
        raise ResourceFailure(_words(error, where)) from error


def _words(error: psycopg.Error, where: str) -> str:
    said = error.diag.message_primary or _line(str(error))
    detail = error.diag.message_detail
    advice = _ADVICE.get(error.sqlstate or "")
    parts = (
        f"PostgreSQL at {where}: {said}",
        f". {_line(detail)}" if detail else "",
        f" ({advice})" if advice else "",
    )
    return "".join(parts)


def _line(text: str) -> str:
    return " ".join(text.split())[:500]
