"""Faults as one error: each once, with its place. Called by whoever loads a template."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from zonda.hooks.errors import TemplateError, TemplateWarning, UnknownReference, ValidationErrors

from ..environment.environment import Environment
from ..source.bundle import Limits
from ..source.diagnostics import FollowUpError
from ..source.document import Document
from . import locations


def raise_all(
    faults: list[TemplateError],
    document: Document | None,
    environment: Environment,
    warnings: Callable[[], list[TemplateWarning]] = list,
    most: int = Limits().max_faults,
) -> None:
    """Raise ``faults`` (at most ``most``) as one, each with its place; nothing without any."""
    shown = list(islice(distinct(faults), most))
    if not shown:
        return
    locations.fill(shown, document, environment)
    raise ValidationErrors(shown, warnings()) from shown[0]


def distinct(faults: list[TemplateError]) -> Iterator[TemplateError]:
    """Each fault once: several users of one wrong thing find it several times."""
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
