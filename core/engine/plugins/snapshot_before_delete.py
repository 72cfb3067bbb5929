"""Deletion with the policy Snapshot: a snapshot is saved before the deletion.

Called by ``calls`` in the place of a type's own handler and check. A type that has
``handle_snapshot_delete`` does both itself; for one with ``handle_snapshot`` alone the two handlers
are called one after the other, and the token tells how far that has come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.hooks.resources.resource import Resource

SNAPSHOT = "Snapshot"
#: Of a creation that failed there is nothing to save.
_NOTHING = ("CREATE", "FAILED")
_CHECK = "check_delete_complete"


class SavingDeletion:
    """Handler and check of one deletion. ``saved``: an attempt before has saved already."""

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
    def checker(self) -> Callable[[Any], Any] | None:
        """The check of the token, called until it is true; None: no check is needed."""
        if not self.saves_itself:
            return self.check
        check: Callable[[Any], Any] | None = getattr(self._instance, _CHECK, None)
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
        check: Callable[[Any], Any] | None = getattr(self._instance, name, None)
        return check is None or bool(check(token))
