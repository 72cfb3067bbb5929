"""Resources that own a user of keystone. In zonda nothing signals with a user's credentials."""

from __future__ import annotations

import uuid
from typing import Any

from heat.engine import resource


class StackUser(resource.Resource):
    """As a resource, but with a user: there is none here, and none is needed."""

    requires_deferred_auth = True

    def handle_create(self) -> Any:
        self._create_user()

    def _create_user(self) -> None:
        """An id, by which the resource is known; nobody signs in by it."""
        if self._get_user_id() is None:
            self.data_set("user_id", uuid.uuid4().hex)

    def _delete_user(self) -> None:
        self.data_delete("user_id")

    def _user_token(self) -> Any:
        return ""

    def _get_user_id(self) -> Any:
        return self.data().get("user_id")

    def _create_keypair(self) -> Any:
        return None

    def _delete_keypair(self) -> None:
        """Nothing is there."""

    def _register_access_key(self) -> None:
        """Nothing to register."""

    def handle_delete(self) -> Any:
        self._delete_user()
        return super().handle_delete()

    def handle_suspend(self) -> Any:
        return None

    def handle_resume(self) -> Any:
        return None
