"""``Zonda::PostgreSQL::Database``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import psycopg
from zonda.hooks import (
    NotReady,
    PropertyErrors,
    ResourceFailure,
    attributes,
    constraints,
    properties,
    support,
)

from . import naming, variables
from .managed import NAME, OWNER, Found, Managed, common
from .marks import Comment
from .session import Session, composed, joined, literal
from .variables import SETTINGS

ENCODING, COLLATE, CTYPE, TEMPLATE = "encoding", "lc_collate", "lc_ctype", "template"
TABLESPACE, LIMIT, ALLOW, FORCE = "tablespace", "connection_limit", "allow_connections", "force"

_Schema = properties.Schema
_Attribute = attributes.Schema

_QUERY: Final = """
    SELECT d.oid, d.datname, shobj_description(d.oid, 'pg_database'), pg_get_userbyid(d.datdba),
           pg_encoding_to_char(d.encoding), d.datcollate, d.datctype, t.spcname, d.datconnlimit,
           d.datallowconn
    FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
    WHERE
"""
_WHERE: Final = {
    NAME: "d.datname = %s",
    "oid": "d.oid = %s::oid",
}
#: Seconds for which copying the template is tried while others are connected to it.
_PATIENCE: Final = 60.0


def _fixed(description: str) -> properties.Schema:
    return _Schema(_Schema.STRING, f"{description} It cannot be changed later.")


class Database(Managed):
    """A database.

    Everything that PostgreSQL can change is changed in place, the name included. What it cannot
    (encoding, locale, template) needs a new database, which needs another name: data is never lost
    by a replacement. A database that is there already is only used with `adopt: true`, and is then
    not dropped with the stack.
    """

    support_status = support.SupportStatus(version="0.1.0")
    kind = "DATABASE"
    catalog = "pg_database"
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **common("database"),
        NAME: naming.name("The name; changed in place.", required=True),
        OWNER: naming.name("The role that owns it. The role that zonda logs in as by default."),
        ENCODING: _fixed("The encoding, e.g. UTF8. That of the template by default."),
        COLLATE: _fixed("The order of texts, e.g. C or en_US.UTF-8. The template's by default."),
        CTYPE: _fixed("The kinds of characters, e.g. C. The template's by default."),
        TEMPLATE: _fixed("The database that it is a copy of; template1 by default."),
        TABLESPACE: naming.name("The tablespace. That of the template by default."),
        LIMIT: _Schema(
            _Schema.INTEGER,
            "How many may be connected at once; -1: as many as like.",
            default=-1,
            constraints=[constraints.Range(min=-1)],
            update_allowed=True,
        ),
        ALLOW: _Schema(
            _Schema.BOOLEAN,
            "Whether anybody may connect.",
            default=True,
            update_allowed=True,
        ),
        SETTINGS: variables.schema("database"),
        FORCE: _Schema(
            _Schema.BOOLEAN,
            "Whether sessions are ended where they stand in the way of dropping, renaming or "
            "moving it.",
            default=False,
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        NAME: _Attribute("The name.", type=_Attribute.STRING),
        "oid": _Attribute("PostgreSQL's number of it.", type=_Attribute.NUMBER),
        OWNER: _Attribute("The role that owns it.", type=_Attribute.STRING),
        ENCODING: _Attribute("The encoding.", type=_Attribute.STRING),
        COLLATE: _Attribute("The order of texts.", type=_Attribute.STRING),
        CTYPE: _Attribute("The kinds of characters.", type=_Attribute.STRING),
        TABLESPACE: _Attribute("The tablespace.", type=_Attribute.STRING),
    }

    def examine(self, errors: PropertyErrors) -> None:
        """The settings."""
        errors.check(SETTINGS, variables.check, self.properties[SETTINGS])

    def find(self, session: Session, column: str, value: Any) -> Found | None:
        """The database by ``name`` or ``oid``."""
        row = session.one(_QUERY + _WHERE[column], value)
        if row is None or row[1] == self._temporary:
            return None
        oid, name, comment, owner, encoding, collate, ctype, tablespace, limit, allow = row
        values = {
            OWNER: owner,
            ENCODING: encoding,
            COLLATE: collate,
            CTYPE: ctype,
            TABLESPACE: tablespace,
            LIMIT: limit,
            ALLOW: allow,
            SETTINGS: variables.read(session, oid, 0),
        }
        return Found(oid, name, Comment.read(comment), values)

    def shown(self, session: Session, found: Found) -> dict[str, Any]:
        """As it is; encodings are compared by what they mean."""
        values = super().shown(session, found)
        wanted = self.properties[ENCODING]
        if wanted and wanted.replace("-", "").lower() == values[ENCODING].replace("-", "").lower():
            values[ENCODING] = wanted
        values[SETTINGS] = variables.shown(values[SETTINGS], self.properties[SETTINGS])
        return values

    def make(self, session: Session, wanted: properties.Properties, comment: str) -> None:
        """Make it under a name of our own; then name and mark it in one transaction.

        CREATE DATABASE cannot be part of a transaction, so a crash may leave the first name behind:
        the next attempt, or the deletion, finds it by the instance's id.
        """
        self._only_us(session)
        if session.one("SELECT 1 FROM pg_database WHERE datname = %s", self._temporary) is None:
            self._copy(session, wanted)
        try:
            with session.transaction():
                session.run("COMMENT ON DATABASE {} IS {}", self._temporary, literal(comment))
                session.run("ALTER DATABASE {} RENAME TO {}", self._temporary, wanted[NAME])
        except psycopg.errors.DuplicateDatabase:
            self.discard(session)
            raise ResourceFailure(
                f"A database {wanted[NAME]} has appeared while it was made"
            ) from None

    def change(self, session: Session, found: Found, wanted: properties.Properties) -> None:
        """Owner, limits, tablespace, settings."""
        name, now = wanted[NAME], found.values
        if wanted[OWNER] and wanted[OWNER] != now[OWNER]:
            session.run("ALTER DATABASE {} OWNER TO {}", name, wanted[OWNER])
        if (wanted[LIMIT], wanted[ALLOW]) != (now[LIMIT], now[ALLOW]):
            options = (name, literal(wanted[LIMIT]), literal(wanted[ALLOW]))
            session.run("ALTER DATABASE {} CONNECTION LIMIT {} ALLOW_CONNECTIONS {}", *options)
        if wanted.convert(SETTINGS) is not None:
            target = composed("DATABASE {}", name)
            variables.alter(session, target, now[SETTINGS], wanted[SETTINGS])
        if wanted[TABLESPACE] and wanted[TABLESPACE] != now[TABLESPACE]:
            self._disconnect(session, name, wanted[FORCE])
            session.run("ALTER DATABASE {} SET TABLESPACE {}", name, wanted[TABLESPACE])

    def rename(self, session: Session, found: Found, name: str) -> None:
        """Another name, which nobody may be connected for."""
        self._disconnect(session, found.name, self.properties[FORCE])
        super().rename(session, found, name)

    def drop(self, session: Session, found: Found) -> None:
        """Drop it, with its sessions where that is wanted."""
        force = " WITH (FORCE)" if self.properties[FORCE] else ""
        session.run("DROP DATABASE IF EXISTS {}" + force, found.name)

    def discard(self, session: Session) -> None:
        """Drop what never got its name."""
        session.run("DROP DATABASE IF EXISTS {}", self._temporary)

    # -- the steps --------------------------------------------------------------------------------

    @property
    def _temporary(self) -> str:
        return f"zonda_{self.uuid.replace('-', '')}"

    def _only_us(self, session: Session) -> None:
        """Wait for what a killed zonda has asked the server for and the server still does."""
        row = session.one("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", self.uuid)
        if row is None or not row[0]:
            raise NotReady(1.0, "an earlier attempt is still running on the server")

    def _copy(self, session: Session, wanted: properties.Properties) -> None:
        options = [
            composed(f"{word} = {{}}", value)
            for word, value in (
                ("OWNER", wanted[OWNER]),
                ("TABLESPACE", wanted[TABLESPACE]),
                ("TEMPLATE", wanted[TEMPLATE]),
            )
            if value
        ]
        options += [
            composed(f"{word} = {{}}", literal(wanted[key]))
            for word, key in (("ENCODING", ENCODING), ("LC_COLLATE", COLLATE), ("LC_CTYPE", CTYPE))
            if wanted[key]
        ]
        words = composed(" WITH ") if options else composed("")
        try:
            session.run("CREATE DATABASE {}{}{}", self._temporary, words, joined(options, " "))
        except psycopg.errors.ObjectInUse:
            operation = self.context.operation
            if operation is None or self.context.clock.now() - operation.started_at > _PATIENCE:
                raise
            raise NotReady(2.0, "others are connected to the template database") from None

    def _disconnect(self, session: Session, name: str, force: bool) -> None:
        if force:
            session.rows(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = %s AND pid <> pg_backend_pid()",
                name,
            )
