"""The reasons for an action on a resource in a plan, as sentences and as words. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from zonda.hooks.records import dataclass
from zonda.hooks.resources.resource import Resource

from ..diff.decision import Comparison
from ..model import row_annotations
from ..model.states import PRESENT
from ..operations.replacement import is_removed_first
from .entries import Entry


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason. ``kind`` is for programs; ``names``: the properties or resources it is about.

    ``perhaps``: it only counts if a value that is known later turns out to be another one.
    """

    kind: str
    text: str
    names: tuple[str, ...] = ()
    perhaps: bool = False


def list_reasons(entry: Entry) -> list[Reason]:
    """All reasons for the action of an entry."""
    return [*_explain_entry(entry), *_explain_verdict(entry), *_explain_predecessor(entry)]


def _explain_entry(entry: Entry) -> Iterator[Reason]:
    names, row = ", ".join(entry.because), entry.row
    if entry.action == "blocked":
        yield Reason("blocked", f"requires {names}, which fails", entry.because)
    elif entry.action == "keep":
        yield Reason("used", f"still used by {names}, which is not selected", entry.because)
    elif entry.action == "leave" and row is not None:
        external = row.external_id is not None
        text = "is managed elsewhere" if external else "its deletion policy is Retain"
        yield Reason("external" if external else "retain", f"{text}: left behind")
    elif entry.refusal:
        yield Reason("protected", entry.refusal)
    elif entry.action == "delete" and row is not None:
        if row.want != PRESENT:
            yield Reason("left over", "left over from an earlier action")
        if row.deletion_policy == "Snapshot":
            yield Reason("snapshot", "its deletion policy is Snapshot: a snapshot is taken before")
        yield from _explain_remains(entry)
    elif entry.action == "create":
        yield from _explain_remains(entry)
    elif row is not None and row.want != PRESENT:
        yield Reason("back", "an older instance of it is taken again")


def _explain_predecessor(entry: Entry) -> Iterator[Reason]:
    """The reasons about the replaced instance, where it is not plainly deleted."""
    row, perhaps = entry.row, entry.action != "replace"
    if row is None or "replace" not in (entry.action, entry.may):
        return
    if is_removed_first(row):
        text = "its creation never completed: what there is of it is removed before"
        yield Reason("removed first", text, perhaps=perhaps)
    if entry.prepares:
        text = "whatever only one can have is taken from the old one first"
        yield Reason("prepared first", text, perhaps=perhaps)
    if row.deletion_policy == "Retain":
        text = "its deletion policy is Retain: the old one is left behind"
        yield Reason("retain", text, perhaps=perhaps)
    elif row.deletion_policy == "Snapshot":
        text = "its deletion policy is Snapshot: a snapshot of the old one is taken before it goes"
        yield Reason("snapshot", text, perhaps=perhaps)
    if row.deletion_policy != "Retain":
        yield from _explain_remains(entry, perhaps=perhaps)


def _explain_remains(entry: Entry, *, perhaps: bool = False) -> Iterator[Reason]:
    """The reason that tells what a deletion leaves outside."""
    if entry.remains:
        yield Reason("remains", entry.remains, perhaps=perhaps)


def _explain_verdict(entry: Entry) -> Iterator[Reason]:
    verdict = entry.verdict
    if verdict is None:
        return
    if entry.because and entry.action not in ("create", "check"):
        names = ", ".join(entry.because)
        text = f"reads {names}, whose values are known after apply"
        yield Reason("requirement", text, entry.because)
    if entry.perhaps:
        yield Reason("condition", "whether its condition holds is known after apply", (), True)
    whole = row_annotations.get(verdict.row, row_annotations.WHOLE)
    if whole:
        yield Reason("drift", f"has drifted: {whole}")
    yield from _explain_comparison(entry, verdict.surely, False)
    if entry.action == "update" and not verdict.surely.changed and _changes_inside(entry):
        yield Reason("nested", "what is nested in it changes")
    if entry.may:
        yield from _explain_comparison(entry, verdict.perhaps, True)


def _changes_inside(entry: Entry) -> bool:
    """Whether something is, or may be, done in its nested stack."""
    return any(
        each.action != "none" or each.may for inside in entry.nested for each in inside.entries
    )


def _is_declared_type(after: Resource) -> bool:
    """Whether the type is declared by a text, so that an update is not certain."""
    return after.declared_by is not None and not after.always_update()


def _explain_comparison(entry: Entry, compared: Comparison, perhaps: bool) -> Iterator[Reason]:
    if compared.decision in ("fail", "refuse"):
        yield Reason(compared.why or "error", compared.reason, compared.about, perhaps)
        return
    text = _TEXTS.get(compared.why)
    if compared.why == "plugin" and not compared.about:
        text = "the plug-in asks for a new resource"
    if compared.why == "always" and compared.after is not None and compared.after.is_nested_stack:
        text = "something in it is not well"
    elif (
        compared.why == "always"
        and compared.after is not None
        and _is_declared_type(compared.after)
    ):
        text = "another text declares its type, and has something else done for what it is"
    if text is None:
        return
    state = "" if entry.row is None else f"{entry.row.action}_{entry.row.status}"
    said = text.format(names=", ".join(compared.about), state=state)
    yield Reason(compared.why, said, compared.about, perhaps)


_TEXTS = {
    "type": "its type is another one",
    "failed": "it is {state}",
    "missing": "it is not there any more",
    "fixed": "{names} can only be changed by a new resource",
    "plugin": "the plug-in asks for a new resource when {names} changes",
    "prepared": "it gets back what it let go of when it was to be replaced",
    "always": "its type is updated whenever the stack is",
}
