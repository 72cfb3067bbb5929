"""Migrations that expand the schema, and those that contract it: what each says is so."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from alembic.script import ScriptDirectory

from zonda.core.store.file import migrate
from zonda.core.store.schema import version as schema
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.hooks.errors import StoreError

pytestmark = pytest.mark.sqlite  # the files themselves are looked at

SEALER = Sealer(make_key())


class Schema(NamedTuple):
    """What the statements of a release may meet."""

    #: By table and name: type, whether it must be given, place in the primary key.
    columns: dict[tuple[str, str], tuple[str, bool, int]]
    #: Foreign keys and unique indexes: what may refuse a row.
    rules: set[tuple[str, ...]]


def read_schema(path: Path) -> Schema:
    columns, rules = {}, set()
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        for (table,) in connection.execute(query).fetchall():
            for _, name, kind, required, default, key in connection.execute(
                f"PRAGMA table_info({table})"
            ):
                columns[table, name] = (kind, bool(required) and default is None, key)
            for _, index, unique, *_ in connection.execute(f"PRAGMA index_list({table})"):
                if unique:
                    found = connection.execute(f"PRAGMA index_info({index})")
                    rules.add((table, "unique", *(str(name) for *_, name in found)))
            for _, _, other, here, there, *_ in connection.execute(
                f"PRAGMA foreign_key_list({table})"
            ):
                rules.add((table, here, other, there))
    return Schema(columns, rules)


def expands(before: Schema, after: Schema) -> bool:
    """Whether statements that fit ``before`` fit ``after``, too."""
    tables = {table for table, _ in before.columns}
    fresh = {key: value for key, value in after.columns.items() if key not in before.columns}
    return (
        all(after.columns.get(key) == value for key, value in before.columns.items())
        and not any(required for (table, _), (_, required, _) in fresh.items() if table in tables)
        and not any(rule[0] in tables for rule in after.rules - before.rules)
    )


def steps() -> list[ModuleType]:
    chain = ScriptDirectory.from_config(migrate.build_config()).walk_revisions()
    return [script.module for script in chain][::-1]


STEPS = list(pairwise(steps()))


@pytest.mark.parametrize(("before", "after"), STEPS, ids=[after.revision for _, after in STEPS])
def test_a_migration_says_what_it_does(
    before: ModuleType, after: ModuleType, tmp_path: Path
) -> None:
    found = []
    for revision in (before.revision, after.revision):
        path = tmp_path / f"{revision}.db"
        sqlite3.connect(path).close()
        migrate.upgrade(str(path), revision)
        found.append(read_schema(path))
    assert after.contracts is not expands(*found)


@pytest.mark.parametrize(
    ("statement", "is_expansion"),
    [
        ("CREATE TABLE later (id TEXT PRIMARY KEY)", True),
        ("ALTER TABLE sink ADD COLUMN later TEXT", True),
        ("ALTER TABLE sink ADD COLUMN later TEXT NOT NULL DEFAULT ''", True),
        ("CREATE INDEX later ON sink (error)", True),
        ("CREATE UNIQUE INDEX later ON sink (error)", False),
        ("ALTER TABLE sink DROP COLUMN error", False),
        ("ALTER TABLE sink RENAME COLUMN error TO later", False),
        ("DROP TABLE sink", False),
        ("CREATE TABLE t (a); DROP TABLE sink; ALTER TABLE t RENAME TO sink", False),
    ],
)
def test_what_expands_is_told_from_what_contracts(
    tmp_path: Path, statement: str, is_expansion: bool
) -> None:
    path = tmp_path / "z.db"
    open_store(path, sealer=SEALER).close()
    before = read_schema(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    assert expands(before, read_schema(path)) is is_expansion


NEXT = '''
"""A schema of a later release."""
from alembic import op
import sqlalchemy as sa

revision = "{revision}"
down_revision = "{before}"
branch_labels = depends_on = None
{mark}


def upgrade():
    op.add_column("stack", sa.Column("later{revision}", sa.Text()))
'''


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of this release, and a folder of migrations for more."""
    found = tmp_path / "home" / "z.db"
    found.parent.mkdir()
    open_store(found, sealer=SEALER).close()
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.FOLDER, folder)
    monkeypatch.setattr(migrate, "FOLDER", folder)
    return found


def upgrade(path: Path, *marks: str) -> None:
    """Upgrade by a release that has a migration more for each of ``marks``."""
    before = schema.HEAD
    for number, mark in enumerate(marks, 9001):
        text = NEXT.format(revision=number, before=before, mark=mark)
        (migrate.FOLDER / "versions" / f"{number}.py").write_text(text)
        before = str(number)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "HEAD", before)
        open_store(path, sealer=SEALER).close()


EXPANDS, CONTRACTS = "contracts = False", "contracts = True"


@pytest.mark.parametrize("read_only", [False, True])
def test_this_release_uses_a_schema_that_was_only_expanded(path: Path, read_only: bool) -> None:
    upgrade(path, EXPANDS, EXPANDS)
    store = open_store(path, sealer=SEALER, read_only=read_only)
    assert store.reader().stacks() == []
    if not read_only:
        with store.transaction() as tx:
            tx.add_request("r", "{}", 1.0)
    store.close()


@pytest.mark.parametrize("marks", [(CONTRACTS,), (EXPANDS, CONTRACTS), (CONTRACTS, EXPANDS), ("",)])
def test_this_release_refuses_a_schema_that_was_contracted(
    path: Path, marks: tuple[str, ...]
) -> None:
    upgrade(path, *marks)
    with pytest.raises(StoreError, match="newer zonda"):
        open_store(path, sealer=SEALER)


def test_a_second_upgrade_keeps_what_the_first_has_said(path: Path) -> None:
    upgrade(path, EXPANDS)
    upgrade(path, EXPANDS, EXPANDS)
    open_store(path, sealer=SEALER).close()
    upgrade(path, EXPANDS, EXPANDS, CONTRACTS)
    with pytest.raises(StoreError, match="newer zonda"):
        open_store(path, sealer=SEALER)


def test_a_database_that_a_newer_release_has_made_is_refused(path: Path) -> None:
    """It was made with all columns, of which none may be left out."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9001'")
        connection.commit()
    with pytest.raises(StoreError, match="newer zonda"):
        open_store(path, sealer=SEALER)
