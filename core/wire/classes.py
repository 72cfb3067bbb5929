"""The table of classes that travel: their names, where they stand, and what of them is left out."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from zonda.hooks.records import fields

#: The version of the protocol: raised when an older client cannot use what is sent.
VERSION = 1

_PLACES = {
    "zonda.core.store.read.views": (
        *("StackView", "ResourceView", "ResourceSummary", "EventView", "ActionView"),
        *("FailedView", "OutputView"),
    ),
    "zonda.core.store.read.drift_views": (
        *("DriftCheckView", "DriftFindingView", "DriftNowView", "DriftIgnoreView"),
        "Difference",
    ),
    "zonda.core.app.surface": ("PendingRequest",),
    "zonda.core.app.planning": ("PlanResult",),
    "zonda.core.app.templates": ("ValidationResult",),
    "zonda.core.reports.generations": ("Generation",),
    "zonda.core.reports.past": ("Past", "PastResource"),
    "zonda.core.reports.graph": ("Graph", "Node", "Edge"),
    "zonda.core.reports.differences": ("Differences", "Change"),
    "zonda.core.reports.export": ("Export", "Sources"),
    "zonda.core.reports.failures": ("Failure",),
    "zonda.core.reports.situation": ("Situation",),
    "zonda.core.reports.why": ("Explanation", "LocatedFailure"),
    "zonda.core.engine.model.causes": ("Cause",),
    "zonda.core.template.redaction": ("RedactedBundle",),
    "zonda.core.template.capabilities.selection": ("Selection", "MatchResult", "Candidate"),
    "zonda.core.introspection.type_resolution": ("TypeExplanation", "Rule"),
    "zonda.core.introspection.catalog": ("CatalogResult", "CatalogEntry"),
    "zonda.core.introspection.parameters": ("ParameterListing", "Parameter"),
    "zonda.core.template.parameters.parameters": ("ParameterSchema",),
    "zonda.hooks.errors": ("Place", "Related", "TemplateWarning"),
}
#: Names that stand for two classes.
_OTHER_NAMES = {"TypeExplanation": "Explanation"}
#: Fields that stay where they are: what they hold does not travel, and nobody shows it.
_LEFT_OUT = {"ParameterSchema": {"constraints", "default"}, "Candidate": {"annotation"}}

_MODULES = {name: module for module, names in _PLACES.items() for name in names}
_NAMES = {
    (module, _OTHER_NAMES.get(name, name)): name
    for module, names in _PLACES.items()
    for name in names
}


class Shape(NamedTuple):
    """A class that travels, with the fields that do."""

    cls: type[Any]
    fields: tuple[str, ...]


def find_name(cls: type[Any]) -> str | None:
    """The name under which a class travels; None for one that does not."""
    return _NAMES.get((cls.__module__, cls.__name__))


@cache
def find_shape(name: str) -> Shape:
    """The class of a name, imported when it is first asked for; raises KeyError."""
    cls = getattr(import_module(_MODULES[name]), _OTHER_NAMES.get(name, name))
    left_out: Collection[str] = _LEFT_OUT.get(name, frozenset())
    return Shape(cls, tuple(each.name for each in fields(cls) if each.name not in left_out))
