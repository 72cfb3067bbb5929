"""The definition of a stack: everything its template says, checked, bound to no values.

Made by ``stack.load`` for a root and by ``TemplateTree.load`` for a nested stack. The planner and
every operation work with it: they resolve the same trees with different values of resources.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

from zonda.core.graph.digraph import Ring, order
from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import TemplateError, TemplateWarning
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import ChildTemplate

from ..dependencies.references import Reads
from ..environment.environment import Environment
from ..evaluation.scope import ResourceValues, Scope, Yaql
from ..evaluation.unknown_values import resolve_static
from ..lint import linter
from ..parameters.parameters import Parameters, ParameterSchema
from ..sensitivity import labels as secrecy
from ..sensitivity.file_scan import HiddenInFiles
from ..sensitivity.labels import AttributeLabels as MarksBelow
from ..sensitivity.labels import SensitivityAnalysis
from ..sensitivity.name_checks import faults_of_names
from ..source.bundle import Identity, Limits
from ..source.document import Document
from ..syntax.conditions import Conditions
from ..syntax.outputs import OutputNode
from ..syntax.redactor import Redactor
from ..syntax.resource import ResourceNode
from ..types.registry import Registry
from ..types.template_types import TemplateResource
from ..validation import resource
from ..validation.report import raise_all
from ..validation.resource import NullValues
from .child_spec import FACADE, LITERALS, ChildSpec
from .fingerprint import canonical, fingerprint
from .loader import Loader

ContextFor = Callable[[ResourceNode], ResourceContext]
#: Gives the faults below a resource that owns a nested stack.
AttributeLabels = Callable[["StackDefinition", ResourceNode], Iterator[TemplateError]]


class Kin(Protocol):
    """What the templates of one tree share: ``TemplateTree``."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held by whoever follows types or secrets through the tree."""

    @property
    def hidden_in_files(self) -> HiddenInFiles:
        """What the files hide, for whoever shows them."""

    def load(
        self,
        spec: ChildSpec,
        identity: Identity,
        previous: Mapping[str, Any] | None = None,
        check: bool = False,
        later: frozenset[str] = frozenset(),
    ) -> StackDefinition:
        """The definition of a nested stack of the tree."""

    def signature_of(
        self, definition: StackDefinition, name: str, types: Collection[str], properties: Any
    ) -> str:
        """What decides the nested stack of a resource with these properties."""

    def secrecy_below(
        self,
        definition: StackDefinition,
        node: ResourceNode,
        marks: SensitivityAnalysis,
        properties: Any,
    ) -> MarksBelow:
        """The marks of a resource's nested stack."""


class StackDefinition:
    """One template with its environment and parameters. Made by ``load`` and ``TemplateTree`` only.

    ``family``: what all templates of the tree share. ``spec``: what a nested stack is made from;
    None for a root.
    """

    def __init__(self, loader: Loader, family: Kin, spec: ChildSpec | None = None) -> None:
        self.family: Kin = family
        self.spec: ChildSpec | None = spec
        self.identity: Identity = loader.identity
        #: The marks of the nested stacks that were checked with it (``check_marks``).
        self.checked: tuple[str, ...] = ()
        self.version: str = loader.version
        self.document: Document = loader.document
        self.environment: Environment = loader.environment
        self.parameters: Parameters = loader.parameters
        self.registry: Registry = loader.registry
        #: The enabled resources, in template order.
        self.resources: dict[str, ResourceNode] = loader.resources
        self.outputs: dict[str, OutputNode] = loader.outputs
        self._conditions: Conditions = loader.conditions
        self._reads: Reads = loader.reads
        self._linked_by: str = loader.linked_by
        self._files = loader.bundle.files_of(loader.linked_by)
        self._yaql: Yaql | None = loader.yaql
        self._limits: Limits = loader.limits
        self._loader = loader
        self._static_scope = self.scope(None)
        self._reported = resource.reported_properties(loader.errors)
        self._fingerprints: dict[str, str] = {}
        for node in self.resources.values():
            node.owner = self
        for output in self.outputs.values():
            output.mark = self._mark_of
            output.masked = self._mask

    def _mark_of(self, tree: Any) -> str:
        written = secrecy.OPEN
        if self.spec is not None and self.spec.text is not None:
            written = self._literal_secrecy(None)  # the whole text was a value
        return secrecy.highest((self.secrecy.of(tree), written))

    def _mask(self, fault: TemplateError) -> TemplateError:
        return self.masked(fault)

    @property
    def description(self) -> Any:
        """The template's description, as written."""
        return self.document.data.get("description", "")

    @cached_property
    def warnings(self) -> list[TemplateWarning]:
        """What is odd but no fault; found when it is asked for."""
        return [*self._loader.ignored, *linter.of(self._loader)]

    @property
    def schemas(self) -> Mapping[str, ParameterSchema]:
        """The declared parameters."""
        return self.parameters.schemas

    def conditions(self) -> dict[str, bool | TemplateError]:
        """The truth of every named condition, or why it has none."""
        return self._conditions.values(self._static_scope)

    def scope(self, values: ResourceValues | None) -> Scope:
        """Where trees find their values; without ``values`` every reference is a fault."""
        return Scope(
            self.parameters.value,
            self._conditions,
            self._files,
            self.resources,
            values,
            self._yaql,
            self._limits,
            self._loader.facade,
        )

    def order(self) -> list[str]:
        """The resources, each after all that it requires, else in template order."""
        return order({name: node.requires for name, node in self.resources.items()})

    def referenced_attributes(self, name: str) -> frozenset[str | None]:
        """The attributes that other resources and outputs read of ``name``; None: all of them."""
        return self._reads.attributes(name)

    def referenced_paths(self, name: str) -> frozenset[tuple[Any, ...]]:
        """The same with the keys and indices behind the attributes, as far as written out."""
        return self._reads.paths(name)

    def fingerprint(self, name: str) -> str:
        """A text that changes when the definition of ``name`` does. Holds secrets: hash it."""
        node = self.resources[name]
        if not node.cls.is_nested_stack:
            text = fingerprint(node, self.document.data, self.scope(None))
            return text + self._marked(name)
        known = self._fingerprints.get(name)  # asked for by the check and by the plan
        if known is None:
            known = fingerprint(node, self.document.data, self.scope(None))
            known = self._fingerprints[name] = known + self.signature_of(name, ())
        return known

    @cached_property
    def secrecy(self) -> SensitivityAnalysis:
        """The static marks of secrets."""
        marks = {} if self.spec is None else self.spec.marks
        return SensitivityAnalysis(
            self.resources,
            self.secrecy_of_parameter,
            below=self._secrecy_below,
            literal=self._literal_secrecy,
            facade=marks.get(FACADE, secrecy.OPEN),
            lock=self.family.lock,
        )

    def _secrecy_below(self, node: ResourceNode, marks: SensitivityAnalysis) -> MarksBelow:
        values = resolve_static(node.properties, self.scope(NullValues()))
        return self.family.secrecy_below(self, node, marks, values)

    def _literal_secrecy(self, key: str | None) -> str:
        marks = {} if self.spec is None else self.spec.marks
        return marks.get(f"{LITERALS}.{key}", marks.get(LITERALS, secrecy.OPEN))

    @cached_property
    def masked(self) -> Redactor:
        """Takes hidden values out of a fault (in place), or out of a text."""
        hidden = (self.parameters.known(name) for name in self.parameters.hidden)
        return Redactor(hidden, self._marks)

    def _marks(self, name: str) -> Mapping[str, str]:
        return self.secrecy_of(name) if name in self.resources else {}

    def secrecy_of(self, name: str) -> Mapping[str, str]:
        """The mark of each property that the template gives to a resource."""
        return self.secrecy.of_properties(name)

    def secrecy_of_parameter(self, name: str) -> str:
        """The mark of a parameter."""
        schema = self.parameters.schemas.get(name)
        if schema is not None and schema.hidden:
            return secrecy.HIDDEN
        given = secrecy.OPEN if self.spec is None else self.spec.marks.get(name, secrecy.OPEN)
        own = secrecy.SEALED if name in self.environment.encrypted else secrecy.OPEN
        return secrecy.highest((given, own))

    @property
    def depth(self) -> int:
        """0 for a root, 1 for its nested stacks."""
        return 0 if self.spec is None else self.spec.depth

    def child_spec(
        self, name: str, child: ChildTemplate, resolved: ResourceDefinition
    ) -> ChildSpec:
        """What the nested stack of resource ``name`` is made from, when it shall be ``child``.

        ``resolved``: the definition of the resource that asked for it.
        """
        node = self.resources[name]
        key = None if child.file is None else self._key_of(child.file)
        spec = self.spec
        return ChildSpec(
            file=key,
            template=child.template,
            text=child.text,
            document=self._file_of(child) if key is None else key,
            parameters=child.parameters,
            marks=self._child_marks(name, child),
            names=(*(() if spec is None else spec.names), name),
            without=(*(() if spec is None else spec.without), *self._left_behind(node)),
            facade={
                "metadata": resolved.metadata,
                "deletion_policy": resolved.deletion_policy,
                "update_policy": resolved.update_policy,
            },
        )

    def _file_of(self, child: ChildTemplate) -> str:
        """The document whose links say what a generated template, or a text, means by names."""
        found = None
        if child.text is not None:
            found = self._loader.bundle.file_of(self._linked_by, child.text)
        return found or self._linked_by

    def _key_of(self, file: str) -> str:
        """The key of a file's name, which a template class knows and a document may write."""
        bundle = self._loader.bundle
        return file if file in bundle.files else bundle.key_of(self._linked_by, file)

    def _left_behind(self, node: ResourceNode) -> tuple[str, ...]:
        """The entry of the registry that led to a template, since it does not count inside it."""
        choice = self.registry.choose(node.type, node.name)
        if choice.template_file is None or not choice.rules or choice.rules[-1].resource:
            return ()
        return (choice.rules[-1].name,)

    def _child_marks(self, name: str, child: ChildTemplate) -> dict[str, str]:
        """The marks of what goes over the border.

        By parameter for a template that is a type, since its parameters are the properties; else
        by the keys that values stand under, and all alike where these do not tell.
        """
        properties = secrecy.marked(self.secrecy_of(name))
        worst = secrecy.highest(properties.values())
        marks = dict(properties)
        if not issubclass(self.resources[name].cls, TemplateResource):
            keys = self.secrecy.of_keys(name)
            marks = secrecy.marked({key: keys.get(key, worst) for key in child.parameters})
            if child.text is not None:
                marks |= secrecy.marked({LITERALS: self.secrecy.of_text(name)})
            elif child.file is None and worst != secrecy.OPEN:
                lower = {key: mark for key, mark in keys.items() if mark != worst}
                marks |= {f"{LITERALS}.{key}": mark for key, mark in lower.items()}
                marks[LITERALS] = worst
        return {**marks, **secrecy.marked({FACADE: self.secrecy.of_facade(name)})}

    def signature_of(
        self,
        name: str,
        types: Collection[str],
        properties: Mapping[str, Any] | None = None,
        marked_by: StackDefinition | None = None,
    ) -> str:
        """Changes when the nested stack of ``name`` would be another one with these properties.

        ``types``: the types that it is said to use. Without ``properties``: as far as the template
        tells them. ``marked_by``: another definition whose marks of secrets count. Holds hashes of
        secrets that are not keyed: only a keyed hash of it is kept.
        """
        given: Any = properties
        if given is None:
            given = resolve_static(self.resources[name].properties, self.scope(NullValues()))
        marks = (marked_by or self)._marked(name)
        return self.family.signature_of(self, name, types, given) + marks

    def _marked(self, name: str) -> str:
        """What is secret of a resource: whatever is kept of it is sealed and hidden by that."""
        marks = secrecy.marked(self.secrecy_of(name))
        found: dict[str, Any] = {"marks": marks} if marks else {}
        facade = self.secrecy.of_facade(name)
        if facade != secrecy.OPEN:
            found["facade"] = facade
        if self.resources[name].cls.is_nested_stack:
            if marks:
                found["keys"] = self.secrecy.of_keys(name)
            if self.environment.encrypted:
                found["encrypted"] = sorted(self.environment.encrypted)
        return canonical(found) if found else ""

    def check_names(
        self, name: str, properties: Mapping[str, Any], secrets: Callable[[], Iterable[Any]]
    ) -> None:
        """Refuse what would make names of secrets; raises TemplateError.

        ``properties``: the values of those of ``name``; ``secrets``: values that are secret there.
        """
        node = self.resources[name]
        for fault in faults_of_names(node, self.secrecy, properties.get, secrets):
            raise fault

    def _faults_of_names(self, node: ResourceNode) -> Iterator[TemplateError]:
        def value_of(key: str) -> Any:
            given = resolve_static(node.properties, self.scope(NullValues()))
            return given.get(key) if isinstance(given, Mapping) else None

        def secrets() -> Iterator[Any]:
            return map(self.parameters.known, self.parameters.hidden)

        return faults_of_names(node, self.secrecy, value_of, secrets)

    def validate(self, context_for: ContextFor) -> None:
        """Check every resource and output with attributes null; raises ValidationErrors."""
        most = self._limits.max_faults
        faults = [self.masked(fault) for fault in islice(self.faults(context_for), most)]
        raise_all(faults, self.document, self.environment, most=most)

    def faults(
        self, context_for: ContextFor, below: AttributeLabels | None = None
    ) -> Iterator[TemplateError]:
        """What ``validate`` raises, in Heat's order; with ``below`` what is wrong inside, too."""
        try:
            names = self.order()
        except Ring:
            names = list(self.resources)
        static = self.scope(resource.CheckedValues(self.resources))
        empty = self.scope(resource.NullValues())
        for name in names:
            node = self.resources[name]
            reported = self._reported.get(name, frozenset())
            is_well = not reported
            for fault in resource.resource_faults(node, static, empty, context_for(node), reported):
                is_well = False
                yield fault
            for fault in self._faults_of_names(node):
                is_well = False
                yield fault
            if below is not None and (is_well or getattr(node.cls, "problem", None)):
                yield from below(self, node)
        for output in self.outputs.values():
            yield from output.static_faults(static)
