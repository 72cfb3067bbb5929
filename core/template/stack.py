"""The definition of a stack: everything its template says, checked, bound to no values.

``load`` reads a bundle and is the room's one entrance. The planner and every operation work with
the ``StackDefinition`` it gives: they resolve the same trees with different values of resources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from zonda.core.graph.digraph import Ring, order
from zonda.hooks.context import Clock, ResourceContext
from zonda.hooks.errors import (
    TemplateError,
    TemplateWarning,
    UnknownReference,
    ValidationErrors,
)
from zonda.hooks.manager import Plugins

from . import advice, checks, placing, secrecy
from .bundle import Bundle, Identity, Limits
from .conditions import Conditions
from .environment import Environment
from .faults import UNKNOWN, Poisoned
from .fingerprint import fingerprint
from .loading import Loader
from .masking import Masker
from .outputs import OutputNode
from .parameters import Parameters, ParameterSchema
from .references import Reads
from .registry import Registry
from .resources import ResourceNode
from .scope import FunctionTable, ResourceValues, Scope, Yaql
from .source import Document

__all__ = [
    "Bundle",
    "FunctionTable",
    "Identity",
    "Limits",
    "OutputNode",
    "ResourceNode",
    "ResourceValues",
    "StackDefinition",
    "load",
]

ContextFor = Callable[[ResourceNode], ResourceContext]


class StackDefinition:
    """One template with its environment and parameters. Made by ``load`` only."""

    def __init__(self, loader: Loader) -> None:
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
        self._files = loader.bundle.files_of(loader.bundle.template_file)
        self._yaql: Yaql | None = loader.yaql
        self._limits: Limits = loader.limits
        self._loader = loader
        self._static_scope = self.scope(None)
        self._reported = checks.reported_properties(loader.errors)
        for node in self.resources.values():
            node.owner = self
        for output in self.outputs.values():
            output.secrecy = self.secrecy.of(output.value)
            output.masked = self.masked

    @property
    def description(self) -> Any:
        """The template's description, as written."""
        return self.document.data.get("description", "")

    @cached_property
    def warnings(self) -> list[TemplateWarning]:
        """What is odd but no fault; found when it is asked for."""
        return [*self._loader.ignored, *advice.of(self._loader)]

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
        )

    def order(self) -> list[str]:
        """The resources, each after all that it requires, else in template order."""
        return order({name: node.requires for name, node in self.resources.items()})

    def attributes_read(self, name: str) -> frozenset[str | None]:
        """The attributes that other resources and outputs read of ``name``; None: all of them."""
        return self._reads.attributes(name)

    def paths_read(self, name: str) -> frozenset[tuple[Any, ...]]:
        """The same with the keys and indices behind the attributes, as far as written out."""
        return self._reads.paths(name)

    def fingerprint(self, name: str) -> str:
        """A text that changes when the definition of ``name`` does. Holds secrets: hash it."""
        return fingerprint(self.resources[name], self.document.data, self.scope(None))

    @cached_property
    def secrecy(self) -> secrecy.Secrecy:
        """The static marks of secrets."""
        return secrecy.Secrecy(self.resources, self._parameter_secrecy)

    @cached_property
    def masked(self) -> Masker:
        """Takes hidden values out of a fault (in place), or out of a text."""
        hidden = (self.parameters.known(name) for name in self.parameters.hidden)
        return Masker(hidden, self._marks)

    def _marks(self, name: str) -> Mapping[str, str]:
        return self.secrecy_of(name) if name in self.resources else {}

    def secrecy_of(self, name: str) -> Mapping[str, str]:
        """The mark of each property that the template gives to a resource."""
        return self.secrecy.of_properties(name)

    def _parameter_secrecy(self, name: str) -> str:
        schema = self.parameters.schemas.get(name)
        if schema is not None and schema.hidden:
            return secrecy.HIDDEN
        return secrecy.SEALED if name in self.environment.encrypted else secrecy.OPEN

    def validate(self, context_for: ContextFor) -> None:
        """Check every resource and output with attributes null; raises ValidationErrors."""
        most = self._limits.max_faults
        faults = [self.masked(fault) for fault in islice(self.faults(context_for), most)]
        raise_all(faults, self.document, self.environment, most=most)

    def faults(self, context_for: ContextFor) -> Iterator[TemplateError]:
        """What ``validate`` raises, in Heat's order."""
        try:
            names = self.order()
        except Ring:
            names = list(self.resources)
        static = self.scope(checks.CheckedValues(self.resources))
        empty = self.scope(checks.NullValues())
        for name in names:
            node = self.resources[name]
            yield from checks.resource_faults(
                node, static, empty, context_for(node), self._reported.get(name, frozenset())
            )
        for output in self.outputs.values():
            yield from output.static_faults(static)


def load(
    bundle: Bundle,
    *,
    identity: Identity,
    plugins: Plugins,
    functions: Callable[[str], FunctionTable],
    limits: Limits | None = None,
    previous: Mapping[str, Any] | None = None,
    context_for: ContextFor | None = None,
    yaql: Yaql | None = None,
    clock: Clock | None = None,
    all_given: bool = True,
    with_warnings: bool = False,
    ignore_unknown: bool = False,
) -> StackDefinition:
    """The definition behind a bundle.

    ``functions`` gives the functions of a version; ``previous`` the values of the parameters
    before an update (immutable ones may not change); ``yaql`` evaluates an expression on data;
    ``clock`` is for constraints on dates. Without ``all_given`` parameters may lack a value, and
    what reads them is not checked. With ``context_for`` the resources are validated as well,
    so that one error holds the faults of both. ``with_warnings``: the error brings warnings, too.
    ``ignore_unknown``: types and custom constraints that are not installed are only warned of; such
    a definition is for looking at, not for making a stack.

    Raises ValidationErrors with every fault, the first as Heat's; each has a ``stage`` and, as far
    as it stands in a text, a ``place``.
    """
    loader = Loader(bundle, identity, plugins, functions, limits or Limits(), yaql, clock)
    loader.all_given = all_given
    loader.run(previous)
    most = loader.limits.max_faults

    def warnings() -> list[TemplateWarning]:
        return [*loader.ignored, *advice.of(loader)] if with_warnings else []

    if not loader.complete:
        raise_all(loader.errors, loader.found_document, loader.environment, warnings, most)
    definition = StackDefinition(loader)
    faults = list(loader.errors)
    if context_for is not None:
        faults.extend(loader.plugin_faults)
        faults.extend(islice(definition.faults(context_for), most))
    faults = [definition.masked(fault) for fault in faults]
    if ignore_unknown:
        unknown = [fault for fault in faults if fault.code in UNKNOWN]
        placing.fill(unknown, definition.document, definition.environment)
        loader.ignored = [fault.as_warning() for fault in _distinct(unknown)]
        faults = [fault for fault in faults if fault.code not in UNKNOWN]
    raise_all(faults, definition.document, definition.environment, warnings, most)
    return definition


def raise_all(
    faults: list[TemplateError],
    document: Document | None,
    environment: Environment,
    warnings: Callable[[], list[TemplateWarning]] = list,
    most: int = Limits().max_faults,
) -> None:
    """Raise ``faults`` (at most ``most``) as one, each with its place; nothing without any."""
    shown = list(islice(_distinct(faults), most))
    if not shown:
        return
    placing.fill(shown, document, environment)
    raise ValidationErrors(shown, warnings()) from shown[0]


def _distinct(faults: list[TemplateError]) -> Iterator[TemplateError]:
    """Each fault once: several users of one wrong thing find it several times."""
    seen: set[object] = set()
    for fault in faults:
        unknown = fault.code == UnknownReference.code
        mark = (fault.at, fault.code if unknown else str(fault))
        if mark not in seen and not isinstance(fault, Poisoned):
            seen.add(mark)
            yield fault
