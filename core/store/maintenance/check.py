"""The check of a database: pages, schema, key, references, values. Reads only, in one snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Column, inspect, or_, select
from sqlalchemy.engine import Connection
from sqlalchemy.sql import ColumnElement

from zonda.core.diagnostics.finding import FAULT, OK, Finding
from zonda.hooks.errors import StoreError

from ..database.protocols import Database
from ..schema import page_tables, software_tables
from ..schema.drift_tables import metadata
from ..schema.rows import PREFIX
from ..schema.tables import (
    ACTION,
    DATA,
    EDGE,
    EVENT_PROPERTIES,
    FAILED,
    META,
    REQUEST,
    RESOURCE,
    SNAPSHOT,
    STACK,
    TEMPLATE,
)
from ..schema.version import HEAD, build_version_error, is_usable, read_compatible
from ..values.sealing import Sealer
from .snapshots import find_driver_connection, read_version

#: Findings of one kind that are told one by one; of more, only how many.
MOST = 20
_RESTORE = "Stop the engine, then restore a backup: zonda db restore FILE."
_LIVE = STACK.c.deleted_at.is_(None)

#: The columns whose text is null, JSON or sealed.
VALUES: tuple[Column[str], ...] = (
    TEMPLATE.c.body,
    *(RESOURCE.c[name] for name in ("definition", "properties", "outputs", "reference", "meta")),
    *(RESOURCE.c[name] for name in ("op_definition", "op_properties", "token")),
    DATA.c.value,
    *(FAILED.c.properties, FAILED.c.trace),
    EVENT_PROPERTIES.c.properties,
    SNAPSHOT.c.data,
    *(REQUEST.c.action, REQUEST.c.answer),
    *(software_tables.SOFTWARE_CONFIG.c.body, software_tables.SOFTWARE_DEPLOYMENT.c.body),
    page_tables.PAGE_STATE.c.body,
)
_SEALED = re.compile(rf"{PREFIX}\S+")


class Reference(NamedTuple):
    """A column whose value is the key of a row in another table, where ``where`` holds."""

    source: Column[str]
    target: Column[str]
    where: ColumnElement[bool] | None = None


_SOFTWARE = software_tables.SOFTWARE_DEPLOYMENT
#: The references that the engine follows, and the database does not guard by itself. A deleted
#: stack keeps the names of what is gone.
REFERENCES = (
    Reference(STACK.c.root_id, STACK.c.id, _LIVE),
    Reference(STACK.c.owner_resource_id, RESOURCE.c.id, _LIVE),
    Reference(STACK.c.template_id, TEMPLATE.c.id, _LIVE),
    Reference(STACK.c.good_template_id, TEMPLATE.c.id, _LIVE),
    Reference(TEMPLATE.c.base_id, TEMPLATE.c.id),
    Reference(RESOURCE.c.want_template_id, TEMPLATE.c.id),
    Reference(RESOURCE.c.have_template_id, TEMPLATE.c.id),
    Reference(RESOURCE.c.op_template_id, TEMPLATE.c.id),
    Reference(ACTION.c.template_id, TEMPLATE.c.id),
    Reference(EDGE.c.stack_id, STACK.c.id),
    Reference(SNAPSHOT.c.template_id, TEMPLATE.c.id),
    Reference(_SOFTWARE.c.config_id, software_tables.SOFTWARE_CONFIG.c.id, _SOFTWARE.c.body != ""),
)


def list_findings(connection: Connection, database: Database, sealer: Sealer) -> Iterator[Finding]:
    """Check a database; yield at least one finding for each part of it.

    What needs the schema of this release is not looked at in another one.
    """
    yield from _check_pages(connection)
    schema = list(_check_schema(connection, database))
    key = list(_check_key(connection, sealer))
    yield from (*schema, *key)
    if all(each.status == OK for each in schema):
        yield from _sum_up("references", list(islice(_find_dangling(connection), MOST + 1)))
    if all(each.status == OK for each in (*schema, *key)):
        yield from _sum_up("values", list(islice(_find_unreadable(connection, sealer), MOST + 1)))


def _sum_up(check: str, faults: list[Finding]) -> list[Finding]:
    if not faults:
        return [Finding(check, OK, "all of them are whole")]
    if len(faults) > MOST:
        return [*faults[:MOST], Finding(check, FAULT, "there are more", _RESTORE)]
    return faults


def _check_pages(connection: Connection) -> Iterator[Finding]:
    """Have SQLite check every page and index; a server looks after its files itself."""
    if not _is_file(connection):
        return
    rows = connection.exec_driver_sql(f"PRAGMA integrity_check({MOST})")
    said = [str(text) for (text,) in rows if text != "ok"]
    yield from (Finding("pages", FAULT, text, _RESTORE) for text in said)
    if not said:
        yield Finding("pages", OK, "SQLite finds every page and index whole")


def _is_file(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def _check_schema(connection: Connection, database: Database) -> Iterator[Finding]:
    raw = find_driver_connection(connection, database)
    version = read_version(raw, database.where) or ""
    if not is_usable(version, read_compatible(raw, raw.dialect.sql)):
        error = build_version_error(database.where, version)
        hint = "zonda db upgrade" if version < HEAD else error.hint
        yield Finding("schema", FAULT, str(error), hint)
        return
    found = inspect(connection)
    tables = set(found.get_table_names())
    missing = []
    for table in metadata.sorted_tables:
        if table.name not in tables:
            missing.append(f"table {table.name}")
            continue
        known = {column["name"] for column in found.get_columns(table.name)}
        missing += [
            f"column {table.name}.{each.name}" for each in table.c if each.name not in known
        ]
    yield from (Finding("schema", FAULT, f"the {each} is missing", _RESTORE) for each in missing)
    if not missing:
        later = "" if version == HEAD else ", later than this zonda's, which can use it"
        yield Finding("schema", OK, f"{version}, with all that this zonda needs{later}")


def _check_key(connection: Connection, sealer: Sealer) -> Iterator[Finding]:
    query = select(META.c.value).where(META.c.name == "key_check")
    kept = connection.execute(query).scalar() or "none"
    if kept == sealer.fingerprint:
        yield Finding("key", OK, f"it fits: {kept}")
        return
    text = f"the database was made with the key {kept}, and this one is {sealer.fingerprint}"
    yield Finding("key", FAULT, text, "Give that key in ZONDA_KEY or put its key file back.")


def _find_dangling(connection: Connection) -> Iterator[Finding]:
    """Find references to rows that are not there."""
    if _is_file(connection):
        for table, row, target, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            yield Finding("references", FAULT, f"{table} row {row}: no such {target}", _RESTORE)
    for source, target, where in REFERENCES:
        other = target.table.alias("target")
        missing = ~select(other).where(other.c[target.name] == source).exists()
        query = select(*source.table.primary_key, source).where(source.is_not(None), missing)
        for *key, value in connection.execute(query if where is None else query.where(where)):
            place = f"{source.table.name} {' '.join(map(str, key))}, {source.name}"
            text = f"{place}: no {target.table.name} {value}"
            yield Finding("references", FAULT, text, _RESTORE)


def _find_unreadable(connection: Connection, sealer: Sealer) -> Iterator[Finding]:
    """Find values that are neither JSON nor sealed with this key. None of them is shown."""
    for table in {column.table: None for column in (*VALUES, RESOURCE.c.given)}:
        columns = [column for column in (*VALUES, RESOURCE.c.given) if column.table is table]
        query = select(*table.primary_key, *columns).where(or_(*(c.is_not(None) for c in columns)))
        for row in connection.execution_options(yield_per=500).execute(query):
            for column, text in zip(columns, row[len(table.primary_key) :], strict=True):
                if not _is_readable(column, text, sealer):
                    key = " ".join(map(str, row[: len(table.primary_key)]))
                    place = f"{table.name} {key}, {column.name}"
                    yield Finding("values", FAULT, f"{place}: it cannot be read", _RESTORE)


def _is_readable(column: Column[str], text: str | None, sealer: Sealer) -> bool:
    if not text:
        return True
    try:
        if column is RESOURCE.c.given:  # lines, of which some have a sealed text
            for sealed in _SEALED.findall(text):
                sealer.open(sealed)
        else:
            sealer.load(text)
    except (StoreError, ValueError, TypeError):
        return False
    return True
