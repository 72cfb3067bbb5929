"""Raise faults as one error: each fault once, with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from zonda.hooks.errors import TemplateError, TemplateWarning, UnknownReference, ValidationErrors

from ..environment.environment import Environment
from ..source.bundle import Limits
from ..source.diagnostics import FollowUpError
from ..source.document import Document
from . import locations


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
    locations.attach_locations(shown, document, environment)
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
