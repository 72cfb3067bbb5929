"""The steps of loading a bundle, in the order in which Heat checks.

Called by ``stack.load``. Every step appends its faults and goes on; only a text that cannot be
read, an unknown version or a wrong environment end it early (``complete`` stays false).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.hooks.context import Clock
from zonda.hooks.errors import Related, TemplateError, TemplateWarning, ValidationErrors
from zonda.hooks.records import dataclass
from zonda.hooks.runners.references import StackRef

from ..capabilities import requirements
from ..capabilities.selection import TemplateSelector
from ..dependencies import plugin_edges, references
from ..dependencies.references import ReadSet
from ..environment import environment as environments
from ..environment.environment import Environment
from ..evaluation.scope import FunctionTable, Parser, ResourceValues, Scope, Yaql
from ..parameters.parameters import ConstraintContext, Parameters
from ..simulation.resource import SimulatedTypes
from ..source import cloudformation, versions
from ..source.bundle import Bundle, Identity, Limits
from ..source.diagnostics import DUPLICATE_NAMES, PARAMETER_MISSING, RESOURCE_SHAPE, STACK_NAME
from ..source.document import Document, load_or_reuse_document
from ..syntax import outputs, sections
from ..syntax.conditions import SECTION as CONDITIONS
from ..syntax.conditions import Conditions
from ..syntax.outputs import OutputNode
from ..syntax.resource import NoClass, ResourceNode
from ..syntax.resource_parser import parse_resource
from ..types.declared_types import DeclaredTypes
from ..types.registry import Registry
from ..validation.report import add_trace
from ..validation.resource import NullValues

_STACK_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]{0,254}\Z")


@dataclass(frozen=True, slots=True)
class LoadContext:
    """The context of loading a template. ``functions`` gives the functions of a version.

    ``setup``: changes with what plug-ins are lent while they are checked. ``root_stack``: the
    name of the stack at the top; ``is_shared``: a server tells projects apart.
    """

    bundle: Bundle
    plugins: Plugins
    functions: Callable[[str], FunctionTable]
    limits: Limits
    yaql: Yaql | None
    clock: Clock
    setup: str = ""
    root_stack: str = ""
    is_shared: bool = False


class Loader:
    """Loads one template. ``run`` fills the fields; ``errors`` has the faults in Heat's order."""

    #: Whether what stands in the properties of resources is data, never functions.
    is_literal = False
    #: The stage of faults of the document itself.
    document_stage = "parse"
    #: Whether the template stands in a file that is used as a type.
    provides_type = False

    def __init__(self, around: LoadContext, identity: Identity) -> None:
        self.around = around
        bundle, plugins, limits = around.bundle, around.plugins, around.limits
        self.bundle = bundle
        #: The document whose links say what names of files mean.
        self.linked_by = bundle.template_file
        #: The values of ``resource_facade``; None in a root.
        self.facade: Mapping[str, Any] | None = None
        self.identity = identity
        self.limits = limits
        self.yaql = around.yaql
        self.errors: list[TemplateError] = []
        #: Warnings of types and constraints that are not installed, where these are ignored.
        self.ignored: list[TemplateWarning] = []
        #: Faults of ``add_dependencies``: they do not count for a template that is stored already.
        self.plugin_faults: list[TemplateError] = []
        self.complete = False
        self.all_given = True
        self.version = ""
        self.found_document: Document | None = None
        self.environment = Environment()
        self._on_environment: Callable[[Loader], None] | None = None
        self.parameters = Parameters(identity)
        self.registry = build_registry(bundle, plugins, limits)
        self.conditions = Conditions()
        self.resources: dict[str, ResourceNode] = {}
        self.outputs: dict[str, OutputNode] = {}
        self.reads = ReadSet()
        self.functions = around.functions
        self._constraints = ConstraintContext(
            plugins.constraints,
            limits,
            around.clock,
            StackRef(identity.stack_id, identity.stack_name, identity.project_id),
            around.root_stack,
            around.is_shared,
        )

    @property
    def document(self) -> Document:
        """The template's document; there once ``complete`` is true."""
        assert self.found_document is not None
        return self.found_document

    @property
    def _data(self) -> Mapping[str, Any]:
        data: Mapping[str, Any] = self.document.data
        return data

    def call_after_environment(self, tell: Callable[[Loader], None]) -> None:
        """Set a callback that runs once the environment is read, before any type is looked up."""
        self._on_environment = tell

    def run(self, previous: Mapping[str, Any] | None) -> None:
        """Run every step, in Heat's order of checks."""
        if not self._read_document():
            return
        schema_faults: list[TemplateError] = []
        self.parameters.declare(self.document, self.version, schema_faults)
        if not self._read_environment():
            self.errors.extend(schema_faults)
            return
        if self._on_environment is not None:
            self._on_environment(self)
        self._check_stack_name()
        self.errors.extend(self._find_section_faults())
        self.errors.extend(schema_faults)
        self.parameters.set_values(
            self.environment.parameters,
            self.environment.defaults,
            self._constraints,
            self.errors,
        )
        if not self.all_given:  # what reads such a parameter is left unchecked
            self.errors = [fault for fault in self.errors if fault.code != PARAMETER_MISSING]
        fault = self.parameters.find_immutable_change(previous) if previous is not None else None
        if fault is not None:
            self.errors.append(fault)
        groups = self._data.get("parameter_groups")
        self.errors.extend(sections.find_group_faults(groups, self.parameters.schemas))
        self._parse_trees()
        self.complete = True

    def _find_section_faults(self) -> Iterator[TemplateError]:
        key = self.document.cfn_key
        if key is not None:
            return cloudformation.find_section_faults(self.document.written, key)
        return sections.find_section_faults(self._data, self.version)

    def _read_document(self) -> bool:
        try:
            document = self.found_document = self._load_document()
            self.version = versions.resolve_version(document.data, document.text)
        except TemplateError as error:
            error.stage = self.document_stage
            self.errors.append(error)
            return False
        return True

    def _load_document(self) -> Document:
        file = self.bundle.template_file
        known, most = self.bundle.documents.get(file), self.limits.max_template_bytes
        return load_or_reuse_document(self.bundle.template, file, known, max_bytes=most)

    def _read_environment(self) -> bool:
        faults: list[TemplateError] = []
        self.environment = environments.load_environment(
            self.bundle,
            self.parameters.schemas,
            faults,
            max_bytes=self.limits.max_template_bytes,
        )
        self.registry.read(self.environment.registry, faults)
        self.registry.candidates.required = requirements.parse_requirements(
            self.environment.requires
        )
        for fault in faults:
            fault.stage = "environment"
        self.errors.extend(faults)
        return not faults

    def _check_stack_name(self) -> None:
        name = self.identity.stack_name
        if not _STACK_NAME.match(name):
            self.errors.append(
                TemplateError(
                    f'Invalid stack name {name} must contain only alphanumeric or "_-." '
                    "characters, must start with alpha and must be 255 characters or less.",
                    code=STACK_NAME,
                )
            )

    def _parse_trees(self) -> None:
        """Conditions, resources and outputs become trees; then what they read is connected."""
        scope = self._build_scope({}, None)
        table = self.functions(self.version)
        parser = Parser(self.version, table, scope, self.conditions, self.errors)
        if self.version in versions.CFN:
            parser.mappings = self._data.get(cloudformation.MAPPINGS)
        if CONDITIONS in self._data and versions.has_conditions(self.version):
            self.conditions.load(self._data[CONDITIONS], parser, scope)
        declared = self._parse_resources(parser)
        self._find_types()
        self._check_names(declared)
        data = self._data.get(outputs.SECTION)
        self.outputs = outputs.parse_outputs(data, parser, self.provides_type)
        for node in self.resources.values():
            references.resolve_references(node, self.resources, declared, self.reads, self.errors)
        references.record_outputs(self.outputs, self.reads, self.errors)
        circle = references.find_circle(self.resources, "Take one of these references away.")
        if circle is not None:
            self.errors.append(circle)
        empty = self._build_scope(self.resources, NullValues())
        self.plugin_faults = plugin_edges.add_plugin_edges(
            self.resources, empty, self.identity, self.around
        )

    def _build_scope(self, resources: Mapping[str, Any], values: ResourceValues | None) -> Scope:
        files = self.bundle.files_of(self.linked_by)
        shared = (self.yaql, self.limits, self.facade)
        return Scope(self.parameters.value, self.conditions, files, resources, values, *shared)

    def _parse_resources(self, parser: Parser) -> Mapping[str, Any]:
        """Fill in the enabled resources; gives the entries of all that could be read."""
        data = self._data.get(sections.RESOURCES)
        if not isinstance(data, Mapping):
            return {}
        entries = {
            name: entry
            for name, entry in data.items()
            if isinstance(name, str) and isinstance(entry, Mapping)
        }
        for name, entry in entries.items():
            node, enabled = parse_resource(name, entry, parser, literal=self.is_literal)
            if enabled:
                self.resources[name] = node
        return entries

    def _find_types(self) -> None:
        for name, node in self.resources.items():
            if "/" in name:
                self.errors.append(
                    TemplateError(
                        'Resource name may not contain "/"',
                        at=node.path,
                        code=RESOURCE_SHAPE,
                        heat_type="ValueError",
                    )
                )
            if not node.type:
                node.cls = NoClass
                continue
            try:
                node.cls = self.registry.resolve(node.type, name)
            except ValidationErrors as several:  # a template that the type is
                self.errors += (add_trace(fault, node, self.document) for fault in several.errors)
            except TemplateError as error:
                at = (*node.path, "type")
                if error.at:  # an environment is to blame
                    typed = Related(f"{name} has the type {node.type}", at=at)
                    error.related = (typed, *error.related)
                error.at = error.at or at
                self.errors.append(error)

    def _check_names(self, declared: Mapping[str, Any]) -> None:
        both = sorted(set(self.parameters.schemas) & set(declared))
        if both:
            names = ", ".join(repr(name) for name in both)
            self.errors.append(
                TemplateError(
                    f"Duplicate names {{{names}}}",
                    at=(sections.RESOURCES, both[0]),
                    code=DUPLICATE_NAMES,
                    hint="A parameter and a resource need different names.",
                )
            )


def build_registry(bundle: Bundle, plugins: Plugins, limits: Limits) -> Registry:
    """Build the registry of a bundle, without any entries of its environments."""
    most = limits.max_template_bytes
    texts = DeclaredTypes(plugins.type_readers, bundle, most)
    types = plugins.resource_types
    if bundle.types:
        types = types | dict(texts.load_stored())
    return Registry(
        SimulatedTypes(types, bundle.simulated) if bundle.simulated else types,
        plugins.explain_missing_type,
        TemplateSelector(bundle.files, bundle.map_written_names, max_bytes=most),
        partial(bundle.key_of, bundle.template_file),
        texts,
    )
