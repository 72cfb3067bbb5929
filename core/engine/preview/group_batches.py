"""A group that changes in batches: the changes of members before their own batch.

A member whose turn has not come keeps its definition, and has the new files already: its nested
stack is updated twice. Where that does what the end alone would not show, it is not told. Pure.
"""

from __future__ import annotations

from zonda.hooks import records

from .entries import Entry, Inside


def has_early_changes(last: Inside) -> bool:
    """Whether members may go through anything before their turn."""
    return any(entry.nested and entry.action == "update" for entry in last.entries)


def merge_batches(first: Inside, last: Inside) -> Inside:
    """``last``, the final preview of a group, after its first batch.

    A batch that is known to fail is the end of it.
    """
    if first.fails or not (first.is_known and last.is_known):
        return first if first.fails else last
    before = {
        entry.name: entry for entry in first.entries if _is_in_later_batch(entry.name, first, last)
    }
    entries = tuple(_apply_first(before.get(entry.name), entry) for entry in last.entries)
    for old, new in zip(last.entries, entries, strict=True):
        if old is not new:
            last.values.open(new.name, reference=_may_change_reference(old))
    return records.replace(last, entries=entries)


def _may_change_reference(entry: Entry) -> bool:
    """Whether its reference may be another one then."""
    known = (each.definition for each in entry.nested if each.definition is not None)
    return any("OS::stack_id" in definition.outputs for definition in known)


def _is_in_later_batch(name: str, first: Inside, last: Inside) -> bool:
    one, other = first.definition.resources.get(name), last.definition.resources.get(name)
    return one is not None and other is not None and one.raw != other.raw


def _apply_first(before: Entry | None, entry: Entry) -> Entry:
    """The entry of a member after the changes of the first batch."""
    if before is None or entry.action != "update" or entry.fails:
        return entry
    if all(map(_is_covered, before.nested, entry.nested)):
        return entry
    unknown = tuple(Inside(each.stack, each.action, is_known=False) for each in entry.nested)
    return records.replace(entry, nested=unknown)


def _is_covered(first: Inside, last: Inside) -> bool:
    """Whether the final preview contains all changes of the first batch in a nested stack."""
    known = {_get_key(entry): entry for entry in last.entries}
    return first.is_known and all(
        _is_in_last(entry, known.get(_get_key(entry))) for entry in first.entries
    )


def _get_key(entry: Entry) -> str:
    return entry.name if entry.row is None else entry.row.id


def _is_in_last(first: Entry, last: Entry | None) -> bool:
    if first.action == "none" and not first.may:
        return True
    if last is None or first.may or first.action != last.action or first.action == "create":
        return False
    return all(map(_is_covered, first.nested, last.nested))
