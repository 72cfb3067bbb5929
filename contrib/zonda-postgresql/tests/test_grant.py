"""Grants: what is missing is granted, what is no longer wanted is revoked, the rest not touched."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql
from zonda.hooks import ResourceFailure, ZondaError


def execute(world: Any, statement: str, *names: str, database: str = "") -> None:
    """A statement by hand; ``{}`` stands for a name."""
    with world.postgres.connect(database) as raw:
        raw.execute(sql.SQL(statement).format(*(sql.Identifier(name) for name in names)))


@pytest.fixture
def tables(world: Any, database: str) -> str:
    """A database with two tables, a sequence and two functions in the schema ``app``."""
    execute(
        world,
        'CREATE SCHEMA app; CREATE TABLE app.one (); CREATE TABLE app."t\'wo" ();'
        "CREATE SEQUENCE app.numbers;"
        "CREATE FUNCTION app.f(a integer, b text) RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA app FROM PUBLIC",
        database=database,
    )
    return database


def may(world: Any, database: str, kind: str, role: str, what: str, privilege: str) -> bool:
    """PostgreSQL's own answer."""
    query = f"SELECT has_{kind}_privilege(%s, %s, %s)"
    return bool(world.postgres.value(query, role, what, privilege, database=database))


CASES = [
    pytest.param(
        {"object_type": "database", "privileges": ["CREATE"]}, ("database", None), id="database"
    ),
    pytest.param(
        {"object_type": "schema", "schema": "app", "privileges": ["USAGE", "CREATE"]},
        ("schema", "app"),
        id="schema",
    ),
    pytest.param(
        {
            "object_type": "table",
            "schema": "app",
            "objects": ["t'wo"],
            "privileges": ["SELECT", "INSERT"],
        },
        ("table", 'app."t\'wo"'),
        id="table",
    ),
    pytest.param(
        {"object_type": "table", "schema": "app", "privileges": ["SELECT"]},
        ("table", "app.one"),
        id="all",
    ),
    pytest.param(
        {"object_type": "sequence", "schema": "app", "privileges": ["USAGE"]},
        ("sequence", "app.numbers"),
        id="sequence",
    ),
    pytest.param(
        {
            "object_type": "function",
            "schema": "app",
            "objects": ["f(a integer, b text)"],
            "privileges": ["EXECUTE"],
        },
        ("function", "app.f(integer, text)"),
        id="function",
    ),
]


@pytest.mark.parametrize(("given", "asked"), CASES)
def test_a_grant_from_beginning_to_end(
    world: Any, tables: str, role: str, given: Any, asked: Any
) -> None:
    life = world.life("grant", database=tables, role=role, **given)
    life.validate()
    kind, what = asked[0], asked[1] or tables
    life.create()
    assert all(may(world, tables, kind, role, what, word) for word in given["privileges"])
    assert not may(world, tables, kind, role, what, f"{given['privileges'][0]} WITH GRANT OPTION")
    life.check()
    assert life.attribute("privileges") == given["privileges"]
    life.update({**life.definition.properties, "grant_option": True})
    assert may(world, tables, kind, role, what, f"{given['privileges'][0]} WITH GRANT OPTION")
    life.check()
    life.update({**life.definition.properties, "privileges": ["ALL"], "grant_option": False})
    life.check()
    assert not may(world, tables, kind, role, what, f"{given['privileges'][0]} WITH GRANT OPTION")
    life.delete()
    life.delete()
    assert not any(may(world, tables, kind, role, what, word) for word in given["privileges"])


def test_only_the_difference_is_granted_and_revoked(world: Any, tables: str, role: str) -> None:
    given = {"database": tables, "role": role, "object_type": "table", "schema": "app"}
    life = world.life("grant", **given, privileges=["SELECT", "INSERT"])
    life.create()
    life.update({"server": life.definition.properties["server"], **given, "privileges": ["SELECT"]})
    assert may(world, tables, "table", role, "app.one", "SELECT")
    assert not may(world, tables, "table", role, "app.one", "INSERT")


def test_what_the_role_had_before_it_keeps(world: Any, tables: str, role: str) -> None:
    execute(world, "GRANT SELECT ON app.one TO {}", role, database=tables)
    life = world.life(
        "grant",
        database=tables,
        role=role,
        object_type="table",
        schema="app",
        privileges=["SELECT"],
    )
    life.create()
    life.check()
    life.delete()
    assert may(world, tables, "table", role, "app.one", "SELECT")
    assert not may(world, tables, "table", role, 'app."t\'wo"', "SELECT")


def test_a_table_that_came_later_is_drift(world: Any, tables: str, role: str) -> None:
    life = world.life(
        "grant",
        database=tables,
        role=role,
        object_type="table",
        schema="app",
        privileges=["SELECT"],
    )
    life.create()
    execute(world, "CREATE TABLE app.later ()", database=tables)
    with pytest.raises(ResourceFailure, match=r"privileges"):
        life.check()
    life.update({**life.definition.properties, "future_owner": "postgres"})
    life.check()


@pytest.mark.parametrize(
    ("kind", "privilege", "make", "what"),
    [
        ("table", "SELECT", "CREATE TABLE app.later ()", "app.later"),
        ("sequence", "USAGE", "CREATE SEQUENCE app.later", "app.later"),
        (
            "function",
            "EXECUTE",
            "CREATE FUNCTION app.g() RETURNS int LANGUAGE sql AS 'SELECT 1'; "
            "REVOKE EXECUTE ON FUNCTION app.g() FROM PUBLIC",
            "app.g()",
        ),
    ],
)
def test_what_comes_later_has_it_where_that_is_wanted(
    world: Any, tables: str, role: str, kind: str, privilege: str, make: str, what: str
) -> None:
    given = {"object_type": kind, "schema": "app", "privileges": [privilege], "future": True}
    life = world.life("grant", database=tables, role=role, **given)
    life.create()
    execute(world, make, database=tables)
    assert may(world, tables, kind, role, what, privilege)
    life.check()
    life.update({**life.definition.properties, "future": False})
    query = "SELECT count(*) FROM pg_default_acl"
    assert world.postgres.value(query, database=tables) == 0
    life.update({**life.definition.properties, "future": True})
    life.delete()
    assert world.postgres.value(query, database=tables) == 0


def test_everybody_is_public(world: Any, tables: str, role: str) -> None:
    life = world.life(
        "grant",
        database=tables,
        role="PUBLIC",
        object_type="schema",
        schema="app",
        privileges=["USAGE"],
    )
    life.create()
    assert may(world, tables, "schema", role, "app", "USAGE")
    life.check()
    life.delete()
    assert not may(world, tables, "schema", role, "app", "USAGE")


def test_drift_is_seen_told_and_put_right(world: Any, tables: str, role: str) -> None:
    life = world.life(
        "grant", database=tables, role=role, object_type="schema", schema="app", privileges=["ALL"]
    )
    life.create()
    execute(world, "REVOKE CREATE ON SCHEMA app FROM {}", role, database=tables)
    assert life.live_state()["privileges"] == ["USAGE"]
    with pytest.raises(ResourceFailure, match=r"privileges \(\['ALL'\] -> \['USAGE'\]\)"):
        life.check()
    life.update({**life.definition.properties, "future_owner": "postgres"})
    life.check()


def test_a_renamed_role_database_and_schema_take_their_grant_along(world: Any, tables: str) -> None:
    role = world.life("role", name=world.name("a"))
    role.create()
    given = {
        "object_type": "schema",
        "schema": "app",
        "privileges": ["USAGE"],
        "role": world.name("a"),
    }
    grant = world.life("grant", database=tables, **given)
    grant.create()
    on_database = {**given, "object_type": "database", "privileges": ["CREATE"]}
    del on_database["schema"]
    second = world.life("grant", database=tables, **on_database)
    second.create()
    role.update({**role.definition.properties, "name": world.name("b")})
    execute(world, "ALTER SCHEMA app RENAME TO appendix", database=tables)
    execute(world, "ALTER DATABASE {} RENAME TO {}", tables, world.name("moved"))
    changed = {"role": world.name("b"), "database": world.name("moved")}
    grant.update({**grant.definition.properties, **changed, "schema": "appendix"})
    second.update({**second.definition.properties, **changed})
    grant.check()
    grant.delete()
    second.delete()
    role.delete()
    count = "SELECT count(*) FROM pg_roles WHERE rolname = %s"
    assert world.postgres.value(count, world.name("b")) == 0


def test_what_a_stack_adopts_is_its_own(world: Any, tables: str, role: str) -> None:
    execute(world, "GRANT USAGE ON SCHEMA app TO {}", role, database=tables)
    given = {"object_type": "schema", "schema": "app", "privileges": ["USAGE"]}
    life = world.life("grant", database=tables, role=role, **given)
    life.adopt({"resource_id": "x"})
    life.check()
    life.delete()
    assert not may(world, tables, "schema", role, "app", "USAGE")


def test_another_role_gets_what_the_first_loses(world: Any, tables: str, role: str) -> None:
    other = world.name("other")
    execute(world, "CREATE ROLE {}", other)
    given = {"object_type": "schema", "schema": "app", "privileges": ["USAGE"]}
    life = world.life("grant", database=tables, role=role, **given)
    life.create()
    assert life.update({**life.definition.properties, "role": other}) == "updated"
    assert not may(world, tables, "schema", role, "app", "USAGE")
    assert may(world, tables, "schema", other, "app", "USAGE")


@pytest.mark.parametrize("gone", ["role", "schema", "database"])
def test_what_is_gone_needs_no_revoking(world: Any, tables: str, role: str, gone: str) -> None:
    given = {"object_type": "schema", "schema": "app", "privileges": ["USAGE"]}
    life = world.life("grant", database=tables, role=role, **given)
    life.create()
    if gone == "role":
        execute(world, "DROP OWNED BY {}", role, database=tables)
        execute(world, "DROP ROLE {}", role)
    elif gone == "schema":
        execute(world, "DROP SCHEMA app CASCADE", database=tables)
    else:
        execute(world, "DROP DATABASE {}", tables)
    with pytest.raises(ResourceFailure):
        life.check()
    life.delete()


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_whenever_it_is_killed_the_next_attempt_completes_it(
    world: Any,
    tables: str,
    role: str,
    monkeypatch: pytest.MonkeyPatch,
    killed: Any,
    number: int,
    before: bool,
) -> None:
    execute(world, "GRANT SELECT ON app.one TO {}", role, database=tables)
    given = {"object_type": "table", "schema": "app", "privileges": ["SELECT", "INSERT"]}
    life = world.life("grant", database=tables, role=role, **given)
    if killed(life, monkeypatch, number, before, life.create):
        life.create()
    life.check()
    changed = {**life.definition.properties, "privileges": ["INSERT", "UPDATE"]}
    if killed(life, monkeypatch, number, before, lambda: life.update(changed)):
        life.status = "FAILED"
        life.update(changed)
    life.check()
    life.delete()
    assert may(world, tables, "table", role, "app.one", "SELECT"), "it had this before"
    assert not may(world, tables, "table", role, "app.one", "INSERT")
    assert not may(world, tables, "table", role, "app.one", "UPDATE")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param(
            {"object_type": "schema", "privileges": ["USAGE"]}, "needs the schema", id="no-schema"
        ),
        pytest.param(
            {"object_type": "village", "privileges": ["USAGE"]}, "allowed value", id="kind"
        ),
        pytest.param({"object_type": "database", "privileges": []}, "privileges", id="none"),
        pytest.param(
            {"object_type": "database", "privileges": ["EAT"]}, "allowed value", id="unknown"
        ),
        pytest.param(
            {"object_type": "database", "privileges": ["CREATE"], "objects": ["x"]},
            "is for",
            id="objects",
        ),
        pytest.param(
            {
                "object_type": "table",
                "schema": "s",
                "privileges": ["SELECT"],
                "objects": ["x"],
                "future": True,
            },
            "leave `objects` out",
            id="future-objects",
        ),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_made(world: Any, given: Any, told: str) -> None:
    with pytest.raises(ZondaError, match=told):
        world.life("grant", role="r", **given).validate()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"role": "no one"}, r"role \(no one\) could not be found", id="role"),
        pytest.param({"schema": "no"}, r"schema \(no\) could not be found", id="schema"),
        pytest.param({"objects": ["no"]}, r"table \(app.no\) could not be found", id="table"),
        pytest.param({"privileges": ["USAGE"]}, "USAGE is no privilege on a table", id="word"),
    ],
)
def test_what_is_missing_is_told(world: Any, tables: str, role: str, given: Any, told: str) -> None:
    usual = {"role": role, "object_type": "table", "schema": "app", "privileges": ["SELECT"]}
    with pytest.raises(ZondaError, match=told):
        world.life("grant", database=tables, **{**usual, **given}).create()


def test_a_function_whose_name_is_a_statement_is_only_a_function(
    world: Any, tables: str, role: str
) -> None:
    mallory = world.plain_name("m")
    execute(world, "CREATE ROLE {}", mallory)
    execute(world, "GRANT USAGE, CREATE ON SCHEMA app TO {}", mallory, database=tables)
    trap = f"f(int,text) TO {mallory}; ALTER ROLE {mallory} SUPERUSER; --"
    names = ("app", trap), ("app", 'a"(b'), ("app", "{}")
    with world.postgres.connect(tables) as raw:
        raw.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(mallory)))
        for name in names:
            made = "CREATE FUNCTION {}(x int) RETURNS int LANGUAGE sql AS 'SELECT 1'"
            raw.execute(sql.SQL(made).format(sql.Identifier(*name)))
    execute(world, "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA app FROM PUBLIC", database=tables)
    given = {"object_type": "function", "schema": "app", "privileges": ["EXECUTE"]}
    life = world.life("grant", database=tables, role=role, **given)
    life.create()
    query = "SELECT rolsuper FROM pg_roles WHERE rolname = %s"
    assert world.postgres.value(query, mallory) is False
    life.check()
    for name in names:
        what = f"{sql.Identifier(*name).as_string(None)}(integer)"
        assert may(world, tables, "function", role, what, "EXECUTE")
    life.update({**life.definition.properties, "objects": [f"{trap}(integer)", "{}(integer)"]})
    life.check()
    assert not may(world, tables, "function", role, "app.f(integer, text)", "EXECUTE")
    life.delete()
    assert world.postgres.value(query, mallory) is False
    assert not may(world, tables, "function", role, 'app."{}"(integer)', "EXECUTE")


@pytest.mark.parametrize(
    ("made", "arguments", "known_as"),
    [
        ("PROCEDURE", "(a integer, INOUT b text)", "(integer, text)"),
        ("PROCEDURE", "(a integer, OUT b text)", "(integer)"),
        ("FUNCTION", "(VARIADIC a integer[])", "(integer[])"),
        ("FUNCTION", '(a app."my (type")', '(app."my (type")'),
        ("FUNCTION", '(a "char", b bit varying)', '("char", bit varying)'),
        ("FUNCTION", "()", "()"),
    ],
    ids=["procedure", "out", "many", "own", "words", "nothing"],
)
def test_whatever_can_be_called_can_be_granted(
    world: Any, tables: str, role: str, made: str, arguments: str, known_as: str
) -> None:
    execute(
        world,
        'DROP FUNCTION app.f; CREATE DOMAIN app."my (type" AS text;'
        f"CREATE {made} app.it{arguments}{' RETURNS int' if made == 'FUNCTION' else ''} "
        "LANGUAGE plpgsql AS 'BEGIN END';"
        "REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA app FROM PUBLIC",
        database=tables,
    )
    given = {"object_type": "function", "schema": "app", "privileges": ["EXECUTE"]}
    everything = world.life("grant", database=tables, role=role, **given)
    everything.create()
    everything.check()
    assert everything.attribute("objects") == [f"it{known_as}"]
    everything.delete()
    one = world.life("grant", database=tables, role=role, **given, objects=[f"it{known_as}"])
    one.create()
    one.check()
    query = "SELECT has_function_privilege(%s, oid, 'EXECUTE') FROM pg_proc WHERE proname = 'it'"
    assert world.postgres.value(query, role, database=tables) is True
    one.delete()
    assert world.postgres.value(query, role, database=tables) is False


FUTURE = {"object_type": "table", "schema": "app", "future": True}


def test_what_came_later_loses_it_with_the_grant(world: Any, tables: str, role: str) -> None:
    given = {**FUTURE, "privileges": ["SELECT", "DELETE"]}
    life = world.life("grant", database=tables, role=role, **given)
    life.create()
    execute(world, "CREATE TABLE app.later (); ALTER TABLE app.one RENAME TO uno", database=tables)
    life.update({**life.definition.properties, "privileges": ["SELECT"]})
    assert not may(world, tables, "table", role, "app.later", "DELETE")
    execute(world, "CREATE TABLE app.latest ()", database=tables)
    life.delete()
    assert not may(world, tables, "table", role, "app.later", "SELECT")
    assert not may(world, tables, "table", role, "app.latest", "SELECT")
    execute(world, "DROP ROLE {}", role)  # nothing needs it


def test_what_the_role_had_before_a_grant_for_the_future_it_keeps(
    world: Any, tables: str, role: str
) -> None:
    other = world.name("other")
    execute(world, "CREATE ROLE {}", other)
    execute(world, "GRANT SELECT ON app.one TO {}", role, database=tables)
    life = world.life("grant", database=tables, role=role, **FUTURE, privileges=["SELECT"])
    life.create()
    execute(world, "ALTER TABLE app.one RENAME TO uno", database=tables)
    made = "CREATE TABLE app.others (); ALTER TABLE app.others OWNER TO {};"
    execute(world, made + "GRANT SELECT ON app.others TO {}", other, role, database=tables)
    life.update({**life.definition.properties, "privileges": ["SELECT", "INSERT"]})
    life.delete()
    assert may(world, tables, "table", role, "app.uno", "SELECT")
    assert not may(world, tables, "table", role, "app.uno", "INSERT")
    assert may(world, tables, "table", role, "app.others", "SELECT"), "somebody else gave this"


def test_what_everybody_has_anyway_a_grant_for_the_future_does_not_take(
    world: Any, tables: str, role: str
) -> None:
    given = {"object_type": "function", "schema": "app", "privileges": ["EXECUTE"], "future": True}
    life = world.life("grant", database=tables, role="PUBLIC", **given)
    life.create()
    execute(
        world,
        "CREATE FUNCTION app.g() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        database=tables,
    )
    life.delete()
    assert may(world, tables, "function", role, "app.g()", "EXECUTE")


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_grant_for_the_future_that_is_killed_takes_nothing_it_did_not_give(
    world: Any,
    tables: str,
    role: str,
    monkeypatch: pytest.MonkeyPatch,
    killed: Any,
    number: int,
    before: bool,
) -> None:
    execute(world, "GRANT SELECT ON app.one TO {}", role, database=tables)
    life = world.life("grant", database=tables, role=role, **FUTURE, privileges=["SELECT"])
    if killed(life, monkeypatch, number, before, life.create):
        life.create()
    execute(world, "CREATE TABLE app.later ()", database=tables)
    changed = {**life.definition.properties, "privileges": ["INSERT"]}
    if killed(life, monkeypatch, number, before, lambda: life.update(changed)):
        life.status = "FAILED"
        life.update(changed)
    life.check()
    assert may(world, tables, "table", role, "app.one", "SELECT"), "it had this before"
    assert not may(world, tables, "table", role, "app.later", "SELECT")
    if killed(life, monkeypatch, number, before, life.delete):
        life.delete()
    assert may(world, tables, "table", role, "app.one", "SELECT"), "it had this before"
    assert not may(world, tables, "table", role, "app.later", "INSERT")
