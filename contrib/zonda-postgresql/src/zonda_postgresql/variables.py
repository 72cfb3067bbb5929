"""Settings of a database or a role (``ALTER ... SET``): written, read back and compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from psycopg import sql
from zonda.hooks import ResourceFailure, properties

from .session import Session, composed, joined, literal

SETTINGS: Final = "settings"
#: Rows of the settings of a database (role 0) or of a role (database 0).
QUERY: Final = """
    SELECT unnest(setconfig) FROM pg_db_role_setting
    WHERE setdatabase = %s::oid AND setrole = %s::oid
"""

#: A word of a list.
_WORD: Final = re.compile(r'(?P<quoted>"(?:[^"]|"")*")|(?P<plain>[^\s",][^",]*[^\s",]|[^\s",])')

_Schema = properties.Schema


def schema(kind: str) -> properties.Schema:
    """The property."""
    return _Schema(
        _Schema.MAP,
        f"Settings that sessions of the {kind} begin with, by name: text, a number, a boolean, or "
        "a list (`search_path: [app, public]`). Those that are not named are reset. Left alone if "
        "it is not given.",
        update_allowed=True,
    )


def check(values: Mapping[str, Any]) -> None:
    """Names and values of a kind that PostgreSQL has."""
    for name, value in values.items():
        plain = isinstance(value, str | int | float)
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        parts = name.split(".")
        if not all(part.replace("_", "a").isalnum() for part in parts) or not (plain or is_list):
            raise ResourceFailure(
                f"{name} is no setting with a text, a number, a boolean or a list of texts"
            )


def read(session: Session, database: int, role: int) -> dict[str, str]:
    """The settings as the server keeps them."""
    rows = session.rows(QUERY, database, role)
    return dict(row[0].split("=", 1) for row in rows)


def shown(live: Mapping[str, str], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in the shape in which the template gives them."""
    return {name: _like(text, wanted.get(name)) for name, text in live.items()}


def _like(text: str, wanted: Any) -> Any:
    """``text``, or ``wanted`` if that means the same."""
    if isinstance(wanted, list):
        found = _split(text)
        return wanted if found == (wanted or [""]) else found  # nothing is kept as one empty word
    return wanted if wanted is not None and _text(wanted) == text else text


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _split(text: str) -> list[str]:
    """``"$user", app`` as ``["$user", "app"]``; of a quoted word ``""`` is a quotation mark."""
    return [_unquoted(found["quoted"]) or found["plain"] or "" for found in _WORD.finditer(text)]


def _unquoted(word: str | None) -> str:
    return (word or "")[1:-1].replace('""', '"')


def alter(
    session: Session, target: sql.Composable, live: Mapping[str, str], wanted: Mapping[str, Any]
) -> None:
    """Set what is otherwise, reset what nobody wants. ``target``: ``DATABASE "orders"``."""
    for name in live.keys() - wanted.keys():
        session.run("ALTER {} RESET {}", target, _name(name))
    for name, value in wanted.items():
        if name not in live or _like(live[name], value) != value:
            session.run("ALTER {} SET {} TO {}", target, _name(name), _value(value))


def _name(name: str) -> sql.Composable:
    return composed(".".join("{}" for _ in name.split(".")), *name.split("."))


def _value(value: Any) -> sql.Composable:
    if isinstance(value, list):
        return joined([literal(item) for item in value] or [literal("")])
    return literal(_text(value))
