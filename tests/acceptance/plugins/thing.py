"""A type whose things are files of JSON: what stands there is how a thing really is."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any, ClassVar

from zonda.hooks import hookimpl, properties, resource
from zonda.hooks.errors import NotFound, NotReady, ResourceFailure


class Thing(resource.Resource):
    """``folder``: where its things and notes are. ``unreachable`` and ``slow`` there are orders."""

    properties_schema: ClassVar[Mapping[str, Any]] = {
        "folder": properties.Schema(properties.Schema.STRING, required=True),
        "value": properties.Schema(properties.Schema.STRING, update_allowed=True),
        "tags": properties.Schema(properties.Schema.MAP, update_allowed=True),
        "secret": properties.Schema(properties.Schema.STRING, update_allowed=True, hidden=True),
    }

    @property
    def _folder(self) -> pathlib.Path:
        return pathlib.Path(self.properties["folder"])

    def _note(self, call: str) -> None:
        with (self._folder / "calls").open("a") as file:
            file.write(f"{self.name} {call}\n")

    @property
    def _file(self) -> pathlib.Path:
        return self._folder / f"{self.name}.json"

    def handle_create(self) -> None:
        self._note("create")
        given = {name: self.properties[name] for name in ("value", "tags", "secret")}
        self._file.write_text(json.dumps({**given, "made by": self.uuid}))
        self.resource_id_set(str(self._file))

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        self._note(f"update {' '.join(sorted(prop_diff))}")
        self._file.write_text(json.dumps({**json.loads(self._file.read_text()), **prop_diff}))

    def handle_delete(self) -> None:
        self._note("delete")
        file = pathlib.Path(self.resource_id or "nothing")
        if file.exists() and json.loads(file.read_text()).get("made by") == self.uuid:
            file.unlink()  # and not what was made in its place

    def get_live_state(self) -> Mapping[str, Any]:
        if (self._folder / f"unreachable-{self.name}").exists():
            raise ResourceFailure("nobody answers")
        if (self._folder / f"slow-{self.name}").exists():
            raise NotReady(0.1, "it takes its time")
        if not self._file.exists():
            raise NotFound("thing", self.name)
        found: dict[str, Any] = json.loads(self._file.read_text())
        return found


@hookimpl
def zonda_resource_types() -> Mapping[str, type[resource.Resource]]:
    return {"Test::Thing": Thing}
