"""Deletions of more than a resource: a snapshot is saved before, or kept snapshot data is deleted.

Called by ``operation`` in the place of a type's own handler and check; the token tells how far a
deletion has come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zonda.hooks.resources.resource import Resource

Handler = Callable[[], Any]
Checker = Callable[[Any], Any]

SNAPSHOT = "Snapshot"
#: Of a creation that failed there is nothing to save.
_NOTHING = ("CREATE", "FAILED")
_CHECK = "check_delete_complete"


class Forgetting:
    """Deletes snapshot data, then the resource by ``delete`` and ``is_deleted``.

    The token: ``at`` counts the snapshots that are done, ``token`` is that of the handler that was
    called last.
    """

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


class SavingDeletion:
    """Saves a snapshot, then deletes. ``saved``: an attempt before has saved already.

    A type that has ``handle_snapshot_delete`` does both itself; for one with ``handle_snapshot``
    alone the two handlers are called one after the other.
    """

    def __init__(self, instance: Resource, *, saved: bool = False) -> None:
        self._instance: Any = instance
        self._saved = saved

    @property
    def saves_itself(self) -> bool:
        """Whether the type's handler saves and deletes."""
        return callable(getattr(self._instance, "handle_snapshot_delete", None))

    @property
    def has_to_save(self) -> bool:
        """Whether the handler saves something, or begins to."""
        if self._saved or self.saves_itself:
            return not self._saved
        instance = self._instance
        return instance.state != _NOTHING and callable(getattr(instance, "handle_snapshot", None))

    @property
    def checker(self) -> Checker | None:
        """The check of the token, called until it is true; None: no check is needed."""
        if not self.saves_itself:
            return self.check
        check: Checker | None = getattr(self._instance, _CHECK, None)
        return check

    def handle(self) -> Any:
        """Begin; gives the token."""
        instance = self._instance
        if self.saves_itself:
            return instance.handle_snapshot_delete(instance.state)
        if not self.has_to_save:
            return {"saved": True, "token": instance.handle_delete()}
        return {"saved": False, "token": instance.handle_snapshot()}

    def check(self, token: Any) -> bool:
        """Whether it is done; the token says: not saved yet, saved, or being deleted."""
        if token["saved"] is False:
            if not self._is_done("check_snapshot_complete", token["token"]):
                return False
            token["saved"] = None
        if token["saved"] is None:
            token["token"] = self._instance.handle_delete()
            token["saved"] = True
        return self._is_done(_CHECK, token["token"])

    @staticmethod
    def has_saved(token: Any) -> bool:
        """Whether the part of a deletion that a token tells of has saved what there was."""
        found = token.get("token") if isinstance(token, dict) and "at" in token else token
        return isinstance(found, dict) and found.get("saved", False) is not False

    def _is_done(self, name: str, token: Any) -> bool:
        check: Checker | None = getattr(self._instance, name, None)
        return check is None or bool(check(token))
