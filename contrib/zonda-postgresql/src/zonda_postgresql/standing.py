"""Privileges given since by default privileges: a grant's own, but nobody has written it down.

PostgreSQL does not say which privilege on an object came from where. So a grant with ``future``
keeps what the role had ``before`` (objects by oid), and takes for its own whatever else the role
holds of that kind on what the future owner has made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from . import privileges
from .privileges import FUTURE, Item
from .session import Session

#: Objects and privileges that the role held before the grant.
Before = frozenset[tuple[int, str]]
NOTHING: Final[Before] = frozenset()


def given_since(session: Session, granted: Iterable[Item], before: Before) -> set[Item]:
    """The privileges that the defaults in ``granted`` have given to objects made later."""
    found: set[Item] = set()
    words: dict[tuple[str, str, str, str], set[str]] = {}
    for item in granted:
        if item.kind.startswith(FUTURE):
            key = (item.kind.removeprefix(FUTURE), item.role, item.schema, item.owner)
            words.setdefault(key, set()).add(item.privilege)
    for (kind, role, schema, owner), wanted in words.items():
        for item, oid in privileges.held_of(session, kind, role, schema, owner):
            if item.privilege in wanted and (oid, item.privilege) not in before:
                found.add(item)
    return found


def held_before(session: Session, target: set[Item], granted: set[Item]) -> Before:
    """Privileges of the role on ``target`` not ``granted`` here; empty without a future."""
    later = {item for item in target if item.kind.startswith(FUTURE)}
    found: set[tuple[int, str]] = set()
    for kind, role, schema in {(i.kind.removeprefix(FUTURE), i.role, i.schema) for i in later}:
        for item, oid in privileges.held_of(session, kind, role, schema):
            if item in target and item not in granted:
                found.add((oid, item.privilege))
    return frozenset(found)
