"""Every parameter of a template and of all its nested templates.

Called by ``app`` for ``zonda template parameters``, once environments have chosen the templates. A
nested template's parameter that the template above gives is nobody's to give any more; any other
takes its value from ``parameter_defaults``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.core.template.environment import environment as environments
from zonda.core.template.evaluation.scope import FunctionTable, Yaql
from zonda.core.template.load import load
from zonda.core.template.nested.template_tree import TemplateTree
from zonda.core.template.parameters.parameters import SECTION, ParameterSchema
from zonda.core.template.source.bundle import Bundle, Identity, Limits, to_display_name
from zonda.core.template.syntax.redactor import MASK
from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import Place, TemplateWarning, ValidationErrors
from zonda.hooks.records import dataclass, field

from .template_tree import Tree, TreeNode

#: The origin of what the template above gives.
GIVEN = "template"


@dataclass(slots=True)
class Parameter:
    """One declaration. ``default`` and ``value`` are masked where they are hidden.

    ``mandatory``: it has no default in its template. ``missing``: nothing gives it a value yet.
    ``origin``: what gives it (``parameters``, ``parameter_defaults``, ``default``, or ``template``
    for the one above), at ``origin_place``. ``give_in``: the section of an environment that can.
    ``resources``: the ways to the nested stacks that have it, names between slashes.
    """

    name: str
    schema: ParameterSchema
    default: Any
    mandatory: bool
    missing: bool
    hidden: bool
    value: Any
    origin: str
    origin_place: Place | None
    place: Place | None
    template: str
    give_in: str
    constraints: tuple[dict[str, Any], ...] = ()
    resources: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ParameterListing:
    """The parameters of a tree; ``open``: nested stacks that cannot be resolved, and why."""

    parameters: tuple[Parameter, ...]
    templates: int
    open: tuple[str, ...]
    warnings: tuple[TemplateWarning, ...]


@dataclass(frozen=True, slots=True)
class PluginAccess:
    """Access to plug-ins and limits for reading templates: as for ``load``."""

    plugins: Plugins
    functions: Callable[[str], FunctionTable]
    limits: Limits
    yaql: Yaql
    context: Callable[[], ResourceContext]


def parameters(bundle: Bundle, means: PluginAccess, *, given_too: bool = False) -> ParameterListing:
    """List the parameters of a bundle's tree; raises ValidationErrors of all templates.

    ``given_too``: also those of nested templates that the template above gives.
    """
    root = load(
        bundle,
        identity=Identity("", "template", ""),
        plugins=means.plugins,
        functions=means.functions,
        limits=means.limits,
        yaql=means.yaql,
        all_given=False,
        ignore_unknown=True,
    )
    tree = Tree(means.context)
    rows: dict[tuple[str, ...], Parameter] = {}
    count = 0
    for grown in tree.walk(root):
        count += 1
        _add_rows(rows, _list_declared(grown, bundle, given_too), grown)
    if tree.errors:
        raise ValidationErrors(tree.errors)
    notes = tuple(dict.fromkeys(tree.open))
    return ParameterListing(tuple(rows.values()), count, notes, tuple(root.warnings))


def _add_rows(
    rows: dict[tuple[str, ...], Parameter], found: Iterable[Parameter], grown: TreeNode
) -> None:
    for each in found:
        # What the templates above give may differ from one nested stack to the next.
        given = (repr(each.value),) if each.origin == GIVEN else ()
        row = rows.setdefault((each.template, each.name, *given), each)
        if grown.names:
            row.resources.append("/".join(grown.names))


def _list_declared(grown: TreeNode, bundle: Bundle, given_too: bool) -> Iterable[Parameter]:
    definition = grown.definition
    file = to_display_name(grown.file) or bundle.template_file
    for name, schema in definition.schemas.items():
        if grown.names and name in grown.given:
            if given_too:
                yield _build_parameter(grown, file, schema, GIVEN, None)
            continue
        values = definition.parameters
        origin = "" if values.get_raw(name) is None else values.origin(name)
        is_of_environment = origin in (environments.PARAMETERS, environments.DEFAULTS)
        place = definition.environment.place((origin, name)) if is_of_environment else None
        yield _build_parameter(grown, file, schema, origin, place)


def _build_parameter(
    grown: TreeNode, file: str, schema: ParameterSchema, origin: str, place: Place | None
) -> Parameter:
    definition = grown.definition
    name = schema.name
    hidden = name in definition.parameters.hidden
    value = definition.parameters.values.get(name)
    return Parameter(
        name=name,
        schema=schema,
        default=MASK if schema.hidden and schema.default is not None else schema.default,
        mandatory=schema.default is None,
        missing=not origin,
        hidden=hidden,
        value=MASK if hidden and value is not None else value,
        origin=origin,
        origin_place=place,
        place=_find_place(grown, name),
        template=file,
        give_in=environments.DEFAULTS if grown.names else environments.PARAMETERS,
        constraints=tuple(each.to_dict() for each in schema.constraints),
    )


def _find_place(grown: TreeNode, name: str) -> Place | None:
    """Find the place where a parameter is declared, also in a file that came as a text."""
    document = grown.definition.document
    family = grown.definition.family
    if not document.file and grown.file and isinstance(family, TemplateTree):
        document = family.document(grown.file)
    return document.place((SECTION, name), key=True)
