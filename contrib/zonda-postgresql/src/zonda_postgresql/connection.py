"""The connection to a server: the settings that templates give, as one map.

Every type takes them as the property ``server``: written out, or as the attribute ``connection``
of a ``Zonda::PostgreSQL::Server``. What is not given libpq looks for itself (PGHOST, PGPASSWORD,
a service file, a password file).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from zonda.hooks import constraints, properties

HOST, PORT, USER, PASSWORD, DBNAME = "host", "port", "user", "password", "dbname"
SERVICE, PASSFILE = "service", "passfile"
SSLMODE, SSLROOTCERT, SSLCERT, SSLKEY = "sslmode", "sslrootcert", "sslcert", "sslkey"
CONNECT_TIMEOUT, STATEMENT_TIMEOUT, LOCK_TIMEOUT = (
    "connect_timeout",
    "statement_timeout",
    "lock_timeout",
)
#: Settings that are handed to libpq under their own names.
LIBPQ: Final = (
    *(HOST, PORT, USER, PASSWORD, DBNAME, SERVICE, PASSFILE),
    *(SSLMODE, SSLROOTCERT, SSLCERT, SSLKEY),
)
SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

_Schema = properties.Schema


def _text(description: str, **more: Any) -> properties.Schema:
    return _Schema(_Schema.STRING, description, update_allowed=True, **more)


def _seconds(description: str, default: float) -> properties.Schema:
    return _Schema(
        _Schema.NUMBER,
        description,
        default=default,
        constraints=[constraints.Range(1, 86400)],
        update_allowed=True,
    )


def settings() -> dict[str, properties.Schema]:
    """The settings of a connection, as properties."""
    return {
        HOST: _text("The server's name or address, or the folder of its Unix socket."),
        PORT: _Schema(
            _Schema.INTEGER,
            "The server's port.",
            constraints=[constraints.Range(1, 65535)],
            update_allowed=True,
        ),
        USER: _text("The role that zonda logs in as."),
        PASSWORD: _text("Its password; never shown.", hidden=True),
        DBNAME: _text(
            "The database that zonda connects to where a type names none; `postgres` by default, "
            "or what a service names."
        ),
        SERVICE: _text("A service of libpq's service file, which may hold all of these."),
        PASSFILE: _text("libpq's password file, in place of a password."),
        SSLMODE: _text(
            "Whether the connection is encrypted and the server's certificate checked.",
            constraints=[constraints.AllowedValues(list(SSL_MODES))],
        ),
        SSLROOTCERT: _text("The file with the certificates that vouch for the server."),
        SSLCERT: _text("The file with the client's certificate."),
        SSLKEY: _text("The file with the key of the client's certificate."),
        CONNECT_TIMEOUT: _seconds("Seconds until an attempt to connect is given up.", 10),
        STATEMENT_TIMEOUT: _seconds("Seconds until a statement is given up.", 300),
        LOCK_TIMEOUT: _seconds("Seconds until waiting for a lock is given up.", 30),
    }


def server_property() -> properties.Schema:
    """The property ``server`` of every other type."""
    return _Schema(
        _Schema.MAP,
        "The server: the attribute `connection` of a Zonda::PostgreSQL::Server, or the same "
        "settings as a map. What is not given libpq looks for in its environment variables and "
        "files.",
        default={},
        schema=settings(),
        update_allowed=True,
    )


def parameters(given: Mapping[str, Any], database: str, application: str) -> dict[str, Any]:
    """libpq's parameters for a connection to ``database`` (empty: the one of the settings)."""
    found = {name: given[name] for name in LIBPQ if given.get(name)}  # 0 is no port either
    if database:
        found[DBNAME] = database
    elif SERVICE not in found:
        found.setdefault(DBNAME, "postgres")
    statement = int(given.get(STATEMENT_TIMEOUT) or 300) * 1000
    lock = int(given.get(LOCK_TIMEOUT) or 30) * 1000
    return {
        **found,
        CONNECT_TIMEOUT: int(given.get(CONNECT_TIMEOUT) or 10),
        "options": f"-c statement_timeout={statement} -c lock_timeout={lock}",
        "application_name": application[:63],
        "client_encoding": "UTF8",  # whatever the database, PGCLIENTENCODING or a service says
    }


def place_of(given: Mapping[str, Any]) -> str:
    """The server in words, for errors: never the password."""
    if given.get(SERVICE):
        return f"the service {given[SERVICE]}"
    host, port = given.get(HOST) or "the default host", given.get(PORT)
    return f"{host}{f':{port}' if port else ''}"
