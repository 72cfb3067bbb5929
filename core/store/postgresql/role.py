"""The settings of the role on the server, for this database: nets below what members do themselves.

They are the role's and not set in each session, so that they hold behind a pooler, too.
"""

from __future__ import annotations

import logging

import psycopg

from .connection import connect
from .faults import to_store_error

log = logging.getLogger(__name__)

#: By name. Not less than 30 s: a large plan is worked out between the statements of a transaction.
#: No ``statement_timeout``: what takes too long would be begun again and again.
_SETTINGS = {
    "idle_in_transaction_session_timeout": "30s",
    "lock_timeout": "5s",
    "client_connection_check_interval": "2s",
}


def apply_settings(url: str, where: str, lease: float) -> list[str]:
    """Give the role its settings for later sessions; returns what the server refuses, and why.

    ``lease``: seconds, after which a connection whose other end does not answer is given up.
    Raises StoreError where the server cannot be reached.
    """
    refused = []
    with connect(url, where) as connection:
        for name, value in {**_SETTINGS, "tcp_user_timeout": f"{round(lease * 1000)}ms"}.items():
            try:
                connection.execute(_ALTER.format(name, value).encode())
            except psycopg.OperationalError as error:
                raise to_store_error(error, where) from error
            except psycopg.Error as error:
                refused.append(f"{name}: {to_store_error(error, where)}")
    return refused


# ALTER ROLE takes names, no expressions.
_ALTER = """DO $$ BEGIN EXECUTE format(
    'ALTER ROLE %I IN DATABASE %I SET {} = ''{}''', current_user, current_database()); END $$"""
