"""The section ``requires`` of environments: what a template that is chosen has to offer.

Called by ``environment`` for its faults and by ``candidates`` for the question whether a value
fits. A requirement is a value, a list of which any suffices, or a range of versions
(``>=2,<3``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zonda.hooks.errors import TemplateError

from ..source.diagnostics import REQUIREMENTS, type_name
from .section import Scalar

SECTION = "requires"

_STEP = re.compile(r"(>=|<=|==|!=|>|<)\s*(.*)", re.DOTALL)
_VERSION = re.compile(r"v?([0-9]{1,18}(?:\.[0-9]{1,18}){0,9})")
#: More of either is a mistake, or an attack.
_MOST_STEPS = 16


@dataclass(frozen=True, slots=True)
class Range:
    """Versions between bounds: every step holds, e.g. ``>=`` 2 and ``<`` 3."""

    steps: tuple[tuple[str, tuple[int, ...]], ...]

    def holds(self, version: tuple[int, ...]) -> bool:
        """Whether ``version`` lies inside."""
        return all(_holds(version, sign, bound) for sign, bound in self.steps)


def _holds(version: tuple[int, ...], sign: str, bound: tuple[int, ...]) -> bool:
    return {
        ">=": version >= bound,
        "<=": version <= bound,
        ">": version > bound,
        "<": version < bound,
        "==": version == bound,
        "!=": version != bound,
    }[sign]


def version_of(value: Scalar) -> tuple[int, ...] | None:
    """Numbers between dots as a tuple without trailing zeros (2 is 2.0); None for all else."""
    found = None if isinstance(value, bool) else _VERSION.fullmatch(as_text(value).strip())
    if found is None:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def looks_like_range(value: Scalar) -> bool:
    """Whether a requirement means a range of versions rather than its own text."""
    return isinstance(value, str) and _STEP.match(value.strip()) is not None


def range_of(text: str) -> Range:
    """The range behind a text; raises ValueError that names the wrong part."""
    parts = text.split(",")
    if len(parts) > _MOST_STEPS:
        raise ValueError(f"more than {_MOST_STEPS} parts")
    steps = []
    for part in parts:
        step = _STEP.fullmatch(part.strip())
        bound = version_of(step[2]) if step is not None else None
        if step is None or bound is None:
            raise ValueError(f"{part.strip()!r} is no sign (>= <= > < == !=) and version")
        steps.append((step[1], bound))
    return Range(tuple(steps))


def as_text(value: Scalar) -> str:
    """A value as YAML writes it: ``3`` and ``"3"`` are one, ``true`` and ``"true"``, too."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Requirement:
    """What is asked of one capability: any of ``wanted``."""

    key: str
    wanted: tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"{self.key}: {' | '.join(as_text(value) for value in self.wanted)}"

    def refusal(self, declared: tuple[Scalar, ...]) -> str:
        """Why none of the declared values fits; empty if one does."""
        if any(_fits(value, wanted) for value in declared for wanted in self.wanted):
            return ""
        said = " | ".join(as_text(value) for value in declared)
        ranged = any(looks_like_range(wanted) for wanted in self.wanted)
        if ranged and all(version_of(value) is None for value in declared):
            return f"{said} is no version"
        return said


def _fits(declared: Scalar, wanted: Scalar) -> bool:
    if looks_like_range(wanted):
        version = version_of(declared)
        return version is not None and range_of(str(wanted)).holds(version)
    return as_text(declared) == as_text(wanted)


def faults(section: Any) -> Iterator[TemplateError]:
    """What is wrong with a section; ``at`` leads to it in its document."""
    if not isinstance(section, Mapping):
        return  # a fault of the sections, told by ``environment``
    for key, value in section.items():
        at = (SECTION, key)
        if not isinstance(key, str):
            yield _fault(f"the name of a requirement must be text, not a {type_name(key)}", at)
        elif value is not None:
            several = isinstance(value, list)
            for index, item in enumerate(value if several else [value]):
                problem = _problem(item)
                if problem:
                    yield _fault(f"{key}: {problem}", (*at, index) if several else at)
            if several and not value:
                yield _fault(f"{key}: an empty list is never met", at)


def _problem(value: Any) -> str:
    if not isinstance(value, str | int | float):
        wanted = "a requirement is text, a number or a boolean, or a list of such"
        return f"{wanted}, not a {type_name(value)}"
    if looks_like_range(value):
        try:
            range_of(str(value))
        except ValueError as error:
            return f"{value!r} is no range of versions: {error}"
    return ""


def _fault(message: str, at: tuple[Any, ...]) -> TemplateError:
    return TemplateError(
        f"{SECTION}: {message}",
        at=at,
        code=REQUIREMENTS,
        heat_type="ValueError",
        hint='For example: requires: {deployment: puppet, version: ">=2,<3"}.',
    )


def read(section: Mapping[str, Any]) -> tuple[Requirement, ...]:
    """The requirements of a section without faults; null asks for nothing."""
    return tuple(
        Requirement(key, tuple(value) if isinstance(value, list) else (value,))
        for key, value in section.items()
        if value is not None
    )
