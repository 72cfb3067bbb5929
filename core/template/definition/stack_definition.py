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

from zonda.core.graph.digraph import CycleError, sort_topologically
from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import TemplateError, TemplateWarning
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import ChildTemplate
from zonda.hooks.schema.values import SAME_THING, WITHOUT_EFFECT

from ..dependencies.references import ReadSet
from ..environment.environment import Environment
from ..evaluation.scope import ResourceValues, Scope, Yaql
from ..evaluation.unknown_values import resolve_static
from ..lint import linter
from ..parameters.parameters import Parameters, ParameterSchema
from ..sensitivity import labels as secrecy
from ..sensitivity.file_scan import HiddenInFiles
from ..sensitivity.labels import AttributeLabels as MarksBelow
from ..sensitivity.labels import SensitivityAnalysis, find_name_faults
from ..source.bundle import Identity, Limits
from ..source.document import Document
from ..syntax.conditions import Conditions
from ..syntax.outputs import OutputNode
from ..syntax.redactor import Redactor
from ..syntax.resource import ResourceNode
from ..types.registry import Registry
from ..types.template_types import TemplateResource
from ..validation import resource
from ..validation.claims import Claims
from ..validation.report import raise_errors
from ..validation.resource import NullValues
from .child_spec import FACADE, LITERALS, ChildSpec
from .fingerprint import build_fingerprint, format_canonical
from .loader import Loader

ContextFor = Callable[[ResourceNode], ResourceContext]
#: Gives the faults below a resource that owns a nested stack.
AttributeLabels = Callable[["StackDefinition", ResourceNode], Iterator[TemplateError]]


class TreeContext(Protocol):
    """The state that the templates of one tree share: ``TemplateTree``."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The lock to hold while types or secrets are followed through the tree."""

    @property
    def hidden_in_files(self) -> HiddenInFiles:
        """The hidden values in the files of the tree."""

    def load(
        self,
        spec: ChildSpec,
        identity: Identity,
        previous: Mapping[str, Any] | None = None,
        check: bool = False,
        later: frozenset[str] = frozenset(),
    ) -> StackDefinition:
        """The definition of a nested stack of the tree."""

    def build_signature(
        self, definition: StackDefinition, name: str, types: Collection[str], properties: Any
    ) -> str:
        """Build a text that changes with the nested stack of a resource with these properties."""

    def build_nested_labels(
        self,
        definition: StackDefinition,
        node: ResourceNode,
        marks: SensitivityAnalysis,
        properties: Any,
    ) -> MarksBelow:
        """The sensitivity labels of a resource's nested stack."""


class StackDefinition:
    """One template with its environment and parameters. Made by ``load`` and ``TemplateTree`` only.

    ``family``: what all templates of the tree share. ``spec``: what a nested stack is made from;
    None for a root.
    """

    def __init__(self, loader: Loader, family: TreeContext, spec: ChildSpec | None = None) -> None:
        self.family: TreeContext = family
        self.spec: ChildSpec | None = spec
        self.identity: Identity = loader.identity
        #: The name of the stack at the top of the tree.
        self.root_stack: str = loader.around.root_stack
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
        self._reads: ReadSet = loader.reads
        self._linked_by: str = loader.linked_by
        self._files = loader.bundle.files_of(loader.linked_by)
        self._yaql: Yaql | None = loader.yaql
        self._limits: Limits = loader.limits
        self._loader = loader
        self._static_scope = self.scope(None)
        self._reported = resource.list_reported_properties(loader.errors)
        self._fingerprints: dict[str, str] = {}
        for node in self.resources.values():
            node.owner = self
        for output in self.outputs.values():
            output.mark = self._classify_output
            output.masked = lambda fault: self.masked(fault)  # made when a fault is shown

    def _classify_output(self, tree: Any) -> str:
        written = secrecy.OPEN
        if self.spec is not None and self.spec.text is not None:
            written = self._classify_literal(None)  # the whole text was a value
        return secrecy.find_strictest((self.secrecy.of(tree), written))

    @property
    def description(self) -> Any:
        """The template's description, as written."""
        return self.document.data.get("description", "")

    @cached_property
    def warnings(self) -> list[TemplateWarning]:
        """The warnings of the template; computed on the first access."""
        return [*self._loader.ignored, *linter.list_warnings(self._loader)]

    @property
    def warnings_of_types(self) -> list[TemplateWarning]:
        """The warnings of types about what they will do, as far as they were asked."""
        told = (WITHOUT_EFFECT, SAME_THING)
        return [each for each in self._loader.ignored if each.code in told]

    @property
    def schemas(self) -> Mapping[str, ParameterSchema]:
        """The declared parameters."""
        return self.parameters.schemas

    def conditions(self) -> dict[str, bool | TemplateError]:
        """The truth of every named condition, or the fault why it has none."""
        return self._conditions.values(self._static_scope)

    def scope(self, values: ResourceValues | None) -> Scope:
        """The scope in which trees are resolved; without ``values`` every reference is a fault."""
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
        return sort_topologically({name: node.requires for name, node in self.resources.items()})

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
            text = build_fingerprint(node, self.document.data, self.scope(None))
            return text + self._format_labels(name)
        known = self._fingerprints.get(name)  # asked for by the check and by the plan
        if known is None:
            known = build_fingerprint(node, self.document.data, self.scope(None))
            known = self._fingerprints[name] = known + self.build_signature(name, ())
        return known

    @cached_property
    def secrecy(self) -> SensitivityAnalysis:
        """The sensitivity analysis: which values are open, sealed or hidden."""
        marks = {} if self.spec is None else self.spec.marks
        return SensitivityAnalysis(
            self.resources,
            self.classify_parameter,
            below=self._build_nested_labels,
            literal=self._classify_literal,
            facade=marks.get(FACADE, secrecy.OPEN),
            lock=self.family.lock,
        )

    def _build_nested_labels(self, node: ResourceNode, marks: SensitivityAnalysis) -> MarksBelow:
        values = resolve_static(node.properties, self.scope(NullValues()))
        return self.family.build_nested_labels(self, node, marks, values)

    def _classify_literal(self, key: str | None) -> str:
        marks = {} if self.spec is None else self.spec.marks
        return marks.get(f"{LITERALS}.{key}", marks.get(LITERALS, secrecy.OPEN))

    @cached_property
    def masked(self) -> Redactor:
        """Redacts hidden values in a fault (in place), or in a text."""
        hidden = (self.parameters.get_raw(name) for name in self.parameters.hidden)
        return Redactor(hidden, self._classify_known_properties)

    def _classify_known_properties(self, name: str) -> Mapping[str, str]:
        return self.classify_properties(name) if name in self.resources else {}

    def classify_properties(self, name: str) -> Mapping[str, str]:
        """The label of each property that the template gives to a resource."""
        return self.secrecy.classify_properties(name)

    def classify_parameter(self, name: str) -> str:
        """The label of a parameter: open, sealed or hidden."""
        schema = self.parameters.schemas.get(name)
        if schema is not None and schema.hidden:
            return secrecy.HIDDEN
        given = secrecy.OPEN if self.spec is None else self.spec.marks.get(name, secrecy.OPEN)
        own = secrecy.SEALED if name in self.environment.encrypted else secrecy.OPEN
        return secrecy.find_strictest((given, own))

    @property
    def depth(self) -> int:
        """0 for a root, 1 for its nested stacks."""
        return 0 if self.spec is None else self.spec.depth

    def build_child_spec(
        self, name: str, child: ChildTemplate, resolved: ResourceDefinition
    ) -> ChildSpec:
        """Build the spec of the nested stack of resource ``name``, when it shall be ``child``.

        ``resolved``: the definition of the resource that asked for it.
        """
        node = self.resources[name]
        key = None if child.file is None else self._find_key(child.file)
        spec = self.spec
        return ChildSpec(
            file=key,
            template=child.template,
            text=child.text,
            document=self._find_linking_file(child) if key is None else key,
            parameters=child.parameters,
            marks=self._build_child_labels(name, child),
            names=(*(() if spec is None else spec.names), name),
            without=(*(() if spec is None else spec.without), *self._find_dropped_rules(node)),
            facade={
                "metadata": resolved.metadata,
                "deletion_policy": resolved.deletion_policy,
                "update_policy": resolved.update_policy,
            },
        )

    def _find_linking_file(self, child: ChildTemplate) -> str:
        """The document whose links resolve file names in a generated template, or in a text."""
        found = None
        if child.text is not None:
            found = self._loader.bundle.file_of(self._linked_by, child.text)
        return found or self._linked_by

    def _find_key(self, file: str) -> str:
        """The key of a file's name, which a template class knows and a document may write."""
        bundle = self._loader.bundle
        return file if file in bundle.files else bundle.key_of(self._linked_by, file)

    def _find_dropped_rules(self, node: ResourceNode) -> tuple[str, ...]:
        """The registry entry that led to a template: it does not count inside that template."""
        choice = self.registry.choose(node.type, node.name)
        if choice.template_file is None or not choice.rules or choice.rules[-1].resource:
            return ()
        return (choice.rules[-1].name,)

    def _build_child_labels(self, name: str, child: ChildTemplate) -> dict[str, str]:
        """The labels of the values that go into a nested stack.

        By parameter for a template that is a type, since its parameters are the properties; else
        by the keys that values stand under, and all alike where these do not tell.
        """
        properties = secrecy.drop_open(self.classify_properties(name))
        worst = secrecy.find_strictest(properties.values())
        marks = dict(properties)
        if not issubclass(self.resources[name].cls, TemplateResource):
            keys = self.secrecy.classify_keys(name)
            marks = secrecy.drop_open({key: keys.get(key, worst) for key in child.parameters})
            if child.text is not None:
                marks |= secrecy.drop_open({LITERALS: self.secrecy.find_text_label(name)})
            elif child.file is None and worst != secrecy.OPEN:
                lower = {key: mark for key, mark in keys.items() if mark != worst}
                marks |= {f"{LITERALS}.{key}": mark for key, mark in lower.items()}
                marks[LITERALS] = worst
        return {**marks, **secrecy.drop_open({FACADE: self.secrecy.classify_facade(name)})}

    def build_signature(
        self,
        name: str,
        types: Collection[str],
        properties: Mapping[str, Any] | None = None,
        marked_by: StackDefinition | None = None,
    ) -> str:
        """Build a text that changes with the nested stack of ``name`` with these properties.

        ``types``: the types that it is said to use. Without ``properties``: as far as the template
        tells them. ``marked_by``: another definition whose marks of secrets count. Holds hashes of
        secrets that are not keyed: only a keyed hash of it is kept.
        """
        given: Any = properties
        if given is None:
            given = resolve_static(self.resources[name].properties, self.scope(NullValues()))
        marks = (marked_by or self)._format_labels(name)
        return self.family.build_signature(self, name, types, given) + marks

    def _format_labels(self, name: str) -> str:
        """The labels of a resource as text: they decide what is sealed and hidden of it."""
        marks = secrecy.drop_open(self.classify_properties(name))
        found: dict[str, Any] = {"marks": marks} if marks else {}
        facade = self.secrecy.classify_facade(name)
        if facade != secrecy.OPEN:
            found["facade"] = facade
        if self.resources[name].cls.is_nested_stack:
            if marks:
                found["keys"] = self.secrecy.classify_keys(name)
            if self.environment.encrypted:
                found["encrypted"] = sorted(self.environment.encrypted)
        return format_canonical(found) if found else ""

    def check_names(
        self, name: str, properties: Mapping[str, Any], secrets: Callable[[], Iterable[Any]]
    ) -> None:
        """Raise TemplateError where a secret would become the name of a resource.

        ``properties``: the values of those of ``name``; ``secrets``: values that are secret there.
        """
        node = self.resources[name]
        for fault in find_name_faults(node, self.secrecy, properties.get, secrets):
            raise fault

    def _find_name_faults(self, node: ResourceNode) -> Iterator[TemplateError]:
        def value_of(key: str) -> Any:
            given = resolve_static(node.properties, self.scope(NullValues()))
            return given.get(key) if isinstance(given, Mapping) else None

        def secrets() -> Iterator[Any]:
            return map(self.parameters.get_raw, self.parameters.hidden)

        return find_name_faults(node, self.secrecy, value_of, secrets)

    def validate(self, context_for: ContextFor) -> None:
        """Check every resource and output with attributes null; raises ValidationErrors."""
        most = self._limits.max_faults
        faults = [self.masked(fault) for fault in islice(self.faults(context_for), most)]
        raise_errors(faults, self.document, self.environment, most=most)

    def faults(
        self, context_for: ContextFor, below: AttributeLabels | None = None
    ) -> Iterator[TemplateError]:
        """Yield the faults of ``validate`` in Heat's order; with ``below`` the nested ones, too."""
        try:
            names = self.order()
        except CycleError:
            names = list(self.resources)
        static = self.scope(resource.CheckedValues(self.resources))
        empty = self.scope(resource.NullValues())
        claims = Claims()
        for name in names:
            node = self.resources[name]
            reported = self._reported.get(name, frozenset())
            is_well = not reported
            for fault in resource.find_resource_faults(
                node, static, empty, context_for(node), reported, claims
            ):
                is_well = False
                yield fault
            for fault in self._find_name_faults(node):
                is_well = False
                yield fault
            if below is not None and (is_well or getattr(node.cls, "problem", None)):
                yield from below(self, node)
        for output in self.outputs.values():
            yield from output.find_static_faults(static)
