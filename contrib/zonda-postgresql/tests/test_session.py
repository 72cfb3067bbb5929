"""Sessions: one statement at a time, and only PostgreSQL's own functions are called by name."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql
from zonda.hooks import ResourceFailure

from zonda_postgresql.session import connect


@pytest.mark.parametrize("call", ["run", "rows", "one"])
def test_a_string_holds_one_statement(world: Any, call: str) -> None:
    with (
        pytest.raises(ResourceFailure, match="multiple commands"),
        connect(world.postgres.settings, "", "test") as session,
    ):
        getattr(session, call)("SELECT 1; SELECT 2")


def test_functions_of_others_stand_in_for_none_of_postgresql(world: Any, database: str) -> None:
    """A function that fits better than PostgreSQL's would run with the rights of zonda's login."""
    trap = sql.SQL(
        "CREATE FUNCTION public.shobj_description(oid, text) RETURNS text LANGUAGE sql "
        "AS 'SELECT ''caught''::text'"
    )
    with world.postgres.connect(database) as raw:
        raw.execute(trap)
    settings = {**world.postgres.settings, "dbname": database}
    with connect(settings, "", "test") as session:
        query = "SELECT shobj_description(oid, 'pg_database') FROM pg_database"
        assert all(text != "caught" for (text,) in session.rows(query))


def test_a_database_called_like_a_connection_string_is_a_database(world: Any) -> None:
    name = f"host=nowhere dbname={world.name('x')}"[:63]
    with pytest.raises(ResourceFailure, match="does not exist"):
        connect(world.postgres.settings, name, "test").__enter__()
