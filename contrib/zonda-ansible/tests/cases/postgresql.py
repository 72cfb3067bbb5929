"""Databases, roles and grants of community.postgresql, on the PostgreSQL of the tests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .ground import Ground, Life, need_library


class Session:
    """The settings by which the modules and the hand reach the server."""

    def __init__(self, ground: Ground) -> None:
        need_library("psycopg2")
        self.settings: Mapping[str, Any] = ground.get_postgresql()
        self.name = f"zt{os.getpid()}"
        self._later = ground.later

    @property
    def login(self) -> dict[str, Any]:
        """The options of a module."""
        known = self.settings
        return {
            "login_unix_socket": known["host"],
            "login_user": known["user"],
            "login_port": int(known["port"]),
        }

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        import psycopg2

        connection = psycopg2.connect(**{**self.settings, "dbname": "postgres"})
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(query)
                return list(cursor.fetchall()) if cursor.description else []
        finally:
            connection.close()

    def is_there(self, query: str) -> bool:
        """Whether a query finds a row."""
        return bool(self.ask(query))

    def prepare(self, make: str, remove: str) -> None:
        """Make something that the case needs, and remove it at the end."""
        self.ask(make)
        self._later.callback(self.ask, remove)


def make_role(ground: Ground) -> Life:
    on = Session(ground)
    return Life(
        "community.postgresql.postgresql_user",
        {"name": on.name, **on.login, "role_attr_flags": "CREATEDB"},
        {"role_attr_flags": "NOCREATEDB"},
        lambda: on.is_there(f"SELECT 1 FROM pg_roles WHERE rolname = '{on.name}'"),
        lambda: on.ask(f"ALTER ROLE {on.name} CREATEDB"),
    )


def make_database(ground: Ground) -> Life:
    on = Session(ground)
    return Life(
        "community.postgresql.postgresql_db",
        {"name": on.name, **on.login, "conn_limit": "7"},
        {"conn_limit": "8"},
        lambda: on.is_there(f"SELECT 1 FROM pg_database WHERE datname = '{on.name}'"),
        lambda: on.ask(f"ALTER DATABASE {on.name} CONNECTION LIMIT 9"),
    )


def make_grant(ground: Ground) -> Life:
    on = Session(ground)
    on.prepare(f"CREATE ROLE {on.name}", f"DROP OWNED BY {on.name}; DROP ROLE {on.name}")
    query = f"SELECT has_schema_privilege('{on.name}', 'public', 'CREATE')"
    return Life(
        "community.postgresql.postgresql_privs",
        {
            "login_db": "postgres",
            **on.login,
            "roles": on.name,
            "type": "schema",
            "objs": "public",
            "privs": "CREATE",
        },
        {},
        lambda: on.ask(query) == [(True,)],
        lambda: on.ask(f"REVOKE CREATE ON SCHEMA public FROM {on.name}"),
    )


def make_schema(ground: Ground) -> Life:
    on = Session(ground)
    on.prepare(f"CREATE ROLE {on.name}", f"DROP OWNED BY {on.name}; DROP ROLE {on.name}")
    return Life(
        "community.postgresql.postgresql_schema",
        {"name": on.name, "login_db": "postgres", **on.login},
        {"owner": on.name},
        lambda: on.is_there(f"SELECT 1 FROM pg_namespace WHERE nspname = '{on.name}'"),
        lambda: on.ask(f"ALTER SCHEMA {on.name} OWNER TO postgres"),
    )


def make_extension(ground: Ground) -> Life:
    on = Session(ground)
    return Life(
        "community.postgresql.postgresql_ext",
        {"name": "hstore", "login_db": "postgres", **on.login},
        {},
        lambda: on.is_there("SELECT 1 FROM pg_extension WHERE extname = 'hstore'"),
        lambda: on.ask("DROP EXTENSION hstore"),
    )


def make_table(ground: Ground) -> Life:
    on = Session(ground)
    return Life(
        "community.postgresql.postgresql_table",
        {"name": on.name, "login_db": "postgres", **on.login, "columns": ["id int"]},
        {"storage_params": ["fillfactor=50"]},
        lambda: on.is_there(f"SELECT 1 FROM pg_class WHERE relname = '{on.name}'"),
        lambda: on.ask(f"DROP TABLE {on.name}"),
    )


def make_sequence(ground: Ground) -> Life:
    on = Session(ground)
    on.prepare(f"CREATE ROLE {on.name}", f"DROP OWNED BY {on.name}; DROP ROLE {on.name}")
    name = f"{on.name}s"
    return Life(
        "community.postgresql.postgresql_sequence",
        {"sequence": name, "login_db": "postgres", **on.login},
        {"owner": on.name},
        lambda: on.is_there(f"SELECT 1 FROM pg_class WHERE relname = '{name}'"),
        lambda: on.ask(f"DROP SEQUENCE {name}"),
    )


def make_membership(ground: Ground) -> Life:
    on = Session(ground)
    for name in (on.name, f"{on.name}g"):
        on.prepare(f"CREATE ROLE {name}", f"DROP ROLE {name}")
    query = (
        f"SELECT 1 FROM pg_auth_members WHERE roleid = '{on.name}g'::regrole"
        f" AND member = '{on.name}'::regrole"
    )
    return Life(
        "community.postgresql.postgresql_membership",
        {
            "groups": [f"{on.name}g"],
            "target_roles": [on.name],
            "login_db": "postgres",
            **on.login,
        },
        {},
        lambda: on.is_there(query),
        lambda: on.ask(f"REVOKE {on.name}g FROM {on.name}"),
    )


def make_publication(ground: Ground) -> Life:
    on = Session(ground)
    return Life(
        "community.postgresql.postgresql_publication",
        {"name": on.name, "login_db": "postgres", **on.login},
        {"parameters": {"publish": "insert"}},
        lambda: on.is_there(f"SELECT 1 FROM pg_publication WHERE pubname = '{on.name}'"),
        lambda: on.ask(f"ALTER PUBLICATION {on.name} SET (publish = 'delete')"),
    )


def make_hba(ground: Ground) -> Life:
    path = ground.write("pg_hba.conf", "local all postgres trust\n")
    return Life(
        "community.postgresql.postgresql_pg_hba",
        {
            "dest": str(path),
            "contype": "host",
            "databases": "zt",
            "users": "zt",
            "address": "192.0.2.0/24",
            "method": "md5",
        },
        {"method": "scram-sha-256"},
        lambda: "192.0.2.0" in path.read_text(),
        lambda: path.write_text("local all postgres trust\n"),
    )
