"""Reads of drift; a part of ``reader.Reader``.

Every command has a Reader, few ask about drift: how it is shown is imported by those who do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from zonda.hooks.errors import NotFound

from ..schema.rows import DriftCheckRow, DriftFindingRow, DriftRow, StackRow
from .tree_paths import Tree

if TYPE_CHECKING:
    from .drift_views import DriftCheckView, DriftFindingView, DriftIgnoreView, DriftNowView

_ALL = -1
#: Checks that are read at a time while the newest of each path is looked for.
_PAGE = 20


class DriftReads:
    """Reads of the tables of drift. ``stack_id`` is that of the stack at the top of the tree."""

    @cached_property
    def _views(self) -> Any:
        from . import drift_to_view

        return drift_to_view

    def drift_check(self, check_id: str) -> DriftCheckView:
        """One check; raises NotFound."""
        found = self._ask("drift_check_by_id", check_id)
        if not found:
            raise NotFound("drift check", check_id)
        view: DriftCheckView = self._views.to_check_view(DriftCheckRow(*found[0]))
        return view

    def drift_checks(
        self, stack_id: str, limit: int = _ALL, offset: int = 0
    ) -> list[DriftCheckView]:
        """The checks of a stack, the newest first, without the ``offset`` newest."""
        found = self._ask("drift_checks_of_stack", stack_id, limit, offset)
        return [self._views.to_check_view(DriftCheckRow(*each)) for each in found]

    def drift_checks_from(self, stack_id: str, beginning: str) -> list[DriftCheckView]:
        """The checks of a stack whose ids begin so, two of them at most."""
        # no id has a letter after "z"
        found = self._ask("drift_checks_from", stack_id, beginning, f"{beginning}z", 2, 0)
        return [self._views.to_check_view(DriftCheckRow(*each)) for each in found]

    def drift_findings(self, check_id: str) -> list[DriftFindingView]:
        """The findings of a check: out of sync, or in sync only by an exception; by path."""
        found = self._ask("drift_findings", check_id)
        return [self._views.to_finding_view(DriftFindingRow(*each)) for each in found]

    def drift_now(self, stack_id: str) -> list[DriftNowView]:
        """The newest verdict on every resource of a tree, by path.

        What an operation has changed since it was looked at is NOT_CHECKED.
        """
        rows = self.drift_rows(stack_id)
        checked = {path: row.check_id for path, row in rows if row.current and row.check_id}
        newest = self._newest_checks(stack_id, checked)
        told: dict[str, dict[str, DriftFindingView]] = {}
        found = []
        for path, row in rows:
            if path not in checked:
                found.append(self._views.to_unchecked_view(path, row))
                continue
            last = newest.get(path)
            check_id = checked[path] if last is None else last.id
            if check_id not in told:
                findings = self.drift_findings(check_id)
                told[check_id] = {each.resource_id: each for each in findings}
            at = None if last is None else last.started_at
            found.append(self._views.to_verdict_view(path, row, at, told[check_id].get(row.id)))
        return found

    def _newest_checks(
        self, stack_id: str, checked: Mapping[str, str]
    ) -> dict[str, DriftCheckView]:
        """The newest check that has looked at each path; reads no more checks than that takes.

        ``checked``: by path, the id of one that has.
        """
        found: dict[str, DriftCheckView] = {}
        left, offset = dict(checked), 0
        while left:
            page = self.drift_checks(stack_id, _PAGE, offset)
            for check in page:
                if check.is_complete:
                    for path in [*filter(partial(_has_checked, check, left), left)]:
                        found[path] = check
                        del left[path]
            if len(page) < _PAGE:
                break
            offset += _PAGE
        return found

    def drift_rows(self, stack_id: str) -> list[tuple[str, DriftRow]]:
        """(path, row) of the desired instances of a tree, with the newest verdicts; by path.

        Of a stack that is being deleted, or could not be, those of all that is left.
        """
        rows = [DriftRow(*each) for each in self._ask("drift_rows", stack_id)]
        return with_paths(rows, Tree(stack_id, self.list_owners_below(stack_id)))

    def drift_ignores(self, stack_id: str) -> list[DriftIgnoreView]:
        """The exceptions of a stack: by command, the oldest first, then by its environment."""
        from . import drift_views

        found = self._ask("drift_ignores_of_stack", stack_id)
        said = [drift_views.DriftIgnoreView(*each) for each in found]
        stack = self._ask("stack_by_id", stack_id)
        return said + (self._views.list_environment_ignores(StackRow(*stack[0])) if stack else [])

    # -- what the class that this is a part of has ------------------------------------------------

    def list_owners_below(self, root_id: str | None = None) -> list[tuple[str, str, str, str]]:
        """(nested stack, its owner, the owner's stack, its name) of a tree."""
        raise NotImplementedError

    def _ask(self, name: str, *values: Any) -> list[tuple[Any, ...]]:
        raise NotImplementedError


def with_paths(rows: list[DriftRow], tree: Tree) -> list[tuple[str, DriftRow]]:
    """(``OWNER/NAME``, row) of the rows of a tree, by path."""
    found = []
    for row in rows:
        above = tree.path(row.stack_id)
        if above is not None:
            found.append(("/".join((*above, row.name)), row))
    return sorted(found, key=itemgetter(0))


def _has_checked(check: DriftCheckView, checked: Mapping[str, str], path: str) -> bool:
    """Whether a check has looked at a path, or at the instance that is there now."""
    return checked[path] == check.id or covers(check.scope, path)


def covers(scope: tuple[str, ...], path: str) -> bool:
    """Whether a check of ``scope`` (all where that is empty) looks at what stands at ``path``."""
    return not scope or any(path == each or path.startswith(f"{each}/") for each in scope)
