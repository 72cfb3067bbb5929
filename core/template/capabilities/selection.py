"""The choice between several templates or types for one name, by the requirements.

Called by ``registry`` for values that are lists. A requirement counts if some candidate declares
its key; who is chosen must then declare a value that fits. ``resource_type``, where declared, must
include the type. What nobody requires is never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from zonda.hooks.errors import Path, Related, TemplateError
from zonda.hooks.records import dataclass
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.sanitize import escape_control_chars

from ..source.bundle import to_display_name
from ..source.diagnostics import CHOICE
from . import requirements
from .requirements import Requirement
from .section import (
    RESOURCE_TYPE,
    Declared,
    TemplateCapabilities,
    load_capabilities,
    parse_capabilities,
)

_FITS = "yes"
_NOT_DECLARED = "not declared"
_ANY = "any"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One item of a list. ``key``: as the registry has it; ``name``: as people know it.

    ``problem``: why it cannot be chosen whatever is required; empty if it can.
    """

    key: str
    name: str
    capabilities: Declared
    problem: str = ""
    annotation: TemplateCapabilities | None = None


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result of each requirement for one candidate: ``yes``, ``any``, or the reason against."""

    candidate: Candidate
    cells: tuple[str, ...]
    fits: bool

    @property
    def result(self) -> str:
        """The result as text: ``fits``, ``does not fit``, or the problem."""
        return self.candidate.problem or ("fits" if self.fits else "does not fit")


@dataclass(frozen=True, slots=True)
class Selection:
    """The result for a list. ``columns``: the requirements that count; ``idle``: those that do not.

    ``keys``: the capabilities that the requirements which count are for.
    """

    type_name: str
    columns: tuple[str, ...]
    verdicts: tuple[MatchResult, ...]
    idle: tuple[str, ...]
    keys: tuple[str, ...] = ()

    @property
    def fitting(self) -> list[Candidate]:
        """The candidates that fit the requirements."""
        return [verdict.candidate for verdict in self.verdicts if verdict.fits]

    def table(self) -> list[str]:
        """Format candidates by requirements, one line each, the first one for the headings."""
        rows = [("candidate", *self.columns, "result")]
        for verdict in self.verdicts:
            rows.append((verdict.candidate.name, *verdict.cells, verdict.result))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return [lines[0], "-+-".join("-" * width for width in widths), *lines[1:]]


class TemplateSelector:
    """Selects templates and types of plug-ins by what they declare and what is required."""

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        names: Callable[[], Mapping[str, str]] = dict,
        *,
        max_bytes: int = 524_288,
    ) -> None:
        """``names``: what people call the keys of ``files``; asked when a name is needed."""
        self._files = files or {}
        self._written = names
        self._max_bytes = max_bytes
        self.required: tuple[Requirement, ...] = ()

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return self._written()

    def template(self, key: str) -> Candidate:
        """A template as a candidate."""
        name = self.name(key)
        if key not in self._files:
            return Candidate(key, name, {}, f"there is no file {name}")
        found = load_capabilities(self._files[key], to_display_name(key), self._max_bytes)
        problem = found.problem
        for fault in found.locate_faults()[:1]:
            problem = f"its capabilities are malformed ({fault.place}: {fault.message})"
        return Candidate(key, name, found.capabilities, problem, found)

    def plugin(self, key: str, cls: type[Resource]) -> Candidate:
        """A type of a plug-in as a candidate."""
        return Candidate(key, key, parse_capabilities(cls.capabilities))

    def nothing(self, key: str) -> Candidate:
        """A name that leads to no type."""
        return Candidate(key, key, {}, "leads to no type")

    def name(self, key: str) -> str:
        """The display name of a file."""
        return escape_control_chars(self._names.get(key) or to_display_name(key))

    def judge(self, names: Sequence[str], found: Sequence[Candidate]) -> Selection:
        """Judge each of ``found``; ``names``: what the type is called, last name last."""
        counting = [each for each in self.required if _is_declared_by_any(each.key, found)]
        idle = [str(each) for each in self.required if each not in counting]
        typed = _is_declared_by_any(RESOURCE_TYPE, found)
        columns = [str(each) for each in counting]
        if typed:
            columns.append(f"{RESOURCE_TYPE}: {names[-1]}")
        verdicts = tuple(_judge_candidate(each, counting, typed, names) for each in found)
        keys = tuple(each.key for each in counting)
        return Selection(names[-1], tuple(columns), verdicts, tuple(idle), keys)


def _is_declared_by_any(key: str, found: Sequence[Candidate]) -> bool:
    return any(key in each.capabilities for each in found)


def _judge_candidate(
    candidate: Candidate, counting: Sequence[Requirement], typed: bool, names: Sequence[str]
) -> MatchResult:
    if candidate.problem:
        return MatchResult(candidate, ("-",) * (len(counting) + typed), False)
    cells = [_format_cell(candidate, requirement) for requirement in counting]
    if typed:
        cells.append(_format_type_cell(candidate, names))
    fits = all(cell in (_FITS, _ANY) for cell in cells)
    return MatchResult(candidate, tuple(cells), fits)


def _format_cell(candidate: Candidate, requirement: Requirement) -> str:
    values = candidate.capabilities.get(requirement.key)
    if values is None:
        return f"no: {_NOT_DECLARED}"
    refusal = requirement.refusal(values)
    return f"no: {refusal}" if refusal else _FITS


def _format_type_cell(candidate: Candidate, names: Sequence[str]) -> str:
    types = candidate.capabilities.get(RESOURCE_TYPE)
    if types is None:
        return _ANY
    said = " | ".join(map(requirements.as_text, types))
    return _FITS if any(name in types for name in names) else f"no: {said}"


def explain_rejection(selection: Selection, resource: str, at: Path) -> TemplateError:
    """Build the fault of a list of which not exactly one candidate fits."""
    left = selection.fitting
    many = len(selection.verdicts)
    whose = f" of resource {resource}" if resource else ""
    if left:
        said = f"{len(left)} of the {many} candidates for {selection.type_name}{whose} fit: "
        said += ", ".join(each.name for each in left)
        advice = _suggest_requirement(left)
    else:
        said = (
            f"None of the {many} candidates for {selection.type_name}{whose} fits what is required"
        )
        advice = "Change requires, or what the templates declare under capabilities."
    error = TemplateError(
        said, at=at, code=CHOICE, hint="\n".join((advice, *_format_lines(selection)))
    )
    error.related = (
        *(
            Related(f"{key} is required here", at=(requirements.SECTION, key))
            for key in selection.keys
        ),
        *_list_mismatches(selection),
    )
    return error


def _format_lines(selection: Selection) -> list[str]:
    lines = [f"    {line}" for line in selection.table()]
    for idle in selection.idle:
        lines.append(f"    (no candidate declares what {idle} asks for, so it does not count)")
    return lines


def _suggest_requirement(left: Sequence[Candidate]) -> str:
    """Suggest a requirement that tells the candidates apart."""
    keys = sorted({key for each in left for key in each.capabilities} - {RESOURCE_TYPE})
    for key in keys:
        values = [each.capabilities.get(key) for each in left]
        if len(set(values)) == len(left) and values[0]:
            value = requirements.as_text(values[0][0])
            return f"Say which one in an environment, e.g. requires: {{{key}: {value}}}."
    return "Say in capabilities what tells them apart, and ask for it under requires."


def _list_mismatches(selection: Selection) -> list[Related]:
    """List the places where the rejected candidates declare what does not fit."""
    found = []
    for verdict in selection.verdicts:
        for column, cell in zip(selection.columns, verdict.cells, strict=True):
            key = column.partition(":")[0]
            annotation = verdict.candidate.annotation
            place = annotation.place(key) if annotation is not None else None
            if place is not None and cell.startswith("no: "):
                found.append(Related(f"{verdict.candidate.name} declares {cell[4:]}", place))
    return found
