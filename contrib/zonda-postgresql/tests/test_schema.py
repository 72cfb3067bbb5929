"""Schemas and extensions, which live in one database."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql
from zonda.hooks import ResourceFailure, ZondaError

SCHEMA = "SELECT count(*) FROM pg_namespace WHERE nspname = %s"
EXTENSION = "SELECT count(*) FROM pg_extension WHERE extname = %s"


def execute(world: Any, statement: str, *names: str, database: str = "") -> None:
    """A statement by hand; ``{}`` stands for a name."""
    with world.postgres.connect(database) as raw:
        raw.execute(sql.SQL(statement).format(*(sql.Identifier(name) for name in names)))


def test_a_schema_from_beginning_to_end(world: Any, database: str, role: str) -> None:
    life = world.life("schema", database=database, name="a b", owner=role, comment="ours")
    life.validate()
    life.create()
    oid = life.attribute("oid")
    life.check()
    changes = {"name": 'c"d', "owner": "postgres", "comment": "theirs"}
    assert life.update({**life.definition.properties, **changes}) == "updated"
    assert (life.attribute("oid"), life.attribute("owner")) == (oid, "postgres")
    life.check()
    execute(world, "ALTER SCHEMA {} RENAME TO x", 'c"d', database=database)
    with pytest.raises(ResourceFailure, match=r"name \(c\"d -> x\)"):
        life.check()
    life.update({**life.definition.properties, "cascade": True})
    life.check()
    life.delete()
    life.delete()
    assert world.postgres.value(SCHEMA, 'c"d', database=database) == 0


def test_another_database_is_another_schema(world: Any, database: str) -> None:
    life = world.life("schema", database=database, name="app")
    life.create()
    other = world.name("renamed")
    execute(world, "ALTER DATABASE {} RENAME TO {}", database, other)
    assert life.update({**life.definition.properties, "database": other}) == "updated"
    execute(world, "CREATE DATABASE {}", database)
    assert life.update({**life.definition.properties, "database": database}) == "replaced"
    assert world.postgres.value(SCHEMA, "app", database=other) == 0
    assert world.postgres.value(SCHEMA, "app", database=database) == 1


def test_a_schema_that_is_not_empty_is_dropped_only_with_cascade(world: Any, database: str) -> None:
    life = world.life("schema", database=database, name="app")
    life.create()
    execute(world, "CREATE TABLE app.t ()", database=database)
    with pytest.raises(ResourceFailure, match=r"not empty.*cascade: true"):
        life.delete()
    life.update({**life.definition.properties, "cascade": True})
    life.delete()
    assert world.postgres.value(SCHEMA, "app", database=database) == 0


@pytest.mark.parametrize("kind", ["schema", "extension"])
def test_what_goes_with_its_database_is_gone(world: Any, database: str, kind: str) -> None:
    life = world.life(kind, database=database, name="app" if kind == "schema" else "hstore")
    life.create()
    execute(world, "DROP DATABASE {}", database)
    life.delete()


def test_a_database_that_is_missing_is_told(world: Any) -> None:
    life = world.life("schema", database=world.name("no"), name="app")
    with pytest.raises(ResourceFailure, match="does not exist"):
        life.create()
    life.delete()


def test_a_schema_of_somebody_else_is_left_alone_or_used(world: Any, database: str) -> None:
    life = world.life("schema", database=database, name="public")
    with pytest.raises(ResourceFailure, match="adopt: true"):
        life.create()
    life.delete()
    used = world.life("schema", database=database, name="public", adopt=True)
    used.create()
    used.check()
    used.delete()
    assert world.postgres.value(SCHEMA, "public", database=database) == 1


@pytest.mark.parametrize("kind", ["schema", "extension"])
@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_whenever_it_is_killed_the_next_attempt_completes_it(
    world: Any,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    killed: Any,
    kind: str,
    number: int,
    before: bool,
) -> None:
    name, query = ("app", SCHEMA) if kind == "schema" else ("hstore", EXTENSION)
    life = world.life(kind, database=database, name=name, comment="ours")
    if killed(life, monkeypatch, number, before, life.create):
        life.create()
    life.check()
    if killed(life, monkeypatch, number, before, life.delete):
        life.delete()
    assert world.postgres.value(query, name, database=database) == 0


def test_an_extension_from_beginning_to_end(world: Any, database: str) -> None:
    execute(world, "CREATE SCHEMA a; CREATE SCHEMA b", database=database)
    life = world.life("extension", database=database, name="hstore", schema="a", version="1.4")
    life.validate()
    life.create()
    life.check()
    own = world.postgres.value(
        "SELECT obj_description(oid, 'pg_extension') FROM pg_extension WHERE extname = 'hstore'",
        database=database,
    )
    assert own.startswith("data type for storing sets")
    assert life.update({**life.definition.properties, "version": "1.5", "schema": "b"}) == "updated"
    assert (life.attribute("version"), life.attribute("schema")) == ("1.5", "b")
    execute(world, "ALTER EXTENSION hstore UPDATE", database=database)
    with pytest.raises(ResourceFailure, match="version"):
        life.check()
    life.delete()
    assert world.postgres.value(EXTENSION, "hstore", database=database) == 0


def test_an_extension_of_somebody_else_stays(world: Any, database: str) -> None:
    life = world.life("extension", database=database, name="plpgsql")
    with pytest.raises(ResourceFailure, match="adopt: true"):
        life.create()
    life.delete()
    used = world.life("extension", database=database, name="plpgsql", adopt=True)
    used.create()
    used.delete()
    assert world.postgres.value(EXTENSION, "plpgsql", database=database) == 1


def test_an_extension_that_is_needed_is_dropped_only_with_cascade(
    world: Any, database: str
) -> None:
    life = world.life("extension", database=database, name="hstore")
    life.create()
    execute(world, "CREATE TABLE t (h hstore)", database=database)
    with pytest.raises(ResourceFailure, match=r"needed.*cascade: true"):
        life.delete()
    life.update({**life.definition.properties, "cascade": True})
    life.delete()


def test_an_unknown_extension_is_told(world: Any, database: str) -> None:
    with pytest.raises(ResourceFailure, match="no_such"):
        world.life("extension", database=database, name="no_such").create()


def test_names_of_the_system_are_refused(world: Any) -> None:
    with pytest.raises(ZondaError, match="PostgreSQL's own"):
        world.life("schema", name="pg_mine").validate()


def test_a_copy_of_the_mark_leads_nowhere(world: Any, database: str) -> None:
    """Whoever may make schemas can copy a comment; pg_description may have the copy first."""
    life = world.life("schema", database=database, name="mine")
    life.create()
    mark = world.postgres.value(
        "SELECT obj_description('mine'::regnamespace, 'pg_namespace')", database=database
    )
    text = sql.Literal(mark).as_string(None)
    for statement in (
        f"CREATE SCHEMA aaa; COMMENT ON SCHEMA aaa IS {text}",
        f"COMMENT ON SCHEMA mine IS NULL; COMMENT ON SCHEMA mine IS {text}",
    ):
        world.postgres.rows(statement, database=database)
    life.check()
    life.update({**life.definition.properties, "name": "ours"})
    del life.saved.data["oid"]
    with pytest.raises(ResourceFailure, match="the schemas aaa and ours may both be the one"):
        life.delete()
    world.postgres.rows("COMMENT ON SCHEMA aaa IS 'mine'", database=database)
    life.delete()
    names = "SELECT nspname::text FROM pg_namespace WHERE nspname IN ('aaa', 'mine', 'ours')"
    assert world.postgres.rows(names, database=database) == [("aaa",)]


def test_a_copy_of_the_mark_does_not_stand_in_for_one_that_was_taken_away(
    world: Any, database: str
) -> None:
    life = world.life("schema", database=database, name="mine")
    life.create()
    mark = world.postgres.value(
        "SELECT obj_description('mine'::regnamespace, 'pg_namespace')", database=database
    )
    text = sql.Literal(mark).as_string(None)
    copied = f"CREATE SCHEMA aaa; COMMENT ON SCHEMA aaa IS {text}; COMMENT ON SCHEMA mine IS NULL"
    world.postgres.rows(copied, database=database)
    with pytest.raises(ResourceFailure, match="the schemas aaa and mine may both"):
        life.delete()


def test_a_database_without_an_encoding_is_like_any_other(world: Any, role: str) -> None:
    name = world.name("ascii")
    made = "CREATE DATABASE {} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    execute(world, made, name)
    life = world.life("schema", database=name, name="añb", owner=role, comment="ours")
    life.create()
    life.check()
    assert life.live_state()["name"] == "añb"
    grant = world.life(
        "grant",
        database=name,
        role=role,
        object_type="schema",
        schema="añb",
        privileges=["USAGE"],
    )
    grant.create()
    grant.check()
    grant.delete()
    life.delete()
