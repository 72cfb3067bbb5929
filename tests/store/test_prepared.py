"""What runs is what the tables say: text, rows and migrations are in step."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from zonda.core.store.file import migrate
from zonda.core.store.schema import compile as compiling
from zonda.core.store.schema import drift_tables, prepared, rows, software_tables, tables
from zonda.core.store.schema.version import HEAD
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("module", compiling.DIALECTS)
def test_the_prepared_text_is_what_the_statements_say(module: str) -> None:
    written = Path(compiling.__file__).with_name(module).read_text()
    made = compiling.build_prepared(compiling.DIALECTS[module])
    assert written == made, "run python -m zonda.core.store.schema.compile"


def test_parameters_stand_in_the_same_order_on_both_databases() -> None:
    one, other = map(compiling.build_statements, compiling.DIALECTS.values())
    assert {name: names for name, (_, names) in one.items()} == {
        name: names for name, (_, names) in other.items()
    }


@pytest.mark.parametrize(
    ("row_type", "table"),
    [
        pytest.param(rows.StackRow, tables.STACK, id="stack"),
        pytest.param(rows.ResourceRow, tables.RESOURCE, id="resource"),
        pytest.param(rows.DriftCheckRow, drift_tables.DRIFT_CHECK, id="drift-check"),
        pytest.param(rows.DriftFindingRow, drift_tables.DRIFT_FINDING, id="drift-finding"),
        pytest.param(rows.SoftwareConfigRow, software_tables.SOFTWARE_CONFIG, id="config"),
        pytest.param(
            rows.SoftwareDeploymentRow, software_tables.SOFTWARE_DEPLOYMENT, id="deployment"
        ),
        pytest.param(rows.DriftIgnoreRow, drift_tables.DRIFT_IGNORE, id="drift-ignore"),
    ],
)
def test_rows_have_the_columns_of_their_table_in_order(row_type: type, table: object) -> None:
    assert rows.list_columns(row_type) == tuple(column.name for column in table.columns)  # type: ignore[attr-defined]


def _schema(path: Path) -> set[tuple[str, str, str]]:
    """(table, column or index, what it is): names and order of constraints do not matter."""
    found = set()
    with sqlite3.connect(path) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in names.fetchall():
            for _, column, kind, required, _, key in connection.execute(
                f"PRAGMA table_info({table})"
            ):
                found.add((table, column, f"{kind} {required} {key > 0}"))
            for _, index, unique, *_ in connection.execute(f"PRAGMA index_list({table})"):
                columns = connection.execute(f"PRAGMA index_info({index})").fetchall()
                found.add((table, "index", f"{[name for *_, name in columns]} {unique}"))
            for _, _, other, here, there, _, gone, _ in connection.execute(
                f"PRAGMA foreign_key_list({table})"
            ):
                found.add((table, here, f"-> {other}.{there} {gone}"))
    connection.close()
    return found


def test_a_fresh_database_has_the_schema_of_the_migrations(tmp_path: Path) -> None:
    fresh, migrated = tmp_path / "fresh.db", tmp_path / "migrated.db"
    open_store(fresh, sealer=Sealer(make_key())).close()
    sqlite3.connect(migrated).close()
    migrate.upgrade(str(migrated))
    assert _schema(fresh) == _schema(migrated)


def test_head_is_the_newest_migration() -> None:
    from alembic.script import ScriptDirectory

    assert ScriptDirectory.from_config(migrate.build_config()).get_current_head() == HEAD


def test_every_statement_is_good_sql() -> None:
    connection = sqlite3.connect(":memory:")
    for statement in prepared.SCHEMA:
        connection.execute(statement)
    for name, text in prepared.SQL.items():
        connection.execute(f"EXPLAIN {text}", ("x",) * text.count("?")).close()
        assert name
    connection.close()
