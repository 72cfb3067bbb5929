"""Names in a database on a server, for completion: without the pool and all that writes.

Called by ``store.read.names``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg

from ..schema.prepared_postgresql import SQL

#: Seconds after which a server that does not answer is given up: the least that libpq knows.
_PATIENCE = 2


def read_server(url: str, read: Callable[[Callable[..., list[Any]]], list[Any]]) -> list[Any]:
    """Return what ``read`` finds with statements of the server; nothing where that fails."""
    with (
        suppress(psycopg.Error, ValueError),
        psycopg.connect(
            url,
            autocommit=True,
            client_encoding="utf8",
            connect_timeout=_PATIENCE,
            prepare_threshold=None,  # a pooler may stand before the server
        ) as connection,
    ):
        return read(lambda name, *values: connection.execute(SQL[name], values).fetchall())
    return []
