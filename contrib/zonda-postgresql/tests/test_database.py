"""Databases: made once, changed in place, seen when they drift, dropped only if they are ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import sql
from zonda.hooks import NotFound, ResourceFailure, ZondaError

from zonda_postgresql.session import Session

EXISTS = "SELECT count(*) FROM pg_database WHERE datname = %s"
LEFT = "SELECT count(*) FROM pg_database WHERE datname LIKE 'zonda\\_%%' AND datname <> %s"


def execute(world: Any, statement: str, *names: str, database: str = "") -> None:
    """A statement by hand; ``{}`` stands for a name."""
    with world.postgres.connect(database) as raw:
        raw.execute(sql.SQL(statement).format(*(sql.Identifier(name) for name in names)))


def test_a_database_from_beginning_to_end(world: Any, role: str) -> None:
    name = world.name("orders")
    given = {
        "name": name,
        "owner": role,
        "encoding": "UTF8",
        "lc_collate": "C",
        "lc_ctype": "C",
        "template": "template0",
        "connection_limit": 7,
        "comment": "the orders",
        "settings": {"work_mem": "8MB", "search_path": ["$user", "app"], "log_duration": True},
    }
    life = world.life("database", **given)
    life.validate()
    life.create()
    assert (life.resource_id, life.reference) == (name, name)
    assert life.attribute("owner") == role
    life.check()
    live = life.live_state()
    assert {key: live[key] for key in given if key != "template"} == {
        key: value for key, value in given.items() if key != "template"
    }
    assert world.postgres.value("SHOW search_path", database=name) == '"$user", app'
    life.delete()
    life.delete()
    assert world.postgres.value(EXISTS, name) == 0


def test_what_can_be_changed_is_changed_in_place(world: Any, role: str) -> None:
    name, other = world.name("a"), world.name("b")
    life = world.life("database", name=name, settings={"work_mem": "8MB", "jit": False})
    life.create()
    oid = life.attribute("oid")
    changes = {
        "name": other,
        "owner": role,
        "connection_limit": 3,
        "allow_connections": True,
        "settings": {"work_mem": "16MB"},
        "comment": "renamed",
    }
    assert life.update({**life.definition.properties, **changes}) == "updated"
    assert (life.attribute("oid"), life.resource_id) == (oid, other)
    assert life.live_state() | changes == life.live_state()
    life.check()
    life.delete()


@pytest.mark.parametrize("key", ["encoding", "lc_collate", "template"])
def test_what_cannot_be_changed_never_costs_the_data(world: Any, key: str) -> None:
    name = world.name("a")
    life = world.life("database", name=name)
    life.create()
    execute(world, "CREATE TABLE precious ()", database=name)
    with pytest.raises(ResourceFailure, match=r"there already .made by zonda for the resource"):
        life.update({**life.definition.properties, key: "template0" if key == "template" else "C"})
    life.delete()
    assert world.postgres.rows("TABLE precious", database=name) == []


def test_a_database_of_somebody_else_is_left_alone(world: Any, database: str) -> None:
    life = world.life("database", name=database)
    with pytest.raises(ResourceFailure, match=r"not made by zonda.*adopt: true"):
        life.create()
    life.delete()
    assert world.postgres.value(EXISTS, database) == 1


def test_a_database_of_somebody_else_is_used_and_not_dropped(world: Any, database: str) -> None:
    life = world.life("database", name=database, adopt=True, connection_limit=5)
    life.create()
    life.check()
    assert life.live_state()["connection_limit"] == 5
    life.delete()
    assert world.postgres.value(EXISTS, database) == 1


def test_what_a_stack_adopts_is_its_own(world: Any, database: str) -> None:
    life = world.life("database", name=database, connection_limit=5)
    life.adopt({"resource_id": database})
    with pytest.raises(ResourceFailure, match=r"connection_limit \(5 -> -1\)"):
        life.check()
    life.update({**life.definition.properties, "comment": "ours"})
    life.check()
    life.delete()
    assert world.postgres.value(EXISTS, database) == 0


def test_what_is_missing_is_not_adopted(world: Any) -> None:
    with pytest.raises(NotFound):
        world.life("database", name=world.name("no")).adopt({"resource_id": "x"})


def by_owner(world: Any, name: str) -> None:
    execute(world, "CREATE ROLE {}", world.name("thief"))
    execute(world, "ALTER DATABASE {} OWNER TO {}", name, world.name("thief"))


def by_name(world: Any, name: str) -> None:
    execute(world, "ALTER DATABASE {} RENAME TO {}", name, world.name("renamed"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(by_owner, "owner", id="owner"),
        pytest.param(by_name, "name", id="renamed"),
        pytest.param("ALTER DATABASE {} CONNECTION LIMIT 1", "connection_limit", id="limit"),
        pytest.param("ALTER DATABASE {} SET work_mem TO '1MB'", "settings", id="setting"),
        pytest.param("ALTER DATABASE {} SET jit TO off", "settings", id="one-more-setting"),
        pytest.param("COMMENT ON DATABASE {} IS 'mine'", "comment", id="comment"),
        pytest.param("DROP DATABASE {}", "is gone", id="dropped"),
    ],
)
def test_drift_is_seen_told_and_put_right(
    world: Any, change: str | Callable[[Any, str], None], told: str
) -> None:
    given = {"name": world.name("a"), "owner": "postgres", "comment": "ours"}
    life = world.life("database", **given, settings={"work_mem": "8MB"})
    life.create()
    if isinstance(change, str):
        execute(world, change, given["name"])
    else:
        change(world, given["name"])
    with pytest.raises(ResourceFailure, match=told):
        life.check()
    assert not life.instance().needs_replace_failed()
    life.update({**life.definition.properties, "force": True})
    life.check()
    life.delete()
    assert world.postgres.value(EXISTS, given["name"]) == 0


def test_sessions_stand_in_the_way_unless_forced(world: Any) -> None:
    life = world.life("database", name=world.name("a"))
    life.create()
    with world.postgres.connect(life.resource_id):
        with pytest.raises(ResourceFailure, match=r"being accessed by other users.*force: true"):
            life.delete()
        life.update({**life.definition.properties, "force": True})
        life.update({**life.definition.properties, "name": world.name("b")})
    with world.postgres.connect(life.resource_id):
        life.delete()
    assert world.postgres.value(EXISTS, world.name("b")) == 0


@pytest.mark.parametrize("number", range(11))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_whenever_it_is_killed_nothing_is_made_twice_or_left(
    world: Any, monkeypatch: pytest.MonkeyPatch, killed: Any, number: int, before: bool
) -> None:
    life = world.life("database", name=world.name("a"), connection_limit=4)
    if killed(life, monkeypatch, number, before, life.create):
        life.create()
    life.check()
    assert world.postgres.value(LEFT, "") == 0
    if killed(life, monkeypatch, number, before, life.delete):
        life.delete()
    assert world.postgres.value(EXISTS, world.name("a")) == 0


@pytest.mark.parametrize("number", range(6))
def test_a_creation_that_is_given_up_leaves_nothing(
    world: Any, monkeypatch: pytest.MonkeyPatch, killed: Any, number: int
) -> None:
    life = world.life("database", name=world.name("a"))
    killed(life, monkeypatch, number, False, life.create)
    life.delete()
    assert world.postgres.value(EXISTS, world.name("a")) == 0
    assert world.postgres.value(LEFT, "") == 0


def test_a_database_that_appears_meanwhile_stays(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = world.name("a")
    run = Session.run

    def appear(session: Any, statement: str, *parts: Any) -> None:
        if statement.startswith("COMMENT"):
            execute(world, "CREATE DATABASE {}", name)
        run(session, statement, *parts)

    monkeypatch.setattr(Session, "run", appear)
    life = world.life("database", name=name)
    with pytest.raises(ResourceFailure, match="has appeared"):
        life.create()
    life.delete()
    assert world.postgres.value(EXISTS, name) == 1
    assert world.postgres.value(LEFT, "") == 0


def test_an_attempt_waits_for_the_one_that_still_runs_on_the_server(world: Any) -> None:
    life = world.life("database", name=world.name("a"))
    with world.postgres.connect() as other:
        lock = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
        other.execute(lock, [life.uuid])
        waits = life._wait

        def wait(seconds: float) -> None:
            other.execute("SELECT pg_advisory_unlock_all()")
            waits(seconds)

        life._wait = wait
        life.create()
    life.check()


def test_another_connection_to_the_same_server_changes_nothing(world: Any) -> None:
    life = world.life("database", name=world.name("a"))
    life.create()
    server = {**life.definition.properties["server"], "connect_timeout": 5, "dbname": "template1"}
    assert life.update({**life.definition.properties, "server": server}) == "updated"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"name": "x" * 64}, "at most 63 bytes", id="long"),
        pytest.param({"name": "ä" * 32}, "64 bytes", id="long-in-bytes"),
        pytest.param({"name": "a\0b"}, "code 0", id="zero"),
        pytest.param({"name": "a", "connection_limit": -2}, "connection_limit", id="limit"),
        pytest.param({"name": "a", "settings": {"a b": "c"}}, "no setting", id="setting-name"),
        pytest.param({"name": "a", "settings": {"a": {}}}, "no setting", id="setting-value"),
        pytest.param({"name": "a", "server": {"port": 0}}, "port", id="port"),
        pytest.param({"name": "a", "server": {"sslmode": "yes"}}, "sslmode", id="sslmode"),
        pytest.param({"name": "a", "server": {"hots": "x"}}, "hots", id="unknown"),
        pytest.param({}, "name", id="no-name"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_made(world: Any, given: Any, told: str) -> None:
    with pytest.raises(ZondaError, match=told):
        world.life("database", **given).validate()
