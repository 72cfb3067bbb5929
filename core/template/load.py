"""The entry point of ``core.template``: from a bundle to the definition of a stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.core.system.clock import SystemClock
from zonda.hooks.context import Clock
from zonda.hooks.errors import TemplateWarning, TooManyResources
from zonda.hooks.schema.values import NOT_CHECKED, SAME_THING, WITHOUT_EFFECT

from .definition.child_spec import ChildSpec
from .definition.loader import LoadContext, Loader
from .definition.stack_definition import ContextFor, StackDefinition
from .evaluation.scope import FunctionTable, ResourceValues, Yaql
from .lint import linter
from .nested.template_tree import TemplateTree
from .nested.validation import NestedValidator, ValidationCache
from .source.bundle import Bundle, Identity, Limits
from .source.diagnostics import UNKNOWN_NAMES
from .syntax.outputs import OutputNode
from .syntax.resource import ResourceNode
from .types.declared_types import with_declared_types
from .validation.report import attach_locations, deduplicate, raise_errors

__all__ = [
    "Bundle",
    "ChildSpec",
    "FunctionTable",
    "Identity",
    "Limits",
    "OutputNode",
    "ResourceNode",
    "ResourceValues",
    "StackDefinition",
    "TemplateTree",
    "load",
]


def load(
    bundle: Bundle,
    *,
    identity: Identity,
    plugins: Plugins,
    functions: Callable[[str], FunctionTable],
    limits: Limits | None = None,
    previous: Mapping[str, Any] | None = None,
    context_for: ContextFor | None = None,
    check: bool | None = None,
    yaql: Yaql | None = None,
    clock: Clock | None = None,
    all_given: bool = True,
    with_warnings: bool = False,
    ignore_unknown: bool = False,
    earlier: ValidationCache | None = None,
    setup: str = "",
    is_shared: bool = False,
) -> StackDefinition:
    """Load the definition of a stack from a bundle.

    ``functions`` gives the functions of a version; ``previous`` the values of the parameters
    before an update (immutable ones may not change); ``yaql`` evaluates an expression on data;
    ``clock`` is for constraints on dates. Without ``all_given`` parameters may lack a value, and
    what reads them is not checked. ``context_for`` lends plug-ins what they need; with it (unless
    ``check`` is false) the resources are validated as well, so that one error holds the faults of
    both. ``with_warnings``: the error brings warnings, too.
    ``ignore_unknown``: types and custom constraints that are not installed are only warned of; such
    a definition is for looking at, not for making a stack.
    Rules that cannot be asked (``constraints.NotChecked``) are only warned of in any case.
    ``earlier``: what needs no check below the root; ``checked`` of the definition is for the next.
    ``setup``: changes with what ``context_for`` can lend. ``is_shared``: a server tells projects
    apart.

    Raises ValidationErrors with every fault, the first as Heat's; each has a ``stage`` and, as far
    as it stands in a text, a ``place``.
    """
    bundle = with_declared_types(bundle, plugins.resource_types)
    around = LoadContext(
        bundle,
        plugins,
        functions,
        limits or Limits(),
        yaql,
        clock or SystemClock(),
        setup,
        identity.stack_name,
        is_shared,
    )
    family = TemplateTree(around, context_for, all_given=all_given)
    loader = Loader(around, identity)
    loader.all_given = all_given
    loader.registry.templates = family.load_template_class
    loader.call_after_environment(family.adopt)
    loader.run(previous)
    most = loader.limits.max_faults

    def warnings() -> list[TemplateWarning]:
        return [*loader.ignored, *linter.list_warnings(loader)] if with_warnings else []

    if not loader.complete:
        raise_errors(loader.errors, loader.found_document, loader.environment, warnings, most)
    definition = StackDefinition(loader, family)
    faults = list(loader.errors)
    most_resources = loader.limits.max_resources_per_stack
    if check is not False and len(loader.resources) > most_resources:
        large = TooManyResources(len(loader.resources), most_resources, at=("resources",))
        raise_errors([large], definition.document, definition.environment, warnings, most)
    if context_for is not None and check is not False:
        faults.extend(loader.plugin_faults)
        nested = NestedValidator(family, context_for, loader.limits, earlier)
        faults.extend(islice(definition.faults(context_for, nested.find_faults_below), most))
        definition.checked = tuple(nested.marks) if all_given and not ignore_unknown else ()
    faults = [definition.masked(fault) for fault in faults]
    mild = {NOT_CHECKED, WITHOUT_EFFECT, SAME_THING, *(UNKNOWN_NAMES if ignore_unknown else ())}
    warned = [fault for fault in faults if fault.code in mild]
    if warned:
        attach_locations(warned, definition.document, definition.environment)
        loader.ignored = [fault.as_warning() for fault in deduplicate(warned)]
        faults = [fault for fault in faults if fault.code not in mild]
    raise_errors(faults, definition.document, definition.environment, warnings, most)
    return definition
