"""Trees of templates in the simulation's own words: what stands for files, groups and parameters.

Beside ``template.py``: the text of a root holds its ``files``. An entry whose type is the name of a
file is a nested stack of that file; ``count``, ``batch``, ``member`` and ``pause`` are a group's.
The value ``$`` stands for the parameter that the owner gives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.definition.child_spec import ChildSpec
from zonda.core.template.source.bundle import Bundle, Identity, Limits
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import ChildTemplate
from zonda.hooks.resources.resource import Resource

from .nested_types import PARAMETER, GroupBase, Tree
from .template import FakeDefinition, FakeLoading, Node, Registry

GROUP = ("count", "batch", "member", "pause")


def all_said(said: Any) -> str:
    """What a nested stack says, by what those in it say."""
    return "<" + ",".join(map(str, said)) + ">"


def of_child(spec: Mapping[str, Any], files: Mapping[str, Any]) -> dict[str, Any]:
    """The template that a nested stack was made from; ``spec`` as it is stored."""
    known: dict[str, Any] = files[spec["file"]] if spec["template"] is None else spec["template"]
    return known


def is_owner(row: ResourceRow) -> bool:
    """Whether something is nested in an instance."""
    return row.type == "Group" or row.type.islower()


def reached(files: Mapping[str, Any], kind: str) -> list[str]:
    """The files that a type is made from."""
    found: list[str] = []
    pending = [kind]
    while pending:
        name = pending.pop()
        if name in files and name not in found:
            found.append(name)
            for entry in files[name]["resources"].values():
                pending += [entry["type"], entry.get("member", "")]
    return sorted(found)


class NestingNode(Node):
    """One resource of such a template."""

    def __init__(
        self, name: str, entry: Mapping[str, Any], cls: type[Resource], tree: NestingDefinition
    ) -> None:
        super().__init__(name, entry, cls)
        self.raw = entry
        self._tree = tree

    @property
    def fingerprint(self) -> str:
        tree = self._tree
        below = tree.build_signature(self.name, [str(self.raw.get("member", ""))])
        given = tree.given if self.raw["value"] == PARAMETER else None
        return json.dumps([self.raw, below, given], sort_keys=True)

    def resolve(self, scope: Any, how: Callable[..., Any] | None = None) -> ResourceDefinition:
        """The definition; what a parameter gives comes first."""
        made = super().resolve(scope, how)
        values = dict(made.properties)
        if self.raw["value"] == PARAMETER:
            values["value"] = str(self._tree.given) + values["value"].removeprefix(PARAMETER)
        values.update({key: self.raw[key] for key in GROUP if key in self.raw})
        return made.freeze(properties=values)


class _Output:
    """The one output: what all say."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = sorted(names)

    def resolve(self, scope: Any) -> str:
        return all_said(scope.attribute(name, "output", ()) for name in self._names)


class NestingDefinition(FakeDefinition):
    """See ``zonda.core.engine.templates.definitions.Definition``."""

    def __init__(
        self, family: TemplateTree, known: Mapping[str, Any], spec: ChildSpec | None = None
    ) -> None:
        given = None if spec is None else spec.parameters.get("value")
        self.family, self.spec = family, spec
        self.given = given
        nodes = {
            name: NestingNode(name, entry, family.class_of(entry["type"]), self)
            for name, entry in known["resources"].items()
        }
        super().__init__(known, nodes)
        self.outputs = {"output": _Output(nodes)}
        values = {} if given is None else {"value": given}
        self.parameters = SimpleNamespace(values=values, hidden=frozenset(), unknown=frozenset())

    def referenced_paths(self, name: str) -> frozenset[tuple[Any, ...]]:
        return frozenset()

    def build_signature(
        self, name: str, types: Collection[str], properties: Any = None, marked_by: Any = None
    ) -> str:
        files = self.family.files
        kinds = [*types, self.resources[name].type]
        found = {key: files[key] for kind in kinds for key in reached(files, kind)}
        return json.dumps(found, sort_keys=True)

    def build_child_spec(
        self, name: str, child: ChildTemplate, resolved: ResourceDefinition
    ) -> ChildSpec:
        return ChildSpec(child.file, child.template, "", child.parameters, names=(name,))


def _below(own: Mapping[str, Any]) -> dict[str, Any]:
    """What of a root's environment holds below: not what it says of the stack."""
    protected = {name: on for name, on in own.get("protect", {}).items() if name != "stack"}
    return {**own, "protect": protected}


class TemplateTree:
    """What all templates of one tree share."""

    texts = ()
    types: Mapping[str, str] = {}
    load_context = SimpleNamespace(limits=Limits(), bundle=Bundle(""))

    def __init__(self, known: Mapping[str, Any], types: Mapping[str, type[Resource]]) -> None:
        self.files: Mapping[str, Any] = known.get("files", {})
        self._above = {"own": _below(known["own"])} if "own" in known else {}
        self._types = types
        self._classes = {
            name: type(Tree.__name__, (Tree,), {"source": name, "__module__": __name__})
            for name in self.files
        }

    def class_of(self, kind: str) -> type[Resource]:
        """The class of a type: of a file, or one that is installed."""
        return self._classes.get(kind) or self._types[kind]

    def build_child_environment(self, parameters: Mapping[str, Any]) -> Any:
        """What of the root's environment holds below."""
        return SimpleNamespace(own=self._above.get("own", {}), parameters=parameters)

    def build_child_registry(self, spec: ChildSpec) -> Any:
        """What of the root's registry holds below: the breakpoints of its files."""
        return Registry(of_child(spec.to_json(), self.files))

    def load(
        self,
        spec: ChildSpec,
        identity: Identity,
        previous: Mapping[str, Any] | None = None,
        check: bool = False,
        later: frozenset[str] = frozenset(),
    ) -> Any:
        """The definition of a nested stack."""
        known = of_child(spec.to_json(), self.files)
        return NestingDefinition(self, {**known, **self._above}, spec)


class NestingLoading(FakeLoading):
    """The same, with nested templates."""

    def define(self, known: Mapping[str, Any]) -> FakeDefinition:
        """The definition of a root."""
        return NestingDefinition(TemplateTree(known, self.types), known)


__all__ = ["GROUP", "GroupBase", "NestingLoading", "all_said", "is_owner", "of_child"]
