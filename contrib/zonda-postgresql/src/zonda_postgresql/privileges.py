"""Privileges as sets of items: which a template wants, which a server has, what changes one.

An item is one privilege on one object for one role. ``grant`` keeps those that it made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Final

from zonda.hooks import NotFound

from .session import Session, composed, joined, keywords

DATABASE, SCHEMA, TABLE, SEQUENCE, FUNCTION = "database", "schema", "table", "sequence", "function"
#: Privileges that objects made later will have: ALTER DEFAULT PRIVILEGES.
FUTURE: Final = "future "
KINDS: Final = (DATABASE, SCHEMA, TABLE, SEQUENCE, FUNCTION)
#: Kinds of which a schema has many.
MANY: Final = (TABLE, SEQUENCE, FUNCTION)
#: PostgreSQL's letters of kinds, for acldefault.
_LETTERS: Final = {DATABASE: "d", SCHEMA: "n", TABLE: "r", SEQUENCE: "s", FUNCTION: "f"}
PUBLIC: Final = "PUBLIC"
ALL: Final = "ALL"

#: (schema, name, identity, list of privileges, owner) of all objects of a kind. A function's name
#: has the types of what it is called with; nothing is ever read out of it (see ``_routine``).
_OBJECTS: Final = {
    DATABASE: "SELECT '', datname, oid, datacl, datdba FROM pg_database "
    "WHERE datname = current_database()",
    SCHEMA: "SELECT '', nspname, oid, nspacl, nspowner FROM pg_namespace",
    TABLE: "SELECT n.nspname, c.relname, c.oid, c.relacl, c.relowner FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')",
    SEQUENCE: "SELECT n.nspname, c.relname, c.oid, c.relacl, c.relowner FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S'",
    FUNCTION: "SELECT n.nspname, p.proname || '(' || oidvectortypes(p.proargtypes) || ')', p.oid, "
    "p.proacl, p.proowner FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace",
}


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """One privilege. ``schema`` is empty for what is in none; ``owner`` is for what comes later."""

    kind: str
    schema: str
    name: str
    role: str
    privilege: str
    owner: str = ""

    def to_list(self) -> list[str]:
        """As JSON."""
        return list(astuple(self))


def in_schema(item: Item, schema: str) -> Item:
    """The same after its schema was renamed."""
    if item.kind == SCHEMA:
        return replace(item, name=schema)
    return replace(item, schema=schema) if item.schema else item


def schema_of(item: Item) -> str:
    """The schema that it is on, or in."""
    return item.name if item.kind == SCHEMA else item.schema


def in_database(item: Item, database: str) -> Item:
    """The same after its database was renamed."""
    return replace(item, name=database) if item.kind == DATABASE else item


def every(session: Session, kind: str) -> list[str]:
    """All privileges that there are on this server for a kind: those of an owner."""
    rows = session.rows(
        "SELECT a.privilege_type FROM aclexplode(acldefault(%s, 10)) a WHERE a.grantee = 10",
        _LETTERS[kind],
    )
    return sorted(privilege for (privilege,) in rows)


def objects(session: Session, kind: str, schema: str) -> list[str]:
    """The names of a kind's objects in a schema."""
    query = f"SELECT name FROM ({_OBJECTS[kind]}) o (schema, name) WHERE schema = %s ORDER BY 1"
    return [name for (name,) in session.rows(query, schema)]


def spellings(session: Session, kind: str, schema: str) -> dict[str, str]:
    """Names of a kind's objects by those that templates use: functions with names of arguments."""
    found = {name: name for name in objects(session, kind, schema)}
    if kind != FUNCTION:
        return found
    query = f"""
        SELECT p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', o.name
        FROM ({_OBJECTS[kind]}) o (schema, name, oid) JOIN pg_proc p ON p.oid = o.oid
        WHERE o.schema = %s
    """
    return {**dict(session.rows(query, schema)), **found}


def held(session: Session, kind: str, role: str, schema: str) -> dict[Item, bool]:
    """The privileges of a role for a kind in a schema, each with whether it may pass it on."""
    query = f"""
        SELECT o.schema, o.name, a.privilege_type, bool_or(a.is_grantable)
        FROM ({_OBJECTS[kind]}) o (schema, name, oid, acl, owner),
             aclexplode(coalesce(o.acl, acldefault('{_LETTERS[kind]}', o.owner))) a
        WHERE o.schema = %s AND a.grantee = {_GRANTEE}
        GROUP BY 1, 2, 3
    """
    rows = session.rows(query, schema, role, role)
    return {Item(kind, where, name, role, word): may for where, name, word, may in rows}


def held_of(
    session: Session, kind: str, role: str, schema: str, owner: str = ""
) -> list[tuple[Item, int]]:
    """Privileges given to a role for a kind in a schema, with oids; of ``owner``'s if named.

    What everybody has, or what an owner has, without anybody's giving it is left out.
    """
    query = f"""
        SELECT DISTINCT o.name, a.privilege_type, o.oid
        FROM ({_OBJECTS[kind]}) o (schema, name, oid, acl, owner), aclexplode(o.acl) a
        WHERE o.schema = %s AND a.grantee = {_GRANTEE}
              AND (%s = '' OR pg_get_userbyid(o.owner) = %s)
              AND NOT EXISTS (
                  SELECT FROM aclexplode(acldefault('{_LETTERS[kind]}', o.owner)) u
                  WHERE (u.grantee, u.privilege_type) = (a.grantee, a.privilege_type))
    """
    rows = session.rows(query, schema, role, role, owner, owner)
    return [(Item(kind, schema, name, role, word), oid) for name, word, oid in rows]


def held_later(session: Session, kind: str, role: str, schema: str, owner: str) -> dict[Item, bool]:
    """The privileges that a role will have of what ``owner`` makes in a schema."""
    query = f"""
        SELECT a.privilege_type, bool_or(a.is_grantable)
        FROM pg_default_acl d JOIN pg_namespace n ON n.oid = d.defaclnamespace
             JOIN pg_roles r ON r.oid = d.defaclrole, aclexplode(d.defaclacl) a
        WHERE n.nspname = %s AND r.rolname = %s AND d.defaclobjtype = '{_LATER[kind]}'
              AND a.grantee = {_GRANTEE}
        GROUP BY 1
    """
    rows = session.rows(query, schema, owner, role, role)
    return {Item(FUTURE + kind, schema, "", role, word, owner): may for word, may in rows}


#: 0 is PUBLIC; a role that is not there is nobody.
_GRANTEE: Final = """(CASE WHEN %s = 'PUBLIC' THEN 0
    ELSE coalesce((SELECT oid FROM pg_roles WHERE rolname = %s), 4294967295::oid) END)"""
_LATER: Final = {TABLE: "r", SEQUENCE: "S", FUNCTION: "f"}


def live(session: Session, items: Iterable[Item]) -> dict[Item, bool]:
    """Of ``items`` those that are there, each with whether it may be passed on."""
    wanted, found = set(items), {}
    for kind, schema, role, owner in sorted({(i.kind, i.schema, i.role, i.owner) for i in wanted}):
        if kind.startswith(FUTURE):
            found.update(held_later(session, kind.removeprefix(FUTURE), role, schema, owner))
        else:
            found.update(held(session, kind, role, schema))
    return {item: may for item, may in found.items() if item in wanted}


def grant(session: Session, items: Iterable[Item], option: bool) -> None:
    """Give the privileges, with the right to pass them on where that is wanted."""
    tail = " WITH GRANT OPTION" if option else ""
    for head, privileges, first in _together(items):
        words = (keywords(*privileges), _target(session, first), _role(first.role))
        session.run(head[0] + "GRANT {} ON {} TO {}" + tail, *head[1], *words)


def revoke(session: Session, items: Iterable[Item], *, option_only: bool = False) -> None:
    """Take the privileges away, or only the right to pass them on."""
    what = "REVOKE GRANT OPTION FOR {} ON {} FROM {}" if option_only else "REVOKE {} ON {} FROM {}"
    for head, privileges, first in _together(items):
        words = (keywords(*privileges), _target(session, first), _role(first.role))
        session.run(head[0] + what, *head[1], *words)


def _together(items: Iterable[Item]) -> list[tuple[tuple[str, Sequence[Any]], list[str], Item]]:
    """Items of one object and one role, for one statement each."""
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in sorted(items):
        key = (item.kind, item.schema, item.name, item.role, item.owner)
        groups.setdefault(key, []).append(item)
    return [
        (_head(members[0]), [member.privilege for member in members], members[0])
        for members in groups.values()
    ]


def _head(item: Item) -> tuple[str, Sequence[Any]]:
    if not item.kind.startswith(FUTURE):
        return "", ()
    text = "ALTER DEFAULT PRIVILEGES FOR ROLE {} IN SCHEMA {} "
    return text, (item.owner, item.schema)


def _role(name: str) -> Any:
    return composed(PUBLIC) if name == PUBLIC else composed("{}", name)


def _target(session: Session, item: Item) -> Any:
    if item.kind.startswith(FUTURE):
        return keywords(f"{item.kind.removeprefix(FUTURE).upper()}S")
    if item.kind == FUNCTION:
        return _routine(session, item)
    word = keywords(item.kind.upper())
    if item.schema:
        return composed("{} {}.{}", word, item.schema, item.name)
    return composed("{} {}", word, item.name)


def _routine(session: Session, item: Item) -> Any:
    """A function or procedure by names alone: its own, and those of its arguments' types.

    ``IN`` is said so that nobody takes the list for one that has a procedure's OUT arguments, too.
    """
    query = f"""
        SELECT p.proname, t.nspname, t.typname
        FROM ({_OBJECTS[FUNCTION]}) o (schema, name, oid) JOIN pg_proc p ON p.oid = o.oid
        LEFT JOIN LATERAL (
            SELECT a.place, n.nspname, y.typname
            FROM unnest(p.proargtypes) WITH ORDINALITY a (type, place)
            JOIN pg_type y ON y.oid = a.type JOIN pg_namespace n ON n.oid = y.typnamespace
        ) t ON true
        WHERE o.schema = %s AND o.name = %s ORDER BY t.place
    """
    rows = session.rows(query, item.schema, item.name)
    if not rows:
        raise NotFound(FUNCTION, f"{item.schema}.{item.name}")
    types = [composed("IN {}.{}", schema, name) for _, schema, name in rows if name is not None]
    return composed("ROUTINE {}.{}({})", item.schema, rows[0][0], joined(types))
