"""Roles: changed in place, passwords rotated and never shown, dropped with what they own."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import sql
from zonda.hooks import NotFound, ResourceFailure, ZondaError

from zonda_postgresql import scram
from zonda_postgresql.role import OPTIONS

EXISTS = "SELECT count(*) FROM pg_roles WHERE rolname = %s"


def execute(world: Any, statement: str, *names: str, database: str = "") -> None:
    """A statement by hand; ``{}`` stands for a name."""
    with world.postgres.connect(database) as raw:
        raw.execute(sql.SQL(statement).format(*(sql.Identifier(name) for name in names)))


def test_a_role_from_beginning_to_end(world: Any, role: str) -> None:
    name = world.name("app")
    given = {
        "name": name,
        "password": "hunter2",
        "createdb": True,
        "connection_limit": 7,
        "valid_until": "2100-01-01 00:00:00+00",
        "member_of": [role],
        "settings": {"search_path": ["app", "public"]},
        "comment": "the app",
    }
    life = world.life("role", **given)
    life.validate()
    life.create()
    assert world.postgres.logs_in(name, "hunter2")
    assert not world.postgres.logs_in(name, "hunter3")
    life.check()
    live = life.live_state()
    assert {key: live[key] for key in given} == given
    assert {key: live[key] for key in OPTIONS} == {
        **{key: default for key, (_, _, default) in OPTIONS.items()},
        "createdb": True,
    }
    life.delete()
    life.delete()
    assert world.postgres.value(EXISTS, name) == 0


def test_everything_is_changed_in_place(world: Any, role: str) -> None:
    life = world.life("role", name=world.name("a"), password="one")
    life.create()
    oid = life.attribute("oid")
    changes = {
        "name": world.name("b"),
        "password": "two",
        "createrole": True,
        "inherit": False,
        "connection_limit": 1,
        "member_of": [role],
        "settings": {"work_mem": "1MB"},
        "valid_until": "2100-01-01",
    }
    assert life.update({**life.definition.properties, **changes}) == "updated"
    assert life.attribute("oid") == oid
    life.check()
    assert life.live_state() | changes == life.live_state()
    assert world.postgres.logs_in(world.name("b"), "two")
    life.update({**life.definition.properties, "member_of": [], "settings": {}})
    assert life.attribute("member_of") == []
    assert life.live_state()["settings"] == {}


def test_the_password_is_never_sent_and_never_shown(world: Any) -> None:
    life = world.life("role", name=world.name("a"), password="hunter2")
    statements: list[str] = []
    run = psycopg.Connection.execute

    def listen(connection: Any, query: Any, *rest: Any, **more: Any) -> Any:
        statements.append(query.as_string(connection))
        return run(connection, query, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", listen)
        life.create()
    assert any("PASSWORD 'SCRAM-SHA-256$" in statement for statement in statements)
    assert not any("hunter2" in statement for statement in statements)
    execute(world, "ALTER ROLE {} PASSWORD 'hunter3'", world.name("a"))
    with pytest.raises(ResourceFailure, match="has changed: password") as told:
        life.check()
    assert "hunter" not in str(told.value)
    life.update({**life.definition.properties, "comment": "again"})
    life.check()


def test_who_may_not_look_at_passwords_sets_them_again(world: Any) -> None:
    boss = world.life("role", name=world.name("boss"), password="boss", createrole=True)
    boss.create()
    user = {"user": world.name("boss"), "password": "boss"}
    life = world.life("role", as_user=user, name=world.name("a"), password="one")
    life.create()
    assert "password" not in life.live_state()
    life.check()
    life.update({**life.definition.properties, "password": "two"})
    assert world.postgres.logs_in(world.name("a"), "two")
    life.delete()
    assert world.postgres.value(EXISTS, world.name("a")) == 0


@pytest.mark.parametrize(
    "password", ["plain", "pässwört", "a\u00a0b", "I\u00adX", "\u2168", "漢字"]
)
def test_a_password_is_recognised_by_its_verifier(world: Any, password: str) -> None:
    life = world.life("role", name=world.name("a"), password=password)
    life.create()
    name, query = world.name("a"), "SELECT rolpassword FROM pg_authid WHERE rolname = %s"
    kept = world.postgres.value(query, name)
    assert scram.matches(kept, password, name)
    assert not scram.matches(kept, password + "x", name)
    assert world.postgres.logs_in(name, password)
    server_made = f"ALTER ROLE {{}} PASSWORD '{password}'"
    execute(world, server_made, name)
    assert scram.matches(world.postgres.value(query, name), password, name)


def test_an_md5_verifier_is_recognised() -> None:
    assert scram.matches("md5f7c31fc1f4c84e1bcdc4f4abe2ea8b48", "secret", "bob") is False
    import hashlib

    kept = "md5" + hashlib.md5(b"secretbob").hexdigest()
    assert scram.matches(kept, "secret", "bob")


def test_a_role_of_somebody_else_is_left_alone(world: Any, role: str) -> None:
    life = world.life("role", name=role, superuser=True)
    with pytest.raises(ResourceFailure, match="adopt: true"):
        life.create()
    life.delete()
    assert world.postgres.value("SELECT rolsuper FROM pg_roles WHERE rolname = %s", role) is False


def test_a_role_of_somebody_else_is_used_and_not_dropped(world: Any, role: str) -> None:
    life = world.life("role", name=role, adopt=True, password="x")
    life.create()
    life.check()
    assert world.postgres.logs_in(role, "x")
    life.delete()
    assert world.postgres.value(EXISTS, role) == 1


def test_what_a_stack_adopts_is_its_own(world: Any, role: str) -> None:
    life = world.life("role", name=role, login=False)
    life.adopt({"resource_id": role})
    life.check()
    life.delete()
    assert world.postgres.value(EXISTS, role) == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param("ALTER ROLE {} NOLOGIN", r"login \(True -> False\)", id="login"),
        pytest.param("ALTER ROLE {} SUPERUSER", "superuser", id="superuser"),
        pytest.param("ALTER ROLE {} CONNECTION LIMIT 3", "connection_limit", id="limit"),
        pytest.param("ALTER ROLE {} VALID UNTIL '2001-01-01'", "valid_until", id="until"),
        pytest.param("ALTER ROLE {} SET work_mem TO '1MB'", "settings", id="setting"),
        pytest.param("GRANT pg_monitor TO {}", "member_of", id="one-more-group"),
        pytest.param("COMMENT ON ROLE {} IS NULL", "comment", id="comment"),
        pytest.param("DROP ROLE {}", "is gone", id="dropped"),
    ],
)
def test_drift_is_seen_told_and_put_right(world: Any, change: str, told: str) -> None:
    name = world.name("a")
    given = {"valid_until": "2100-01-01", "settings": {}, "member_of": [], "comment": "ours"}
    life = world.life("role", name=name, **given)
    life.create()
    execute(world, change, name)
    with pytest.raises(ResourceFailure, match=told):
        life.check()
    life.update({**life.definition.properties, "drop_owned": True})
    life.check()
    life.delete()
    assert world.postgres.value(EXISTS, name) == 0


def test_a_role_that_is_gone_has_no_state(world: Any) -> None:
    life = world.life("role", name=world.name("a"))
    life.create()
    execute(world, "DROP ROLE {}", world.name("a"))
    with pytest.raises(NotFound):
        life.live_state()
    life.delete()


def owning(world: Any, database: str, name: str) -> None:
    execute(world, "CREATE TABLE stuff ()", database=database)
    execute(world, "ALTER TABLE stuff OWNER TO {}", name, database=database)


def test_a_role_that_owns_something_stays(world: Any, database: str) -> None:
    life = world.life("role", name=world.name("a"))
    life.create()
    owning(world, database, world.name("a"))
    with pytest.raises(ResourceFailure, match=r"still needed.*reassign_owned_to"):
        life.delete()


def test_what_it_owns_is_handed_on(world: Any, database: str, role: str) -> None:
    life = world.life("role", name=world.name("a"), reassign_owned_to=role)
    life.create()
    owning(world, database, world.name("a"))
    life.delete()
    owner = "SELECT tableowner FROM pg_tables WHERE tablename = 'stuff'"
    assert world.postgres.value(owner, database=database) == role


def test_what_it_owns_is_dropped(world: Any, database: str) -> None:
    life = world.life("role", name=world.name("a"), drop_owned=True)
    life.create()
    owning(world, database, world.name("a"))
    life.delete()
    count = "SELECT count(*) FROM pg_tables WHERE tablename = 'stuff'"
    assert world.postgres.value(count, database=database) == 0


@pytest.mark.parametrize("number", range(9))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_whenever_it_is_killed_the_next_attempt_completes_it(
    world: Any, monkeypatch: pytest.MonkeyPatch, killed: Any, number: int, before: bool
) -> None:
    life = world.life("role", name=world.name("a"), password="one", connection_limit=4)
    if killed(life, monkeypatch, number, before, life.create):
        life.create()
    life.check()
    changed = {**life.definition.properties, "name": world.name("b"), "password": "two"}
    if killed(life, monkeypatch, number, before, lambda: life.update(changed)):
        life.status = "FAILED"
        life.update(changed)
    life.check()
    assert world.postgres.logs_in(world.name("b"), "two")
    life.delete()
    assert world.postgres.value(EXISTS, world.name("a")) == 0
    assert world.postgres.value(EXISTS, world.name("b")) == 0


@pytest.mark.parametrize("name", ["pg_mine", "public", "none", "x" * 64])
def test_names_that_cannot_be_are_told(world: Any, name: str) -> None:
    life = world.life("role", name=name)
    with pytest.raises(ZondaError):
        life.validate()


@pytest.mark.parametrize(
    "wanted", [['a"b'], ["a, b", "C"], ['"$user"', "$user"], [""], []], ids=lambda v: "|".join(v)
)
def test_a_list_is_read_back_as_it_was_given(world: Any, wanted: list[str]) -> None:
    life = world.life("role", name=world.name("a"), settings={"search_path": wanted})
    life.create()
    life.check()
    assert life.live_state()["settings"] == {"search_path": wanted}
