"""The entries of a preview: the action on each resource, and on its nested stack. Pure data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.records import dataclass

from ..diff.judge import Verdict
from ..diff.unknowns import Offer
from ..progress.protection import Protection


@dataclass(frozen=True, slots=True)
class Entry:
    """The planned action on one resource, or on one instance to be deleted.

    ``action``: create, check, update, replace, delete, leave (it goes from the stack and stays
    outside), keep (it would go, but is still used), none, fail, blocked (by a failure) or outside
    (of the selection). ``because``: names that explain it. ``verdict`` is None where nothing had
    to be decided. ``held``: who protects it, where it cannot go for that. ``nested``: what becomes
    of its nested stack; of what is replaced that of the new one, then that of the old one.
    ``perhaps``: what may become of it besides, since it is not known whether its condition holds.
    ``remains``: what its type says that its deletion leaves outside, or ''. ``prepares``: its type
    has ``prepare_for_replace``.
    """

    name: str
    type: str
    action: str
    row: ResourceRow | None = None
    verdict: Verdict | None = None
    because: tuple[str, ...] = ()
    held: Protection | None = None
    nested: tuple[Inside, ...] = ()
    perhaps: str = ""
    remains: str = ""
    prepares: bool = False

    @property
    def refusal(self) -> str:
        """The reason why it cannot be deleted, or ''."""
        return "" if self.held is None else self.held.forbids("deleted")

    @property
    def may(self) -> str:
        """The other action that is possible, or ''."""
        return self.perhaps or ("" if self.verdict is None else self.verdict.may)

    @property
    def fails(self) -> bool:
        """Whether it is known to fail, or anything nested in it."""
        return self.action == "fail" or any(each.fails for each in self.nested)

    def failing(self) -> Iterator[tuple[str, Entry]]:
        """The entries known to fail: itself, or nested ones, with the path to them."""
        if self.action == "fail":
            yield self.name, self
        for each in self.nested:
            for entry in each.entries:
                for name, found in entry.failing():
                    yield f"{self.name}/{name}", found


@dataclass(frozen=True, slots=True)
class Inside:
    """The preview of one nested stack.

    ``action``: CREATE, UPDATE or DELETE. ``definition``: what it shall be, ``before``: what it is;
    None where there is none. ``values`` and ``old_values``: those of its resources then and now.
    ``is_known``: whether it is known what happens in it; nothing else is told where it is not.
    ``offer`` gives what its owner will show, as far as that is known.
    """

    stack: StackRow
    action: str
    entries: tuple[Entry, ...] = ()
    definition: Any = None
    before: Any = None
    values: Any = None
    old_values: Any = None
    is_known: bool = True
    offer: Offer | None = None

    @property
    def fails(self) -> bool:
        """Whether anything in it is known to fail."""
        return any(entry.fails for entry in self.entries)
