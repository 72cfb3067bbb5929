"""A type that notes in a file what is asked of it, and fails or waits where a file says so."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any, ClassVar

from zonda.hooks import attributes, hookimpl, properties, resource
from zonda.hooks.errors import NotFound, ResourceFailure


class Vault(resource.Resource):
    """``folder``: where its notes and orders are."""

    properties_schema: ClassVar[Mapping[str, Any]] = {
        "folder": properties.Schema(properties.Schema.STRING, required=True),
        "value": properties.Schema(properties.Schema.STRING, update_allowed=True),
        "backup": properties.Schema(properties.Schema.STRING, update_allowed=True),
    }
    attributes_schema: ClassVar[Mapping[str, Any]] = {"value": attributes.Schema("the value")}

    def _note(self, call: str) -> None:
        folder = pathlib.Path(self.properties["folder"])
        with (folder / "calls").open("a") as file:
            file.write(f"{self.name} {call}\n")
        if (folder / f"fail-{self.name}-{call}").exists():
            raise ResourceFailure(f"{call} is to fail")

    def _waits(self, call: str) -> bool:
        return (pathlib.Path(self.properties["folder"]) / f"wait-{self.name}-{call}").exists()

    def handle_create(self) -> None:
        self.resource_id_set(f"vault-{self.name}")
        self._note("create")

    def check_create_complete(self, token: Any) -> bool:
        return not self._waits("create")

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        self._note("update")

    def check_update_complete(self, token: Any) -> bool:
        return not self._waits("update")

    def handle_delete(self) -> None:
        self._note("delete")

    def check_delete_complete(self, token: Any) -> bool:
        return not self._waits("delete")

    def handle_suspend(self) -> None:
        self._note("suspend")

    def handle_resume(self) -> None:
        self._note("resume")

    def handle_snapshot(self) -> None:
        self._note("snapshot")
        self.data_set("backup", f"backup-{self.properties['value']}")

    def handle_delete_snapshot(self, snapshot: Any) -> None:
        self._note(f"delete {snapshot['resource_data']['backup']}")

    def handle_restore(self, defn: Any, restore_data: Any) -> Any:
        backup = restore_data["resource_data"]["backup"]
        return defn.freeze(properties={**defn.properties, "backup": backup})

    def get_live_state(self) -> Mapping[str, Any]:
        if self.resource_id == "gone":
            raise NotFound("Vault", "gone")
        return {"value": "what is there"}

    def needs_replace_failed(self) -> bool:
        return False


@hookimpl
def zonda_resource_types() -> Mapping[str, Any]:
    """The one type."""
    return {"Test::Vault": Vault}
