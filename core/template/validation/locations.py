"""Where each fault stands: in the template, or in the environment that is to blame.

Called by ``stack`` once all faults are known, because looking for places costs a second reading
of the texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from zonda.hooks.errors import Path, Place, Related, TemplateError

from ..environment import environment as environments
from ..environment.environment import Environment
from ..source.diagnostics import (
    CONSTRAINT_UNKNOWN,
    PARAMETER,
    PARAMETER_CONSTRAINT,
    PARAMETER_IMMUTABLE,
    PARAMETER_UNKNOWN,
    STACK_NAME,
)
from ..source.document import Document
from ..types import registry

#: Faults of a parameter's value; whoever gave it is to blame.
_OF_VALUES = (
    CONSTRAINT_UNKNOWN,
    PARAMETER,
    PARAMETER_CONSTRAINT,
    PARAMETER_IMMUTABLE,
    PARAMETER_UNKNOWN,
)


def fill(
    faults: Iterable[TemplateError], document: Document | None, environment: Environment
) -> None:
    """Fill in the places of ``faults`` and of what is related to them."""
    for fault in faults:
        if document is not None:
            fault.path = document.in_text(fault.path)
        if fault.place is None and not _in_no_file(fault, environment):
            fault.place = _in_environment(fault, environment) or _in(document, fault.at)
        fault.related = tuple(
            each
            for each in (_placed(each, document, environment) for each in fault.related)
            if each.place is None or each.place != fault.place
        )


def _in_no_file(fault: TemplateError, environment: Environment) -> bool:
    """Whether the caller gave what is wrong; a parameter's declaration is then beside the point."""
    if fault.code == STACK_NAME:
        return True
    return fault.code in _OF_VALUES and len(fault.at) == 2 and fault.at[1] in environment.named


def _placed(related: Related, document: Document | None, environment: Environment) -> Related:
    if related.place is not None or not related.at:
        return related
    if related.at[0] == environments.REQUIRES:
        return replace(related, place=environment.place(related.at))
    return replace(related, place=_in(document, related.at))


def _in(document: Document | None, path: Path) -> Place | None:
    return None if document is None else document.place(path, key=True)


def _in_environment(fault: TemplateError, environment: Environment) -> Place | None:
    if fault.at[:1] == (registry.SECTION,):
        return environment.place(fault.at)
    if fault.code not in _OF_VALUES or len(fault.at) != 2:
        return None
    name = fault.at[1]
    given = None if environment.is_nested else environment.place((environments.PARAMETERS, name))
    if given is None and name in environment.parameters and environment.is_nested:
        return None  # the resource that provides the stack gave it
    return given or environment.place((environments.DEFAULTS, name))
