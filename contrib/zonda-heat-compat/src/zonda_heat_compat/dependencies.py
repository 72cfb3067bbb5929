"""The edges that a plug-in of Heat's adds to the graph of its stack.

Made from what the template says and from nothing else: names are compared as they are written.
"""

from __future__ import annotations

from typing import Any, Final

from zonda.hooks import (
    Dependencies,
    ResourceDefinition,
    TemplateError,
    TranslationRule,
    constraints,
    sources,
)

from . import asking

#: The kinds of what an expression reads that are other resources.
_RESOURCES: Final = ("ref", "attr")


def add_edges(heat: Any, definition: ResourceDefinition, deps: Dependencies) -> None:
    """Add the edges; none where the plug-in reads a property without a right value.

    ``heat``: an instance of the plug-in for this alone. The checks of the template tell of the
    property, if a value was given.
    """
    stack, properties = heat.stack, heat.properties
    stack.with_neighbours(deps)
    # the neighbours' names are not translated either, so that no service is asked what one means
    properties.translate_by(lambda: _list_renaming(heat, properties))
    read = {each.name for each in sources(definition.raw) if each.kind in _RESOURCES}
    named = read.union(definition.depends_on or ())
    needed = [other for name, other in stack.resources.items() if name in named]
    deps.graph = lambda: {heat: needed}  # type: ignore[attr-defined]
    try:
        with asking.not_checked("What it depends on", None):
            heat.add_dependencies(deps)
    except constraints.NotChecked:  # its own check says so
        return
    except ValueError as error:
        if not isinstance(error.__cause__, TemplateError):
            raise


def _list_renaming(heat: Any, properties: Any) -> list[Any]:
    """The translation rules that ask for nothing."""
    return [rule for rule in heat._rules(properties) or () if rule.rule != TranslationRule.RESOLVE]
