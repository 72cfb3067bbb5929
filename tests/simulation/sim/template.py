"""A tiny definition with the engine's view of a template: JSON instead of HOT.

``{"resources": {name: entry}, "own": .., "breakpoints": .., "restricted": ..}``; the last three are
what an environment gives, in normal form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from zonda.core.template.evaluation.unknown_values import UNKNOWN, UnknownUntilRun
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource

TYPES = ("Thing", "Fragile", "Odd", "Quick")


class Node:
    """One resource: its value is its own text and what its requirements say."""

    metadata: Mapping[str, Any] = {}
    update_policy: Mapping[str, Any] = {}
    is_certain = True

    def __init__(self, name: str, entry: Mapping[str, Any], cls: type[Resource]) -> None:
        self.name = name
        self.type = entry["type"]
        self.cls = cls
        self.requires = frozenset(entry["requires"])
        self.deletion_policy = entry.get("deletion", "Delete")
        self.secrecy: Mapping[str, str] = {}
        self._entry = entry

    @property
    def fingerprint(self) -> str:
        return json.dumps(self._entry, sort_keys=True)

    def resolve(self, scope: Any, how: Callable[..., Any] | None = None) -> ResourceDefinition:
        """The definition; ``how`` is given where values may be known only later."""
        value: Any
        try:
            said = [str(scope.attribute(name, "output", ())) for name in sorted(self.requires)]
            value = "|".join([self._entry["value"], *said])
        except UnknownUntilRun:
            if how is None:
                raise
            value = UNKNOWN
        values = {"value": value, "fixed": self._entry["fixed"], "moody": self._entry["moody"]}
        return ResourceDefinition(
            self.name,
            self.type,
            properties=values,
            deletion_policy=self.deletion_policy,
            external_id=self._entry.get("external"),
        )


class _Open:
    """Nothing is secret here, and everything given is known."""

    values: Mapping[str, Any] = {}
    hidden: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()

    def of(self, tree: Any) -> str:
        return "open"

    def is_open(self, name: str) -> bool:
        return True

    def classify_metadata(self, name: str) -> str:
        return "open"

    classify_reference = classify_metadata

    def classify_attribute(self, name: str, attribute: str | None, path: Any = ()) -> str:
        return "open"


class Registry:
    """Breakpoints and restrictions."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.breakpoints = {
            pattern: tuple(hooks) for pattern, hooks in known.get("breakpoints", {}).items()
        }
        self._restricted = known.get("restricted", {})

    def list_restricted_actions(self, name: str) -> frozenset[str]:
        return frozenset(self._restricted.get(name, ()))


class FakeDefinition:
    """See ``zonda.core.engine.templates.definitions.Definition``."""

    description = ""
    outputs: Mapping[str, Any] = {}
    schemas: Mapping[str, Any] = {}
    checked: tuple[str, ...] = ()
    without_effect: tuple[str, ...] = ()
    warnings_of_types: tuple[str, ...] = ()
    parameters = secrecy = _Open()
    family: Any = SimpleNamespace(
        texts=(), types={}, load_context=SimpleNamespace(bundle=Bundle(""))
    )

    def __init__(self, known: Mapping[str, Any], resources: Mapping[str, Node]) -> None:
        self.resources = resources
        self.registry = Registry(known)
        self.environment = SimpleNamespace(own=known.get("own", {}), parameters={})

    def referenced_attributes(self, name: str) -> frozenset[str | None]:
        return frozenset({"output"})

    def check_names(self, *_: Any) -> None:
        """No secrets, no names of them."""

    def scope(self, values: Any) -> Any:
        return values


class FakeLoading:
    """See ``zonda.core.engine.templates.definitions.Loading``."""

    def __init__(self, types: Mapping[str, type[Resource]]) -> None:
        self.types = types

    def __call__(
        self,
        bundle: Bundle,
        identity: Identity,
        previous: Mapping[str, Any] | None,
        check: bool,
        earlier: Any = None,
    ) -> Any:
        return self.define(json.loads(bundle.template))

    def define(self, known: Mapping[str, Any]) -> FakeDefinition:
        """The definition of a template."""
        nodes = {
            name: Node(name, entry, self.types[entry["type"]])
            for name, entry in known["resources"].items()
        }
        return FakeDefinition(known, nodes)


def random_template(source: Any, size: int) -> dict[str, Any]:
    """Up to ``size`` resources; each requires some of those before it."""
    names = [f"r{number}" for number in range(size)]
    chosen = [name for name in names if source.random() < 0.75]
    entries: dict[str, Any] = {}
    for index, name in enumerate(chosen):
        before = chosen[max(0, index - 4) : index]
        entries[name] = {
            "type": TYPES[int(name[1:]) % len(TYPES)],
            "value": source.choice("abc"),
            "fixed": source.choice("xxxy"),
            "moody": source.random() < 0.3,
            "requires": [other for other in before if source.random() < 0.4],
        }
    return {"resources": entries}
