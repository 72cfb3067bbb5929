"""Raise faults as one error: each fault once, with its place and the way that led there.

Places are found once all faults are known, because that costs a second reading of the texts: in the
template, or in the environment that caused the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from zonda.hooks.errors import (
    Path,
    Place,
    Related,
    TemplateError,
    TemplateWarning,
    UnknownReference,
    ValidationErrors,
)
from zonda.hooks.records import replace
from zonda.hooks.text.sanitize import escape_control_chars

from ..environment import environment as environments
from ..environment.environment import Environment
from ..source.bundle import Limits
from ..source.diagnostics import (
    CONSTRAINT_UNKNOWN,
    PARAMETER,
    PARAMETER_CONSTRAINT,
    PARAMETER_IMMUTABLE,
    PARAMETER_UNKNOWN,
    STACK_NAME,
    FollowUpError,
)
from ..source.document import Document
from ..syntax.resource import ResourceNode
from ..types import registry


def raise_errors(
    faults: list[TemplateError],
    document: Document | None,
    environment: Environment,
    warnings: Callable[[], list[TemplateWarning]] = list,
    most: int = Limits().max_faults,
) -> None:
    """Raise ``faults`` (at most ``most``) as one, each with its place; nothing without any."""
    shown = list(islice(deduplicate(faults), most))
    if not shown:
        return
    attach_locations(shown, document, environment)
    raise ValidationErrors(shown, warnings()) from shown[0]


def deduplicate(faults: list[TemplateError]) -> Iterator[TemplateError]:
    """Deduplicate faults: several users of one wrong part report it several times."""
    seen: set[object] = set()
    for fault in faults:
        unknown = fault.code == UnknownReference.code
        mark: object = (fault.at, fault.code if unknown else str(fault))
        if fault.way:  # the same template may be reached on several ways
            what = fault.code if unknown else (fault.label, fault.message)
            mark = (fault.place, fault.at, what)
        if mark not in seen and not isinstance(fault, FollowUpError):
            seen.add(mark)
            yield fault


def add_trace(fault: TemplateError, owner: ResourceNode, document: Document) -> TemplateError:
    """Add ``owner`` to the trace of ``fault``, which has its place already (in place)."""
    place = document.place(owner.path, key=True)
    step = Related(
        f"{owner.name} has the type {escape_control_chars(owner.type)}", place, owner.path
    )
    fault.way = (step, *fault.way)
    return fault


#: Faults of a parameter's value; whoever gave it is to blame.
_OF_VALUES = (
    CONSTRAINT_UNKNOWN,
    PARAMETER,
    PARAMETER_CONSTRAINT,
    PARAMETER_IMMUTABLE,
    PARAMETER_UNKNOWN,
)


def attach_locations(
    faults: Iterable[TemplateError], document: Document | None, environment: Environment
) -> None:
    """Attach the places of ``faults`` and of their related parts."""
    for fault in faults:
        if document is not None:
            fault.path = document.to_text_path(fault.path)
        if fault.place is None and not _is_in_no_file(fault, environment):
            fault.place = _find_environment_place(fault, environment) or _find_place(
                document, fault.at
            )
        fault.related = tuple(
            each
            for each in (_locate_related(each, document, environment) for each in fault.related)
            if each.place is None or each.place != fault.place
        )


def _is_in_no_file(fault: TemplateError, environment: Environment) -> bool:
    """Whether the caller gave the wrong value; a parameter's declaration does not matter then."""
    if fault.code == STACK_NAME:
        return True
    return fault.code in _OF_VALUES and len(fault.at) == 2 and fault.at[1] in environment.named


def _locate_related(
    related: Related, document: Document | None, environment: Environment
) -> Related:
    if related.place is not None or not related.at:
        return related
    if related.at[0] == environments.REQUIRES:
        return replace(related, place=environment.place(related.at))
    return replace(related, place=_find_place(document, related.at))


def _find_place(document: Document | None, path: Path) -> Place | None:
    return None if document is None else document.place(path, key=True)


def _find_environment_place(fault: TemplateError, environment: Environment) -> Place | None:
    if fault.at[:1] == (registry.SECTION,):
        return environment.place(fault.at)
    if fault.code not in _OF_VALUES or len(fault.at) != 2:
        return None
    name = fault.at[1]
    given = None if environment.is_nested else environment.place((environments.PARAMETERS, name))
    if given is None and name in environment.parameters and environment.is_nested:
        return None  # the resource that provides the stack gave it
    return given or environment.place((environments.DEFAULTS, name))
