"""``Zonda::PostgreSQL::Schema``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import psycopg
from zonda.hooks import PropertyErrors, ResourceFailure, attributes, properties, support

from . import naming
from .managed import DATABASE, NAME, OWNER, Found, Managed, common
from .marks import Comment
from .session import Session, composed, literal

CASCADE = "cascade"

_Schema = properties.Schema
_Attribute = attributes.Schema

_QUERY: Final = """
    SELECT n.oid, n.nspname, obj_description(n.oid, 'pg_namespace'), pg_get_userbyid(n.nspowner)
    FROM pg_namespace n WHERE
"""
_WHERE: Final = {
    NAME: "n.nspname = %s",
    "oid": "n.oid = %s::oid",
}


class Schema(Managed):
    """A schema in a database.

    Name and owner are changed in place; another database means another schema. A schema that is not
    empty is only dropped with `cascade: true`.
    """

    support_status = support.SupportStatus(version="0.1.0")
    kind = "SCHEMA"
    catalog = "pg_namespace"
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **common("schema"),
        DATABASE: naming.name("The database; the one of `server` by default."),
        NAME: naming.name("The name; changed in place.", required=True),
        OWNER: naming.name("The role that owns it. The role that zonda logs in as by default."),
        CASCADE: _Schema(
            _Schema.BOOLEAN,
            "Whether everything in it is dropped with it.",
            default=False,
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        NAME: _Attribute("The name.", type=_Attribute.STRING),
        "oid": _Attribute("PostgreSQL's number of it.", type=_Attribute.NUMBER),
        OWNER: _Attribute("The role that owns it.", type=_Attribute.STRING),
    }

    def examine(self, errors: PropertyErrors) -> None:
        """Names that PostgreSQL keeps for itself."""
        if self.properties[NAME].startswith("pg_") and not errors.is_unknown(NAME):
            errors.add(NAME, "names that begin with pg_ are PostgreSQL's own")

    def find(self, session: Session, column: str, value: Any) -> Found | None:
        """The schema by ``name`` or ``oid``."""
        row = session.one(_QUERY + _WHERE[column], value)
        if row is None:
            return None
        oid, name, comment, owner = row
        return Found(oid, name, Comment.read(comment), {OWNER: owner})

    def make(self, session: Session, wanted: properties.Properties, comment: str) -> None:
        """Make it with its mark."""
        owner = wanted[OWNER]
        tail = composed(" AUTHORIZATION {}", owner) if owner else composed("")
        with session.transaction():
            session.run("CREATE SCHEMA {}{}", wanted[NAME], tail)
            session.run("COMMENT ON SCHEMA {} IS {}", wanted[NAME], literal(comment))

    def change(self, session: Session, found: Found, wanted: properties.Properties) -> None:
        """The owner."""
        if wanted[OWNER] and wanted[OWNER] != found.values[OWNER]:
            session.run("ALTER SCHEMA {} OWNER TO {}", wanted[NAME], wanted[OWNER])

    def drop(self, session: Session, found: Found) -> None:
        """Drop it, with what is in it where that is wanted."""
        cascade = " CASCADE" if self.properties[CASCADE] else ""
        try:
            session.run("DROP SCHEMA IF EXISTS {}" + cascade, found.name)
        except psycopg.errors.DependentObjectsStillExist as error:
            detail = " ".join((error.diag.message_detail or "").split())[:400]
            raise ResourceFailure(
                f"PostgreSQL at {session.where}: the schema {found.name} is not empty ({detail}): "
                f"drop what is in it, or say `{CASCADE}: true`"
            ) from error
