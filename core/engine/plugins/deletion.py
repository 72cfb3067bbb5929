"""Deletion of a resource with snapshot data: the data first, then the resource.

Called by ``calls`` in the place of a type's own handler and check. The token tells how far it has
come: ``at`` counts the snapshots that are done, ``token`` is that of the handler that was called
last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zonda.hooks.resources.resource import Resource

Handler = Callable[[], Any]
Checker = Callable[[Any], Any]


class Forgetting:
    """Handler and check; ``delete`` and ``is_deleted``: those of the deletion itself."""

    def __init__(
        self,
        instance: Resource,
        kept: Sequence[Mapping[str, Any]],
        delete: Handler | None,
        is_deleted: Checker | None,
    ) -> None:
        self._instance: Any = instance
        self._kept = kept
        self._delete = delete
        self._is_deleted = is_deleted

    def handle(self) -> dict[str, Any]:
        """Begin; gives the token."""
        return self._begin_next({"at": 0})

    def check(self, token: dict[str, Any]) -> bool:
        """Whether all is gone."""
        while token["at"] < len(self._kept):
            check = getattr(self._instance, "check_delete_snapshot_complete", None)
            if check is not None and not check(token["token"]):
                return False
            token["at"] += 1
            self._begin_next(token)
        return self._is_deleted is None or bool(self._is_deleted(token["token"]))

    def _begin_next(self, token: dict[str, Any]) -> dict[str, Any]:
        if token["at"] < len(self._kept):
            token["token"] = self._instance.handle_delete_snapshot(self._kept[token["at"]])
        else:
            token["token"] = None if self._delete is None else self._delete()
        return token
