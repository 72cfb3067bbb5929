"""``Zonda::PostgreSQL::Extension``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import psycopg
from zonda.hooks import ResourceFailure, attributes, properties, support

from . import naming
from .managed import COMMENT, DATABASE, NAME, Found, Managed, common
from .marks import Comment
from .session import Session, composed, literal

SCHEMA, VERSION, CASCADE = "schema", "version", "cascade"

_Schema = properties.Schema
_Attribute = attributes.Schema

_QUERY: Final = """
    SELECT e.oid, e.extname, obj_description(e.oid, 'pg_extension'), n.nspname, e.extversion
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE
"""
_WHERE: Final = {
    NAME: "e.extname = %s",
    "oid": "e.oid = %s::oid",
}


class Extension(Managed):
    """An extension in a database.

    Version and schema are changed in place. There is one of a name in a database: one that is there
    already is only used with `adopt: true`, and is then not dropped with the stack.
    """

    support_status = support.SupportStatus(version="0.1.0")
    kind = "EXTENSION"
    catalog = "pg_extension"
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **common("extension"),
        DATABASE: naming.name("The database; the one of `server` by default."),
        NAME: naming.name("The name, e.g. pg_trgm.", required=True, update_allowed=False),
        SCHEMA: naming.name("The schema for what it brings. The extension decides by default."),
        VERSION: _Schema(
            _Schema.STRING,
            "The version; the server's own default, and no change later, if it is not given.",
            update_allowed=True,
        ),
        CASCADE: _Schema(
            _Schema.BOOLEAN,
            "Whether extensions that it needs are made, too, and whether what needs it is dropped "
            "with it.",
            default=False,
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        NAME: _Attribute("The name.", type=_Attribute.STRING),
        "oid": _Attribute("PostgreSQL's number of it.", type=_Attribute.NUMBER),
        SCHEMA: _Attribute("The schema of what it brings.", type=_Attribute.STRING),
        VERSION: _Attribute("The version.", type=_Attribute.STRING),
    }

    def find(self, session: Session, column: str, value: Any) -> Found | None:
        """The extension by ``name`` or ``oid``."""
        row = session.one(_QUERY + _WHERE[column], value)
        if row is None:
            return None
        oid, name, comment, schema, version = row
        return Found(oid, name, Comment.read(comment), {SCHEMA: schema, VERSION: version})

    def make(self, session: Session, wanted: properties.Properties, comment: str) -> None:
        """Make it with its mark; its own comment stays in front where none is given."""
        options = [
            composed(f" {word} {{}}", wanted[key])
            for word, key in (("SCHEMA", SCHEMA), ("VERSION", VERSION))
            if wanted[key]
        ]
        if wanted[CASCADE]:
            options.append(composed(" CASCADE"))
        words = composed("{}" * len(options), *options)
        with session.transaction():
            if not wanted[SCHEMA]:  # the first schema that is searched, if it does not say itself
                session.run("SET LOCAL search_path TO DEFAULT")
            session.run("CREATE EXTENSION {}{}", wanted[NAME], words)
            session.run("SET LOCAL search_path TO ''")
            made = self.find(session, NAME, wanted[NAME])
            own = made.comment.text if made is not None and not wanted[COMMENT] else ""
            text = f"{own} {comment}" if own else comment
            session.run("COMMENT ON EXTENSION {} IS {}", wanted[NAME], literal(text))

    def change(self, session: Session, found: Found, wanted: properties.Properties) -> None:
        """Version and schema."""
        if wanted[VERSION] and wanted[VERSION] != found.values[VERSION]:
            session.run("ALTER EXTENSION {} UPDATE TO {}", found.name, wanted[VERSION])
        if wanted[SCHEMA] and wanted[SCHEMA] != found.values[SCHEMA]:
            session.run("ALTER EXTENSION {} SET SCHEMA {}", found.name, wanted[SCHEMA])

    def drop(self, session: Session, found: Found) -> None:
        """Drop it, with what needs it where that is wanted."""
        cascade = " CASCADE" if self.properties[CASCADE] else ""
        try:
            session.run("DROP EXTENSION IF EXISTS {}" + cascade, found.name)
        except psycopg.errors.DependentObjectsStillExist as error:
            detail = " ".join((error.diag.message_detail or "").split())[:400]
            raise ResourceFailure(
                f"PostgreSQL at {session.where}: the extension {found.name} is needed ({detail}): "
                f"drop what needs it, or say `{CASCADE}: true`"
            ) from error
