"""A group that changes in several batches: what its members go through before their turn.

A member whose turn has not come keeps its definition, and has the new files already: its nested
stack is updated twice. Where that does what the end alone would not show, it is not told. Pure.
"""

from __future__ import annotations

import dataclasses

from .entries import Entry, Inside


def matter(last: Inside) -> bool:
    """Whether members may go through anything before their turn."""
    return any(entry.nested and entry.action == "update" for entry in last.entries)


def joined(first: Inside, last: Inside) -> Inside:
    """``last``, what becomes of a group in the end, after its first batch.

    A batch that is known to fail is the end of it.
    """
    if first.fails or not (first.is_known and last.is_known):
        return first if first.fails else last
    before = {entry.name: entry for entry in first.entries if _waits(entry.name, first, last)}
    entries = tuple(_after(before.get(entry.name), entry) for entry in last.entries)
    for old, new in zip(last.entries, entries, strict=True):
        if old is not new:
            last.values.open(new.name, reference=_names_another(old))
    return dataclasses.replace(last, entries=entries)


def _names_another(entry: Entry) -> bool:
    """Whether its reference may be another one then."""
    known = (each.definition for each in entry.nested if each.definition is not None)
    return any("OS::stack_id" in definition.outputs for definition in known)


def _waits(name: str, first: Inside, last: Inside) -> bool:
    one, other = first.definition.resources.get(name), last.definition.resources.get(name)
    return one is not None and other is not None and one.raw != other.raw


def _after(before: Entry | None, entry: Entry) -> Entry:
    """What becomes of a member, after what the first batch makes of it."""
    if before is None or entry.action != "update" or entry.fails:
        return entry
    if all(map(_is_covered, before.nested, entry.nested)):
        return entry
    unknown = tuple(Inside(each.stack, each.action, is_known=False) for each in entry.nested)
    return dataclasses.replace(entry, nested=unknown)


def _is_covered(first: Inside, last: Inside) -> bool:
    """Whether all that the first batch does in a nested stack is told of the end, too."""
    known = {_key(entry): entry for entry in last.entries}
    return first.is_known and all(
        _is_told(entry, known.get(_key(entry))) for entry in first.entries
    )


def _key(entry: Entry) -> str:
    return entry.name if entry.row is None else entry.row.id


def _is_told(first: Entry, last: Entry | None) -> bool:
    if first.action == "none" and not first.may:
        return True
    if last is None or first.may or first.action != last.action or first.action == "create":
        return False
    return all(map(_is_covered, first.nested, last.nested))
