"""Servers: proved, waited for, shared; and what is told when they cannot be reached."""

from __future__ import annotations

import dataclasses
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from zonda.hooks import NotReady, ResourceFailure
from zonda.hooks.testing import Lifecycle

from zonda_postgresql.server import Server
from zonda_postgresql.session import connect


def test_a_server_is_proved_and_shared(world: Any) -> None:
    life = world.life("server", statement_timeout=5)
    life.validate()
    life.create()
    life.check()
    assert life.attribute("version_number") >= 140000
    assert life.attribute("version").split(".")[0].isdigit()
    assert life.attribute("superuser") is True
    assert life.attribute("in_recovery") is False
    assert life.attribute("user") == "postgres"
    shared = life.attribute("connection")
    assert shared["statement_timeout"] == 5
    other = Lifecycle(world.life("role").cls, {"server": shared, "name": world.name("a")})
    other.create()
    other.delete()
    assert life.update({**life.definition.properties, "connect_timeout": 3}) == "updated"
    life.delete()


def test_the_connection_is_hidden() -> None:
    assert Server.attributes_schema["connection"].hidden
    assert Server.properties_schema["password"].hidden


def test_a_wrong_password_is_told_without_it(world: Any, role: str) -> None:
    world.postgres.rows(f"ALTER ROLE {chr(34)}{role.replace(chr(34), chr(34) * 2)}{chr(34)} LOGIN")
    life = world.life("server", as_user={"user": role, "password": "hunter2"})
    with pytest.raises(ResourceFailure, match="check the user and the password") as told:
        life.create()
    assert "hunter2" not in str(told.value)


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which somebody listens who is no PostgreSQL and refuses encryption."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    found, _ = listener.accept()
                except OSError:
                    return
                with found:
                    found.recv(100)
                    found.sendall(b"N")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_server_without_encryption_is_told(port: int) -> None:
    given = {"host": "127.0.0.1", "port": port, "user": "u", "sslmode": "require"}
    with pytest.raises(ResourceFailure, match="check `sslmode`"):
        Lifecycle(Server, given).create()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"host": "127.0.0.1", "port": 1}, "check `host` and `port`", id="refused"),
        pytest.param({"host": "no-such-host.invalid"}, "check `host`", id="unknown-host"),
        pytest.param({"service": "no-such-service"}, "check `service`", id="service"),
        pytest.param(
            {"host": "127.0.0.1", "port": 1, "sslmode": "verify-full", "sslrootcert": "/no/such"},
            "cannot be reached",
            id="certificate",
        ),
    ],
)
def test_a_server_out_of_reach_is_told(given: Any, told: str) -> None:
    with pytest.raises(ResourceFailure, match=told):
        Lifecycle(Server, {"connect_timeout": 2, **given}).create()


def test_a_server_that_is_being_started_is_waited_for(world: Any) -> None:
    life = world.life("server", wait=30)
    good = life.definition.properties["host"]
    life.definition.properties["host"] = "/no/such/folder"
    waits = life._wait

    def wait(seconds: float) -> None:
        life.definition.properties["host"] = good
        waits(seconds)

    life._wait = wait
    life.create()
    life.check()


def test_waiting_has_an_end() -> None:
    life = Lifecycle(Server, {"host": "/no/such/folder", "wait": 30})
    with pytest.raises(ResourceFailure, match="cannot be reached"):
        life.create()
    assert 30 <= life.context.clock.monotonic() < 33


def test_statements_have_a_time_limit(world: Any) -> None:
    settings = {**world.postgres.settings, "statement_timeout": 1}
    limited = pytest.raises(ResourceFailure, match="raise `statement_timeout`")
    with limited, connect(settings, "", "test") as session:
        session.rows("SELECT pg_sleep(30)")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(psycopg.errors.SerializationFailure("x"), id="serialization"),
        pytest.param(psycopg.errors.DeadlockDetected("x"), id="deadlock"),
        pytest.param(psycopg.errors.InternalError_("tuple concurrently updated"), id="tuple"),
    ],
)
def test_who_loses_a_race_is_asked_again(world: Any, error: psycopg.Error) -> None:
    with pytest.raises(NotReady), connect(world.postgres.settings, "", "test"):
        raise error


def test_a_lock_of_somebody_else_is_told(world: Any, database: str) -> None:
    life = world.life("schema", database=database, name="app", as_user={"lock_timeout": 1})
    with world.postgres.connect(database) as other, other.transaction():
        other.execute("LOCK TABLE pg_namespace IN SHARE MODE")
        with pytest.raises(ResourceFailure, match="raise `lock_timeout`"):
            life.create()
    life.create()


def test_many_grants_at_once_are_all_made(world: Any, database: str) -> None:
    """They all change one row, and PostgreSQL lets only one at a time."""
    names = [world.name(f"r{number}") for number in range(8)]
    for name in names:
        world.life("role", name=name).create()
    given = {"object_type": "database", "privileges": ["CREATE"]}
    lives = [world.life("grant", database=database, role=name, **given) for name in names]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda life: life.create(), lives))
    query = "SELECT has_database_privilege(%s, %s, 'CREATE')"
    assert all(world.postgres.value(query, name, database) for name in names)


def test_another_server_at_the_same_address_is_told(world: Any) -> None:
    life = world.life("server")
    life.create()
    life.saved.data["cluster"] = "1234"
    with pytest.raises(ResourceFailure, match="another server than before"):
        life.check()


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("role", {"name": "r"}),
        ("database", {"name": "d"}),
        ("schema", {"name": "s"}),
        ("extension", {"name": "hstore"}),
        ("grant", {"role": "r", "object_type": "database", "privileges": ["CREATE"]}),
    ],
)
def test_what_was_never_reached_can_be_deleted(
    world: Any, monkeypatch: pytest.MonkeyPatch, kind: str, given: dict[str, Any]
) -> None:
    nobody = {"user": world.name("nobody"), "password": "wrong"}
    life = world.life(kind, as_user=nobody, **given)
    with pytest.raises(ResourceFailure, match="cannot be reached"):
        life.create()
    life.delete()


def test_what_was_reached_is_not_forgotten_while_the_server_is_away(world: Any, role: str) -> None:
    """Killed right after the role was made: nothing is stored of it but where it is."""
    life = world.life("role", name=world.name("a"))
    life.create()
    life.saved.data.pop("oid")
    life.saved.resource_id = None
    away = {**life.definition.properties["server"], "user": world.name("nobody"), "password": "x"}
    life.definition = dataclasses.replace(
        life.definition, properties={**life.definition.properties, "server": away}
    )
    with pytest.raises(ResourceFailure, match="cannot be reached"):
        life.delete()
