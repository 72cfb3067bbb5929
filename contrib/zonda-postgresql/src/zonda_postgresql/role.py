"""``Zonda::PostgreSQL::Role``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import psycopg
from psycopg import sql
from zonda.hooks import (
    PropertyErrors,
    ResourceFailure,
    attributes,
    constraints,
    properties,
    support,
)

from . import connection, naming, scram, variables
from .managed import NAME, SERVER, Found, Managed, common
from .marks import Comment
from .session import Session, composed, connect, joined, keywords, literal
from .variables import SETTINGS

PASSWORD, MEMBER_OF, LIMIT, VALID_UNTIL = "password", "member_of", "connection_limit", "valid_until"
REASSIGN, DROP_OWNED = "reassign_owned_to", "drop_owned"

#: Options that are on or off: property -> (word of CREATE ROLE, column of pg_roles, default).
OPTIONS: Final = {
    "login": ("LOGIN", "rolcanlogin", True),
    "inherit": ("INHERIT", "rolinherit", True),
    "createdb": ("CREATEDB", "rolcreatedb", False),
    "createrole": ("CREATEROLE", "rolcreaterole", False),
    "superuser": ("SUPERUSER", "rolsuper", False),
    "replication": ("REPLICATION", "rolreplication", False),
    "bypassrls": ("BYPASSRLS", "rolbypassrls", False),
}
_MEANINGS: Final = {
    "login": "it may log in",
    "inherit": "it has the privileges of the roles that it is a member of",
    "createdb": "it may make databases",
    "createrole": "it may make roles",
    "superuser": "nothing is forbidden to it",
    "replication": "it may replicate",
    "bypassrls": "row security is not for it",
}

_Schema = properties.Schema
_Attribute = attributes.Schema

_QUERY: Final = f"""
    SELECT r.oid, r.rolname, shobj_description(r.oid, 'pg_authid'), r.rolconnlimit,
           r.rolvaliduntil::text, {", ".join(f"r.{column}" for _, column, _ in OPTIONS.values())},
           ARRAY(SELECT g.rolname::text FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
                 WHERE m.member = r.oid ORDER BY 1)
    FROM pg_roles r WHERE
"""
_WHERE: Final = {
    NAME: "r.rolname = %s",
    "oid": "r.oid = %s::oid",
}


def _option(name: str) -> properties.Schema:
    return _Schema(
        _Schema.BOOLEAN,
        f"Whether {_MEANINGS[name]}.",
        default=OPTIONS[name][2],
        update_allowed=True,
    )


class Role(Managed):
    """A role: a user, or a group of users.

    Everything is changed in place, the name and the password included. The password itself never
    reaches the server, which is told its SCRAM verifier; a check notices another password where
    zonda logs in as a superuser. Say what becomes of what the role owns when it is dropped:
    `reassign_owned_to` or `drop_owned`.
    """

    support_status = support.SupportStatus(version="0.1.0")
    kind = "ROLE"
    catalog = "pg_authid"
    quiet = (PASSWORD,)
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **common("role"),
        NAME: naming.name("The name; changed in place.", required=True),
        PASSWORD: _Schema(
            _Schema.STRING,
            "The password; never shown. Left alone if it is not given.",
            update_allowed=True,
            hidden=True,
        ),
        **{name: _option(name) for name in OPTIONS},
        LIMIT: _Schema(
            _Schema.INTEGER,
            "How many sessions it may have at once; -1: as many as it likes.",
            default=-1,
            constraints=[constraints.Range(min=-1)],
            update_allowed=True,
        ),
        VALID_UNTIL: _Schema(
            _Schema.STRING,
            "When the password ends, e.g. 2030-01-01 00:00:00+00; `infinity` (never) if it is not "
            "given.",
            update_allowed=True,
        ),
        MEMBER_OF: _Schema(
            _Schema.LIST,
            "The roles that it is a member of; others are taken from it. Left alone if it is not "
            "given.",
            schema=_Schema(_Schema.STRING),
            update_allowed=True,
        ),
        SETTINGS: variables.schema("role"),
        REASSIGN: naming.name("Who gets what it owns, in every database, when it is dropped."),
        DROP_OWNED: _Schema(
            _Schema.BOOLEAN,
            "Whether what it owns, in every database, is dropped with it.",
            default=False,
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        NAME: _Attribute("The name.", type=_Attribute.STRING),
        "oid": _Attribute("PostgreSQL's number of it.", type=_Attribute.NUMBER),
        MEMBER_OF: _Attribute("The roles that it is a member of.", type=_Attribute.LIST),
    }

    def examine(self, errors: PropertyErrors) -> None:
        """Names that PostgreSQL keeps for itself; settings."""
        errors.check(NAME, _check_free, self.properties[NAME])
        errors.check(REASSIGN, naming.check, self.properties[REASSIGN])
        errors.check(SETTINGS, variables.check, self.properties[SETTINGS])

    def find(self, session: Session, column: str, value: Any) -> Found | None:
        """The role by ``name`` or ``oid``."""
        row = session.one(_QUERY + _WHERE[column], value)
        if row is None:
            return None
        oid, name, comment, limit, until, *options, groups = row
        values = {
            **dict(zip(OPTIONS, options, strict=True)),
            LIMIT: limit,
            VALID_UNTIL: until or "",
            MEMBER_OF: groups,
            SETTINGS: variables.read(session, 0, oid),
        }
        return Found(oid, name, Comment.read(comment), values)

    def shown(self, session: Session, found: Found) -> dict[str, Any]:
        """As it is; the password as it should be if it is that, and is left out if nobody knows."""
        values = super().shown(session, found)
        values[SETTINGS] = variables.shown(values[SETTINGS], self.properties[SETTINGS])
        values[MEMBER_OF] = _in_order(values[MEMBER_OF], self.properties[MEMBER_OF])
        values[VALID_UNTIL] = _until(session, values[VALID_UNTIL], self.properties[VALID_UNTIL])
        password = self.properties[PASSWORD]
        same = _has_password(session, found, password) if password else None
        return values if same is None else {**values, PASSWORD: password if same else "another one"}

    def make(self, session: Session, wanted: properties.Properties, comment: str) -> None:
        """Make it with its mark."""
        with session.transaction():
            session.run("CREATE ROLE {} {}", wanted[NAME], _options(_words(wanted)))
            session.run("COMMENT ON ROLE {} IS {}", wanted[NAME], literal(comment))

    def change(self, session: Session, found: Found, wanted: properties.Properties) -> None:
        """Options, password, memberships, settings."""
        name, now = wanted[NAME], found.values
        with session.transaction():
            # Only what differs: setting some needs more rights than having them right already.
            differing = [word for key, word in _by_key(wanted).items() if wanted[key] != now[key]]
            if differing:
                session.run("ALTER ROLE {} {}", name, _options(differing))
            if wanted[LIMIT] != now[LIMIT]:
                session.run("ALTER ROLE {} CONNECTION LIMIT {}", name, literal(wanted[LIMIT]))
            self._change_password(session, found, wanted)
            if wanted.convert(MEMBER_OF) is not None:
                _change_groups(session, name, set(now[MEMBER_OF]), set(wanted[MEMBER_OF]))
            if wanted.convert(SETTINGS) is not None:
                target = composed("ROLE {}", name)
                variables.alter(session, target, now[SETTINGS], wanted[SETTINGS])

    def drop(self, session: Session, found: Found) -> None:
        """Drop it, after what it owns."""
        reassign, drop = self.properties[REASSIGN], self.properties[DROP_OWNED]
        if reassign or drop:
            for database in _databases(session, found.oid):
                settings = {**self.properties[SERVER], connection.DBNAME: database}
                with connect(settings, database, f"zonda {self.name}") as there:
                    _give_up(there, found.name, reassign)
            _give_up(session, found.name, reassign)
        try:
            session.run("DROP ROLE IF EXISTS {}", found.name)
        except psycopg.errors.DependentObjectsStillExist as error:
            detail = " ".join((error.diag.message_detail or "").split())[:400]
            raise ResourceFailure(
                f"PostgreSQL at {session.where}: the role {found.name} is still needed ({detail}): "
                f"say `{REASSIGN}: ROLE` or `{DROP_OWNED}: true`"
            ) from error

    def _change_password(
        self, session: Session, found: Found, wanted: properties.Properties
    ) -> None:
        name, until = wanted[NAME], wanted[VALID_UNTIL]
        if _until(session, found.values[VALID_UNTIL], until) != until:
            session.run("ALTER ROLE {} VALID UNTIL {}", name, literal(until or "infinity"))
        password = wanted[PASSWORD]
        if password and not _has_password(session, found, password):
            verifier = literal(session.verifier(password, name))
            session.run("ALTER ROLE {} PASSWORD {}", name, verifier)


def _check_free(name: str) -> None:
    if name.startswith("pg_") or name in ("public", "none"):
        raise ResourceFailure(f"{name} is a name that PostgreSQL keeps for itself")


def _by_key(wanted: Mapping[str, Any]) -> dict[str, str]:
    return {key: word if wanted[key] else f"NO{word}" for key, (word, _, _) in OPTIONS.items()}


def _options(words: Sequence[str]) -> sql.Composable:
    return joined([keywords(word) for word in words], " ")


def _words(wanted: Mapping[str, Any]) -> list[str]:
    """The options that differ from what CREATE ROLE does without them."""
    usual = {"inherit": True}
    return [word for key, word in _by_key(wanted).items() if wanted[key] != usual.get(key, False)]


def _has_password(session: Session, found: Found, password: str) -> bool | None:
    """Whether the server keeps the verifier of this password; None where we may not look."""
    allowed = session.one("SELECT has_table_privilege('pg_authid', 'SELECT')")
    if allowed is None or not allowed[0]:
        return None
    row = session.one("SELECT rolpassword FROM pg_authid WHERE oid = %s::oid", found.oid)
    return row is not None and scram.matches(row[0] or "", password, found.name)


def _until(session: Session, live: str, wanted: str) -> str:
    """``wanted`` if the server keeps the same moment, else what it keeps."""
    if live in ("", "infinity") and wanted in ("", "infinity"):
        return wanted
    if not live or not wanted:
        return live
    row = session.one("SELECT %s::timestamptz = %s::timestamptz", live, wanted)
    return wanted if row is not None and row[0] else live


def _in_order(live: list[str], wanted: list[str]) -> list[str]:
    """The same groups in the template's order."""
    return wanted if sorted(live) == sorted(wanted) else live


def _change_groups(session: Session, name: str, now: set[str], wanted: set[str]) -> None:
    for group in sorted(now - wanted):
        session.run("REVOKE {} FROM {}", group, name)
    for group in sorted(wanted - now):
        session.run("GRANT {} TO {}", group, name)


def _databases(session: Session, role: int) -> list[str]:
    """The databases in which the role owns something or has been granted something."""
    rows = session.rows(
        "SELECT DISTINCT d.datname FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid "
        "WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = %s::oid AND d.datallowconn",
        role,
    )
    return [name for (name,) in rows]


def _give_up(session: Session, name: str, reassign: str) -> None:
    """Drop the objects and the grants that the role has here."""
    with session.transaction():
        if reassign:
            session.run("REASSIGN OWNED BY {} TO {}", name, reassign)
        session.run("DROP OWNED BY {}", name)
