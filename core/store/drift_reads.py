"""What can be asked about drift; a part of ``reads.Reader``."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import Any

from zonda.hooks.errors import NotFound

from .drift_views import (
    COMPLETE,
    NOT_CHECKED,
    Difference,
    DriftCheckView,
    DriftFindingView,
    DriftIgnoreView,
    DriftNowView,
)
from .prepared import SQL
from .rows import DriftCheckRow, DriftFindingRow, DriftIgnoreRow, DriftRow, StackRow
from .tree_paths import Tree

_ALL = -1


class DriftReads:
    """Reads of the tables of drift. ``stack_id`` is that of the stack at the top of the tree."""

    def drift_check(self, check_id: str) -> DriftCheckView:
        """One check; raises NotFound."""
        found = self._all(SQL["drift_check_by_id"], check_id)
        if not found:
            raise NotFound("drift check", check_id)
        return _check_view(DriftCheckRow(*found[0]))

    def drift_checks(self, stack_id: str, limit: int = _ALL) -> list[DriftCheckView]:
        """The checks of a stack, the newest first."""
        found = self._all(SQL["drift_checks_of_stack"], stack_id, limit, 0)
        return [_check_view(DriftCheckRow(*each)) for each in found]

    def drift_findings(self, check_id: str) -> list[DriftFindingView]:
        """What a check has found that is not in sync, or only by an exception; by path."""
        found = self._all(SQL["drift_findings"], check_id)
        return [_finding_view(DriftFindingRow(*each)) for each in found]

    def drift_now(self, stack_id: str) -> list[DriftNowView]:
        """The newest verdict on every resource of a tree, by path.

        What an operation has changed since it was looked at is NOT_CHECKED.
        """
        checks = self.drift_checks(stack_id)
        started = {check.id: check.started_at for check in checks}
        found, told = [], dict[str, dict[str, DriftFindingView]]()
        for path, row in self.drift_rows(stack_id):
            verdict = row.current
            if not verdict or row.check_id is None:
                found.append(DriftNowView(row.id, row.stack_id, path, row.type, NOT_CHECKED, None))
                continue
            last = next((check for check in checks if _covers(check, path)), None)
            check_id = row.check_id if last is None else last.id
            if check_id not in told:
                findings = self.drift_findings(check_id)
                told[check_id] = {each.resource_id: each for each in findings}
            at, finding = started.get(check_id), told[check_id].get(row.id)
            found.append(DriftNowView(row.id, row.stack_id, path, row.type, verdict, at, finding))
        return found

    def drift_rows(self, stack_id: str) -> list[tuple[str, DriftRow]]:
        """(path, row) of what is meant to be there in a tree, with the newest verdicts; by path."""
        rows = [DriftRow(*each) for each in self._all(SQL["drift_rows"], stack_id)]
        return paths_of(rows, Tree(stack_id, self.owners_below(stack_id)))

    def drift_ignores(self, stack_id: str) -> list[DriftIgnoreView]:
        """The exceptions of a stack: by command, the oldest first, then by its environment."""
        found = self._all(SQL["drift_ignores_of_stack"], stack_id)
        rows = [DriftIgnoreRow(*each) for each in found]
        said = [
            DriftIgnoreView(
                row.id, row.stack_id, row.path, row.property, row.until, row.reason, row.by, row.at
            )
            for row in rows
        ]
        stack = self._all(SQL["stack_by_id"], stack_id)
        return said + (ignored_by_environment(StackRow(*stack[0])) if stack else [])

    # -- what the class that this is a part of has ------------------------------------------------

    def owners_below(self, root_id: str | None = None) -> list[tuple[str, str, str, str]]:
        """(nested stack, its owner, the owner's stack, its name) of a tree."""
        raise NotImplementedError

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        raise NotImplementedError


def ignored_by_environment(stack: StackRow) -> list[DriftIgnoreView]:
    """The exceptions that the environment of a stack has made."""
    said = json.loads(stack.drift_said) if stack.drift_said else {}
    return [
        DriftIgnoreView(
            "",
            stack.id,
            each["resource"],
            each.get("property", ""),
            each.get("until"),
            each.get("reason", ""),
            "environment",
            None,
        )
        for each in said.get("ignore", ())
    ]


def paths_of(rows: list[DriftRow], tree: Tree) -> list[tuple[str, DriftRow]]:
    """(``OWNER/NAME``, row) of the rows of a tree, by path."""
    found = []
    for row in rows:
        above = tree.path(row.stack_id)
        if above is not None:
            found.append(("/".join((*above, row.name)), row))
    return sorted(found, key=itemgetter(0))


def covers(scope: tuple[str, ...], path: str) -> bool:
    """Whether a check of ``scope`` (all where that is empty) looks at what stands at ``path``."""
    return not scope or any(path == each or path.startswith(f"{each}/") for each in scope)


def _covers(check: DriftCheckView, path: str) -> bool:
    return check.status == COMPLETE and covers(check.scope, path)


def _check_view(row: DriftCheckRow) -> DriftCheckView:
    return DriftCheckView(
        row.id,
        row.stack_id,
        row.generation,
        row.cause,
        row.by,
        tuple(json.loads(row.scope)),
        row.started_at,
        row.ended_at,
        row.status,
        row.reason,
        row.verdict,
        json.loads(row.counts),
    )


def _finding_view(row: DriftFindingRow) -> DriftFindingView:
    return DriftFindingView(
        row.check_id,
        row.resource_id,
        row.stack_id,
        row.path,
        row.type,
        row.verdict,
        row.reason,
        tuple(Difference.read(each) for each in json.loads(row.diff)),
        row.ignored,
    )
