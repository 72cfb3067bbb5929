"""The section ``requires`` of environments: the capabilities that a chosen template must have.

Called by ``environment`` for its faults and by ``selection`` for the question whether a value
fits. A requirement is a value, a list of which any suffices, or a range of versions
(``>=2,<3``).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zonda.hooks.errors import TemplateError
from zonda.hooks.records import dataclass

from ..source.diagnostics import REQUIREMENTS, format_type_name
from .section import Scalar

SECTION = "requires"

_STEP = r"(?s)(>=|<=|==|!=|>|<)\s*(.*)"
_VERSION = r"v?([0-9]{1,18}(?:\.[0-9]{1,18}){0,9})"
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
#: More of either is a mistake, or an attack.
_MOST_STEPS = 16


def parse_version(value: Scalar) -> tuple[int, ...] | None:
    """Parse ``2.0`` as a tuple without trailing zeros (2 is 2.0); None for all else."""
    found = None if isinstance(value, bool) else re.fullmatch(_VERSION, as_text(value).strip())
    if found is None:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def looks_like_range(value: Scalar) -> bool:
    """Whether a requirement means a range of versions rather than its own text."""
    return isinstance(value, str) and re.match(_STEP, value.strip()) is not None


def parse_range(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Parse a range of versions to signs and bounds, all of which must hold: ``>=`` 2, ``<`` 3.

    Raises ValueError that names the wrong part.
    """
    parts = text.split(",")
    if len(parts) > _MOST_STEPS:
        raise ValueError(f"more than {_MOST_STEPS} parts")
    steps = []
    for part in parts:
        step = re.fullmatch(_STEP, part.strip())
        bound = parse_version(step[2]) if step is not None else None
        if step is None or bound is None:
            raise ValueError(f"{part.strip()!r} is no sign (>= <= > < == !=) and version")
        steps.append((step[1], bound))
    return steps


def as_text(value: Scalar) -> str:
    """A value as YAML writes it: ``3`` and ``"3"`` are one, ``true`` and ``"true"``, too."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on one capability: any of the values in ``wanted`` is enough."""

    key: str
    wanted: tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"{self.key}: {' | '.join(as_text(value) for value in self.wanted)}"

    def refusal(self, declared: tuple[Scalar, ...]) -> str:
        """The reason why none of the declared values fits; empty if one does."""
        if any(_is_match(value, wanted) for value in declared for wanted in self.wanted):
            return ""
        said = " | ".join(as_text(value) for value in declared)
        ranged = any(looks_like_range(wanted) for wanted in self.wanted)
        if ranged and all(parse_version(value) is None for value in declared):
            return f"{said} is no version"
        return said


def _is_match(declared: Scalar, wanted: Scalar) -> bool:
    if looks_like_range(wanted):
        version = parse_version(declared)
        return version is not None and all(
            _SIGNS[sign](version, bound) for sign, bound in parse_range(str(wanted))
        )
    return as_text(declared) == as_text(wanted)


def find_faults(section: Any) -> Iterator[TemplateError]:
    """Yield the faults of a section; ``at`` leads to each of them in its document."""
    if not isinstance(section, Mapping):
        return  # a fault of the sections, told by ``environment``
    for key, value in section.items():
        at = (SECTION, key)
        if not isinstance(key, str):
            yield _make_fault(
                f"the name of a requirement must be text, not a {format_type_name(key)}", at
            )
        elif value is not None:
            several = isinstance(value, list)
            for index, item in enumerate(value if several else [value]):
                problem = _find_problem(item)
                if problem:
                    yield _make_fault(f"{key}: {problem}", (*at, index) if several else at)
            if several and not value:
                yield _make_fault(f"{key}: an empty list is never met", at)


def _find_problem(value: Any) -> str:
    if not isinstance(value, str | int | float):
        wanted = "a requirement is text, a number or a boolean, or a list of such"
        return f"{wanted}, not a {format_type_name(value)}"
    if looks_like_range(value):
        try:
            parse_range(str(value))
        except ValueError as error:
            return f"{value!r} is no range of versions: {error}"
    return ""


def _make_fault(message: str, at: tuple[Any, ...]) -> TemplateError:
    return TemplateError(
        f"{SECTION}: {message}",
        at=at,
        code=REQUIREMENTS,
        heat_type="ValueError",
        hint='For example: requires: {deployment: puppet, version: ">=2,<3"}.',
    )


def parse_requirements(section: Mapping[str, Any]) -> tuple[Requirement, ...]:
    """Parse the requirements of a section without faults; null asks for nothing."""
    return tuple(
        Requirement(key, tuple(value) if isinstance(value, list) else (value,))
        for key, value in section.items()
        if value is not None
    )
