"""The rules that zonda has for plug-ins, on every type, against the real server."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from psycopg import sql
from zonda.hooks import conformance

from zonda_postgresql.plugin import zonda_resource_types

NAME = "zt_rules"
OBJECTS = """
    SELECT 'database', datname::text FROM pg_database WHERE datname LIKE 'zt_rules%'
    UNION SELECT 'database', datname FROM pg_database WHERE datname LIKE 'zonda\\_%'
    UNION SELECT 'role', rolname FROM pg_roles WHERE rolname LIKE 'zt_rules%'
    UNION SELECT 'schema', nspname FROM pg_namespace WHERE nspname LIKE 'zt_rules%'
    UNION SELECT 'extension', extname FROM pg_extension WHERE extname = 'hstore'
    UNION SELECT 'grant', privilege_type FROM pg_namespace, aclexplode(nspacl) a
        JOIN pg_roles r ON r.oid = a.grantee WHERE nspname = 'public' AND rolname = 'zt_other'
"""
GIVEN: dict[str, dict[str, Any]] = {
    "Server": {},
    "Database": {"name": NAME, "owner": "postgres", "tablespace": "pg_default"},
    "Role": {"name": NAME, "password": "correct horse"},
    "Schema": {"name": NAME, "owner": "postgres", "database": "postgres"},
    "Extension": {"name": "hstore", "schema": "public", "version": "1.4"},
    "Grant": {
        "role": "zt_other",
        "object_type": "schema",
        "schema": "public",
        "database": "postgres",
        "privileges": ["USAGE"],
    },
}
#: One other value of what has to be one that the server knows.
OTHER: dict[str, list[Any]] = {
    "name": [f"{NAME}_2"],
    "owner": ["zt_other"],
    "password": ["battery staple"],
    "member_of": [["zt_other"]],
    "settings": [{"work_mem": "8MB"}],
    "valid_until": ["2100-01-01"],
    "reassign_owned_to": ["postgres"],
    "schema": ["pg_catalog"],
    "version": [],  # there is no way back to an older one
    "privileges": [["USAGE", "CREATE"]],
    "database": ["template1"],
    "dbname": ["template1"],
}
#: What would lead to another server, or to none.
ELSEWHERE = ("server", "host", "port", "user", "service", "passfile", "sslmode")


@pytest.mark.parametrize("kind", GIVEN)
def test_a_type_keeps_the_rules(postgres: Any, world: Any, kind: str) -> None:
    server = {**postgres.settings, "port": int(postgres.settings.get("port", 5432))}

    class Outside(conformance.Backend):
        """The server, and one role beside what is tried."""

        examples = 0

        def __init__(self) -> None:
            self.close()
            postgres.rows("CREATE ROLE zt_other")

        def properties(self, type_name: str) -> Mapping[str, Any]:
            return server if kind == "Server" else {"server": server, **GIVEN[kind]}

        def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
            nowhere: dict[str, list[Any]] = {key: [] for key in ELSEWHERE}
            nowhere |= {key: [] for key in ("sslcert", "sslkey", "sslrootcert")}
            fixed = ("encoding", "lc_collate", "lc_ctype", "template", "tablespace")
            grants = ("role", "object_type", "objects", "future", "future_owner")
            extra = {key: [] for key in (*fixed, *grants)}
            return {**nowhere, **extra, **OTHER} | ({"name": []} if kind == "Extension" else {})

        def leftovers(self) -> Collection[str]:
            return [f"{kind} {name}" for kind, name in postgres.rows(OBJECTS.replace("%'", "%%'"))]

        def lose(self, resource_id: str) -> bool:
            drops = {
                "Database": "DROP DATABASE {}",
                "Role": "DROP ROLE {}",
                "Schema": "DROP SCHEMA {}",
                "Extension": "DROP EXTENSION {}",
            }
            if kind not in drops:
                return False
            with postgres.connect() as raw:
                raw.execute(sql.SQL(drops[kind]).format(sql.Identifier(resource_id)))
            return True

        def close(self) -> None:
            for name in (NAME, f"{NAME}_2"):
                postgres.rows(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
                postgres.rows(f"DROP SCHEMA IF EXISTS {name} CASCADE")
            postgres.rows(f"DROP SCHEMA IF EXISTS {NAME} CASCADE", database="template1")
            postgres.rows("DROP EXTENSION IF EXISTS hstore")
            postgres.rows("DROP EXTENSION IF EXISTS hstore", database="template1")
            for name in (NAME, f"{NAME}_2", "zt_other"):
                if postgres.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", name):
                    postgres.rows(f"DROP OWNED BY {name}")
                    postgres.rows(f"DROP OWNED BY {name}", database="template1")
                    postgres.rows(f"DROP ROLE {name}")

    name = f"Zonda::PostgreSQL::{kind}"
    report = conformance.check(zonda_resource_types()[name], name, Outside)
    # A server is not made, and so it is still there when its resource is not.
    forgiven = ("Server", "live state")
    failed = [row for row in report.rows if row.verdict == "fail"]
    assert [row for row in failed if (kind, row.check) != forgiven] == []
    assert sum(row.verdict == "pass" for row in report.rows) > 15
