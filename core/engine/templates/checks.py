"""The earlier checks of a stack, so that an update checks only its changes.

Called by ``proposals``. With the template of a stack at the top the marks of the nested stacks are
kept that were checked with it, or before it (``template/check_marks``), as keyed hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import PlanRow, StackRow
from zonda.core.store.values.sealing import Sealer
from zonda.hooks.cached_property import cached_property

from ..model.definition import Definition, Node
from ..model.states import COMPLETE, PRESENT
from .fingerprints import compute_fingerprint

#: So many marks are kept with a template, the newest ones.
MOST = 4096


class EarlierChecks:
    """The earlier checks of one stack."""

    def __init__(self, reader: Callable[[], Reader], sealer: Sealer, stack: StackRow) -> None:
        self._reader = reader
        self._sealer = sealer
        self._stack = stack

    def is_unchanged(self, node: Node) -> bool:
        """Whether a resource is what a checked template wanted, with all that is nested in it.

        Then nothing of it is looked at again.
        """
        return (node.name, compute_fingerprint(self._sealer, node)) in self._present

    def is_well(self, mark: str) -> bool:
        """Whether the nested stack with this cache key is known to be valid.

        Where anything has failed, or is to be mended, all that is not settled is looked at again.
        """
        return _hash(self._sealer, mark) in self._valid and self._is_all_at_rest

    @cached_property
    def _rows(self) -> list[PlanRow]:
        return self._reader().plan_rows(self._stack.id)

    @cached_property
    def _is_all_at_rest(self) -> bool:
        return all(map(_is_at_rest, self._rows))

    @cached_property
    def _present(self) -> set[tuple[str, str]]:
        return {(row.name, row.have_hash) for row in self._rows if _is_at_rest(row)}

    @cached_property
    def _valid(self) -> frozenset[str]:
        return frozenset(_read_checked(self._reader(), self._stack))


def format_checks(reader: Reader, sealer: Sealer, stack: StackRow, definition: Definition) -> str:
    """The text that is stored with the template of a checked definition."""
    new = (_hash(sealer, mark) for mark in definition.checked)
    marks = dict.fromkeys((*new, *_read_checked(reader, stack)))
    return " ".join(islice(marks, MOST))


def _read_checked(reader: Reader, stack: StackRow) -> list[str]:
    return [] if stack.template_id is None else reader.read_checked(stack.template_id)


def _hash(sealer: Sealer, mark: str) -> str:
    return sealer.hmac(mark.encode())


def _is_at_rest(row: PlanRow) -> bool:
    """Whether an instance is in its desired state, and no operation waits for it."""
    quiet = row.want == PRESENT and row.status == COMPLETE and not (row.op or row.dirty)
    return quiet and row.have_hash == row.want_hash
