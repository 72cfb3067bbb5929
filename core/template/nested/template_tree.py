"""The state shared by a root template and its nested templates: files, environment, registry.

Made with the definition of a root and kept with it. A nested stack is loaded here from its
``ChildSpec``; a file is read once, however many nested stacks are made from it. May be used by
several threads: what is found twice is the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from functools import cached_property, partial
from itertools import islice
from threading import RLock
from typing import Any

from zonda.hooks.errors import TemplateError, ValidationErrors
from zonda.hooks.records import replace
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.sanitize import escape_control_chars

from ..definition.child_spec import ChildSpec
from ..definition.loader import LoadContext, Loader
from ..definition.stack_definition import ContextFor, StackDefinition
from ..environment.environment import Environment
from ..parameters.parameters import Parameters, ParameterSchema
from ..sensitivity.file_scan import HiddenInFiles, find_hidden_values
from ..sensitivity.labels import AttributeLabels, SensitivityAnalysis
from ..source import versions
from ..source.bundle import Bundle, Identity, to_display_name
from ..source.diagnostics import PARAMETER_MISSING, TYPE_TEMPLATE
from ..source.document import Document, load_or_reuse_document
from ..syntax.resource import ResourceNode
from ..types.registry import Choice, Registry
from ..types.template_types import TemplateResource, build_template_class
from ..validation.report import attach_locations, raise_errors
from . import validation_cache
from .child_loader import ChildLoader
from .sensitivity import NestedSensitivity
from .signatures import ChildSignatures, RegistryScope, hash_texts

#: Faults of a file that Heat tells when the resource is checked, not when its class is made.
_TOLD_LATER = ("ValueError", "NotFound")


class TemplateTree:
    """One tree of templates. ``context_for`` lends plug-ins what they need while they are checked;
    without it nothing can be checked. Without ``all_given`` parameters may lack a value.
    """

    def __init__(
        self,
        around: LoadContext,
        context_for: ContextFor | None = None,
        *,
        all_given: bool = True,
    ) -> None:
        self.load_context = around
        self.context_for = context_for
        self.all_given = all_given
        self._environment = Environment()
        self._registry = Registry({})
        self._root: dict[str, Document] = {}
        self._documents: dict[str, Document] = {}
        self._classes: dict[str, type[TemplateResource] | TemplateError] = {}
        self._registries: dict[RegistryScope, Registry] = {}
        self.signatures = ChildSignatures(self)
        #: Held by whoever follows types or secrets through the tree: half of an answer is wrong.
        self.lock = RLock()
        self._secrets = NestedSensitivity(self, self.lock)

    def adopt(self, loader: Loader) -> None:
        """Take over the documents of the root; every nested stack begins with them."""
        self._root = {loader.bundle.template_file: loader.document}
        self._environment = loader.environment
        self._registry = loader.registry

    def load(
        self,
        spec: ChildSpec,
        identity: Identity,
        previous: Mapping[str, Any] | None = None,
        check: bool = False,
        later: frozenset[str] = frozenset(),
    ) -> StackDefinition:
        """The definition of a nested stack; with ``check`` its own resources are checked, too.

        ``previous``: the values of its parameters before an update. ``later``: those that are only
        known once other resources are there; what reads them is left open. Raises ValidationErrors.
        """
        loader = ChildLoader(self, spec, identity, later)
        if previous is not None:
            previous = {name: value for name, value in previous.items() if name not in later}
        loader.run(previous)
        most = loader.limits.max_faults
        if not loader.complete:
            raise_errors(loader.errors, loader.found_document, loader.environment, most=most)
        definition = StackDefinition(loader, self, spec)
        faults = list(loader.errors)
        if check and self.context_for is not None:
            faults += loader.plugin_faults
            faults += islice(definition.faults(self.context_for), most)
        faults = [definition.masked(fault) for fault in faults]
        raise_errors(faults, definition.document, definition.environment, most=most)
        return definition

    def load_partially(
        self, spec: ChildSpec, identity: Identity, unknown: frozenset[str]
    ) -> tuple[StackDefinition | None, list[TemplateError]]:
        """Load a nested template as far as it is known; return also the faults of loading it.

        No definition where it cannot be read; its faults have their places then.
        """
        loader = ChildLoader(self, spec, identity, unknown)
        loader.all_given = self.all_given
        loader.run(None)
        if not loader.complete:
            document = loader.found_document
            attach_locations(loader.errors, document, loader.environment)
            return None, loader.errors
        definition = StackDefinition(loader, self, spec)
        faults = [*loader.errors, *loader.plugin_faults]
        return definition, [definition.masked(fault) for fault in faults]

    # -- what is read of files ------------------------------------------------------------------

    def document(self, file: str) -> Document:
        """The document of a file; raises TemplateError, with a place where it has one."""
        known = self._documents.get(file)
        if known is None:
            known = self._documents[file] = self._load_file(file)
        return known

    def _load_file(self, file: str) -> Document:
        text = self.load_context.bundle.files.get(file)
        if text is None:
            raise TemplateError(
                f'Could not fetch remote template "{escape_control_chars(to_display_name(file))}": '
                "Invalid URL scheme ",
                code=TYPE_TEMPLATE,
                heat_type="NotFound",
                hint="No file of that name came along with the template and the environments; one "
                "that only a value names comes along where it is a template.",
            )
        limits = self.load_context.limits
        known = self.load_context.bundle.documents.get(file)
        document = load_or_reuse_document(
            text, to_display_name(file), known, max_bytes=limits.max_template_bytes
        )
        return document

    def load_template_class(self, file: str) -> type[Resource]:
        """The class that a template file stands for; raises ValidationErrors, with places."""
        known = self._classes.get(file)
        if known is None:
            known = self._classes[file] = self._load_class(file)
        if isinstance(known, ValidationErrors):
            raise ValidationErrors([copy(each) for each in known.errors])
        assert not isinstance(known, TemplateError)
        return known

    def _load_class(self, file: str) -> type[TemplateResource] | TemplateError:
        fault = self._registry.texts.find_fault(file)
        if fault is not None:
            return fault
        try:
            document = self.document(file)
            version = versions.resolve_version(document.data, document.text)
        except TemplateError as error:
            known = self._documents.get(file)
            if error.place is None and known is not None:
                error.place = known.place(error.at, key=True)
            if error.heat_type in _TOLD_LATER:
                return build_template_class(file, {}, {}, {}, problem=error)
            return ValidationErrors([error])
        return self._build_class(file, document, version)

    def _build_class(
        self, file: str, document: Document, version: str
    ) -> type[TemplateResource] | TemplateError:
        faults: list[TemplateError] = []
        parameters = Parameters(Identity("", "", ""))
        parameters.declare(document, version, faults)
        if not faults:
            given = {name for name in parameters.schemas if self._may_have_default(name)}
            try:
                return self._reuse_class(file, document, parameters.schemas, given)
            except TemplateError as error:
                faults.append(error)
        for fault in faults:
            fault.place = fault.place or document.place(fault.at, key=True)
        # a file that uses itself is asked for again while its other faults are looked for
        self._classes[file] = ValidationErrors(faults)
        return ValidationErrors([*faults, *self._find_other_faults(file, document, parameters)])

    def _find_other_faults(
        self, file: str, document: Document, parameters: Parameters
    ) -> list[TemplateError]:
        """Find other faults in a file with wrong parameters, as far as it does not read these."""
        if self._registry.has_levels:  # what its types are depends on who uses it
            return []
        spec = ChildSpec(file, None, file)
        definition, faults = self.load_partially(
            spec, Identity("", "", ""), frozenset(parameters.schemas)
        )
        if definition is not None and self.context_for is not None:
            faults += map(definition.masked, definition.faults(self.context_for))
        attach_locations(faults, document, self._environment)
        return [fault for fault in faults if fault.code != PARAMETER_MISSING]

    def _may_have_default(self, name: str) -> bool:
        """Whether an environment has a default for a parameter; one that is not there may."""
        return not self.all_given or self._environment.defaults.get(name) is not None

    def _reuse_class(
        self, file: str, document: Document, schemas: Mapping[str, ParameterSchema], given: set[str]
    ) -> type[TemplateResource]:
        """The class of a file, one for all trees that have the same document of it."""
        key = ("class", file, frozenset(given))
        known: type[TemplateResource] | None = document.made.get(key)
        if known is None:
            known = build_template_class(file, schemas, document.data.get("outputs"), given)
            document.made[key] = known
        return known

    def intern_texts(self, bundle: Bundle) -> Bundle:
        """Return ``bundle`` with the texts and documents that this tree holds already.

        Without it every update of a large tree would hold the whole of it once more.
        """
        mine = self.load_context.bundle
        files = {
            file: _reuse_text(mine.files.get(file), text) for file, text in bundle.files.items()
        }
        documents = {**self._documents, **self._root, **bundle.documents}
        template = _reuse_text(mine.template, bundle.template)
        return replace(bundle, template=template, files=files, documents=documents)

    @property
    def types(self) -> Mapping[str, Mapping[str, str]]:
        """The texts of types to be stored with the bundle."""
        return self.load_context.bundle.types

    @property
    def texts(self) -> Collection[str]:
        """All texts that the tree holds."""
        bundle = self.load_context.bundle
        return [bundle.template, *bundle.files.values()]

    @cached_property
    def hidden_in_files(self) -> HiddenInFiles:
        """The hidden values in the files of the tree."""
        return find_hidden_values(self.load_context.bundle, self._registry.resolve)

    # -- what reaches down ----------------------------------------------------------------------

    def build_child_environment(self, parameters: Mapping[str, Any]) -> Environment:
        """The environment of a nested stack with these parameters."""
        return self._environment.derive_nested(parameters)

    @property
    def environment(self) -> Environment:
        """The environment of the root."""
        return self._environment

    def build_child_registry(self, spec: ChildSpec) -> Registry:
        """The registry of a nested stack."""
        return self.build_registry(self.level(spec))

    def build_registry(self, level: RegistryScope) -> Registry:
        """The registry at a place of the tree."""
        known = self._registries.get(level)
        if known is None:
            key_of = partial(self.load_context.bundle.key_of, level.document)
            known = self._registry.derive_nested(level.names, level.without, key_of)
            self._registries[level] = known
        return known

    def level(self, spec: ChildSpec | None) -> RegistryScope:
        """The place of a nested stack in the tree; None is the root."""
        if spec is None:
            return RegistryScope((), frozenset(), self.load_context.bundle.template_file)
        names = spec.names if self._registry.has_levels else ()
        return RegistryScope(names, frozenset(spec.without), spec.document)

    def enter_nested(
        self, level: RegistryScope, resource: str, choice: Choice | None
    ) -> RegistryScope:
        """The place of a resource's nested stack: made from the file of ``choice``, if any."""
        names = (*level.names, resource) if self._registry.has_levels else ()
        if choice is None or choice.template_file is None:
            return RegistryScope(names, level.without, level.document)
        rule = choice.rules[-1] if choice.rules else None
        gone = {rule.name} if rule is not None and rule.resource is None else set()
        return RegistryScope(names, level.without | gone, choice.template_file)

    def build_cache_key(self, spec: ChildSpec, unknown: frozenset[str]) -> str | None:
        """Build a key of all that the check of a nested stack depends on; None: it cannot be told.

        ``unknown``: the parameters whose values are not known.
        """
        if self.is_name_dependent(spec):  # also by names that are generated: they lead to any file
            return None
        with self.lock:
            signed = self.signatures.sign_spec(self.level(spec), spec)
        return hash_texts([validation_cache.build_spec_key(spec, unknown), signed, self._tree_key])

    def is_name_dependent(self, spec: ChildSpec) -> bool:
        """Whether the meaning of types in a nested stack depends on the names of resources."""
        return self.build_child_registry(spec).has_levels

    @cached_property
    def _tree_key(self) -> str:
        return validation_cache.build_context_key(self.load_context, self._environment)

    def build_signature(
        self, definition: StackDefinition, name: str, types: Collection[str], properties: Any
    ) -> str:
        """Build a text that changes with the nested stack of the resource ``name``.

        ``properties``: their values; what is not known is a Function. ``types``: the types that a
        plug-in says its nested stack uses.
        """
        level, node = self.level(definition.spec), definition.resources[name]
        with self.lock:
            return self.signatures.hash_values(level, name, node.type, types, properties)

    def build_nested_labels(
        self,
        definition: StackDefinition,
        node: ResourceNode,
        marks: SensitivityAnalysis,
        properties: Any,
    ) -> AttributeLabels:
        """Build the sensitivity labels of the nested stack of a resource."""
        with self.lock:
            return self._secrets.build_labels(self.level(definition.spec), node, marks, properties)


def _reuse_text(known: str | None, text: str) -> str:
    return text if known is None or known != text else known
