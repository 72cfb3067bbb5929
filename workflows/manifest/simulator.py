"""A simulated back end that does what a manifest asks for: types are checked against it.

Made by ``zonda plugin check`` and by tests. It keeps the properties that a mapping sends as they
are, and answers a CHECK with them, as far as the mappings of ``observes`` lead straight to outputs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from zonda.hooks import attributes
from zonda.hooks.conformance import Backend
from zonda.hooks.runners import Finished, Lost, PollAnswer, StartRequest, Succeeded, WorkflowRunner
from zonda.hooks.testing import FakeContext

from . import mapping
from .model import Manifest

_SAMPLES: Mapping[str | None, Any] = {
    attributes.Schema.STRING: "given by a workflow",
    attributes.Schema.NUMBER: 1,
    attributes.Schema.BOOLEAN: True,
    attributes.Schema.MAP: {"given by": "a workflow"},
    attributes.Schema.LIST: ["given by a workflow"],
    None: "given by a workflow",
}


class World(Backend):
    """The outside world of one type."""

    def __init__(self, manifest: Manifest, attributes: Mapping[str, attributes.Schema]) -> None:
        self.runner = SimulatedRunner(manifest, attributes)

    def context(self) -> FakeContext:
        """A context in which this runner runs everything, and every secret exists."""
        return _Context(self.runner)

    def leftovers(self) -> Collection[str]:
        """The resources that still exist."""
        return list(self.runner.things)

    def lose(self, resource_id: str) -> bool:
        """Remove a resource; return whether it was there."""
        return self.runner.things.pop(resource_id, None) is not None


class _Context(FakeContext):
    def __init__(self, runner: WorkflowRunner) -> None:
        super().__init__()
        self._simulated = runner

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The simulated runner."""
        return self._simulated, workflow.rpartition(":")[2]

    def secret(self, reference: str) -> str:
        """A value that is in no other text."""
        return f"the secret of {reference}"


class SimulatedRunner(WorkflowRunner):
    """Keeps ``things`` by id: the properties that were sent for each. Every run ends at once."""

    def __init__(self, manifest: Manifest, attributes: Mapping[str, attributes.Schema]) -> None:
        self._manifest = manifest
        self._attributes = attributes
        self._answers: dict[str, Finished] = {}
        self.things: dict[str, dict[str, Any]] = {}
        self._count = 0

    def start(self, request: StartRequest) -> Finished:
        """Carry out the action, once for each key."""
        known = self._answers.get(request.key)
        if known is None:
            output = self._carry_out(request)
            known = self._answers[request.key] = Finished(Succeeded(output), request.key)
        return known

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Return Lost: every run ends with its start."""
        return Lost("there is no such run")

    def _carry_out(self, request: StartRequest) -> dict[str, Any]:
        physical = request.resource.physical_id or ""
        if request.action == "CHECK":
            return self._build_check_output(physical)
        if request.action == "DELETE":
            self.things.pop(physical, None)
            return {}
        if request.action == "CREATE":
            self._count += 1
            physical = f"thing-{self._count}"
            self.things[physical] = {}
        if request.action in ("CREATE", "UPDATE"):
            self.things.setdefault(physical, {}).update(self._select_sent_properties(request))
            return {**self._build_outputs(request.action), "resource_id": physical}
        return {}

    def _select_sent_properties(self, request: StartRequest) -> dict[str, Any]:
        """The properties among the inputs."""
        written = self._manifest.actions[request.action].input
        if written is None:
            return dict(request.inputs)
        return dict(_list_sent_properties(written, request.inputs))

    def _build_outputs(self, action: str) -> dict[str, Any]:
        """Outputs that every attribute finds its value in."""
        kept = self._manifest.actions[action].output
        found: dict[str, Any] = {}
        for name, value in self._manifest.attributes.items():
            path = _find_output_path(value)
            if kept is not None and path:
                path = _find_output_path(kept.get(str(path[0])))
            if path:
                schema = self._attributes.get(name)
                _put(found, path, _SAMPLES[None if schema is None else schema.type])
        return found

    def _build_check_output(self, physical: str) -> dict[str, Any]:
        found: dict[str, Any] = {"exists": physical in self.things}
        path = _find_output_path(self._manifest.exists)
        if path:
            _put(found, path, physical in self.things)
        for name, value in self._manifest.observes.items():
            path = _find_output_path(value)
            if path and name in self.things.get(physical, {}):
                _put(found, path, self.things[physical][name])
        return found


def _find_output_path(value: Any) -> list[Any]:
    """The path of a mapping that is one ``get_output``; else an empty list."""
    call = mapping.find_call(value)
    if call is None or call[0] != mapping.OUTPUT:
        return []
    return call[1] if isinstance(call[1], list) else [call[1]]


def _put(output: dict[str, Any], path: list[Any], value: Any) -> None:
    inside: Any = output
    for step in path[:-1]:
        inside = inside.setdefault(str(step), {})
    inside[str(path[-1])] = value


def _list_sent_properties(written: Any, sent: Any) -> Iterator[tuple[str, Any]]:
    """The properties that a mapping sends as they are, with what was sent."""
    call = mapping.find_call(written)
    if call is not None:
        if call[0] == mapping.PROPERTY and isinstance(call[1], str):
            yield call[1], sent
    elif isinstance(written, Mapping) and isinstance(sent, Mapping):
        for key, value in written.items():
            yield from _list_sent_properties(value, sent.get(key))
