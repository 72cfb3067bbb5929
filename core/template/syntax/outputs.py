"""The ``outputs`` section. An output is read long after its template was checked.

Called by ``stack.load``; ``OutputNode.resolve`` by whoever shows outputs. Only the shape is
checked in advance: what goes wrong when an output is read is that output's own error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import resolve_value, validate
from zonda.hooks.records import dataclass, field

from ..evaluation.scope import Parser, Scope
from ..source.diagnostics import (
    FAULTS,
    OUTPUT_SHAPE,
    FollowUpError,
    format_type_name,
    from_exception,
    suggestion,
)
from ..source.versions import CFN, CONDITIONS_SINCE
from .conditions import evaluate_condition

SECTION = "outputs"
KEYS = ("value", "description", "condition")


@dataclass(eq=False, slots=True)
class OutputNode:
    """One output; a disabled one is null and not even parsed. ``value`` is a parsed tree.

    ``secrecy`` is ``open``, ``sealed`` or ``hidden``: what a reader may be shown. ``is_certain``:
    whether its condition is known; it counts as disabled where it is not.
    """

    name: str
    description: Any
    enabled: bool
    value: Any
    mark: Callable[[Any], str] | None = field(default=None, repr=False)
    masked: Callable[[TemplateError], TemplateError] | None = field(default=None, repr=False)
    is_certain: bool = True

    @property
    def path(self) -> Path:
        """The path of the value in the document."""
        return (SECTION, self.name, "value")

    @property
    def secrecy(self) -> str:
        """The label of the value; computed on demand, since few outputs are read."""
        return "open" if self.mark is None else self.mark(self.value)

    def resolve(self, scope: Scope) -> Any:
        """Resolve the value, null if disabled; raises TemplateError with Heat's sentence."""
        if not self.enabled:
            return None
        scope.begin()
        try:
            return resolve_value(self.value, scope)
        except FAULTS as error:
            fault = from_exception(error)
            fault.at = fault.at or self.path
            if self.masked is not None:
                self.masked(fault)
            raise fault from (None if self.secrecy == "hidden" else error)

    def find_static_faults(self, scope: Scope) -> Iterator[TemplateError]:
        """Find faults of function calls that show without values."""
        scope.begin()
        if self.enabled:
            for error in validate(self.value, scope):
                yield from_exception(error)


def parse_outputs(data: Any, parser: Parser, provides: bool = False) -> dict[str, OutputNode]:
    """Parse every output by name; faults go to the parser's list.

    ``provides``: the template provides a type, so that Heat looks at its outputs more closely.
    """
    if not data:  # whatever is empty, as in Heat
        return {}
    if not isinstance(data, Mapping):
        text = f"Outputs must be a map. Found a {format_type_name(data)} instead"
        parser.errors.append(_make_fault(text, (SECTION,), "AttributeError"))
        return {}
    found = {}
    for name, entry in data.items():
        fault = _find_shape_fault(name, entry, "Value" if parser.version in CFN else "value")
        if provides and isinstance(name, str) and parser.version not in CFN:
            fault = _find_provided_fault(name, entry, parser.version)
        if fault is not None:
            parser.errors.append(fault)
        else:
            found[name] = _parse_output(name, entry, parser)
    return found


def _find_provided_fault(name: str, entry: Any, version: str) -> TemplateError | None:
    """Find the fault that Heat reports first in an output of a template that provides a type."""
    known = KEYS if version >= CONDITIONS_SINCE else KEYS[:2]
    at: Path = (SECTION, name)
    if entry and not isinstance(entry, Mapping):
        text = f'"outputs" must contain a map of output maps. Found a [{type(entry)}] instead'
        return TemplateError(text, at=at, code=OUTPUT_SHAPE)
    for key in entry or ():
        if key not in known:
            text = f'"{key}" is not a valid keyword inside a output definition'
            hint = suggestion(str(key), known)
            return TemplateError(text, at=(*at, key), code=OUTPUT_SHAPE, hint=hint)
    if "value" not in (entry or ()):
        return TemplateError("Each output must contain a value key.", at=at, code=OUTPUT_SHAPE)
    return None


def _find_shape_fault(name: Any, entry: Any, value: str) -> TemplateError | None:
    path = (SECTION, name)
    if not isinstance(name, str):
        text = f"The name of an output must be text, not {name!r}."
        return _make_fault(text, path, "TypeError", "Put the name in quotes.")
    if not isinstance(entry, Mapping):
        text = f"Output definitions must be a map. Found a {format_type_name(entry)} instead"
        return _make_fault(text, path)
    if "value" not in entry:
        hints = (suggestion(str(key), KEYS) for key in entry if key not in KEYS)
        text = f"Each output definition must contain a {value} key."
        return _make_fault(text, path, hint=next(filter(None, hints), ""))
    return None


def _parse_output(name: str, entry: Mapping[str, Any], parser: Parser) -> OutputNode:
    enabled = _evaluate_condition(name, entry, parser)
    value = entry["value"]
    tree = parser.parse(value, (SECTION, name, "value")) if enabled else None
    node = OutputNode(name, entry.get("description"), bool(enabled), tree)
    node.is_certain = enabled is not None
    return node


def _evaluate_condition(name: str, entry: Mapping[str, Any], parser: Parser) -> bool | None:
    """Evaluate the condition of an output; None where that depends on unknown values."""
    if entry.get("condition") is None:
        return True
    path = (SECTION, name, "condition")
    tree, faults = parser.parse_condition(entry["condition"], path)
    parser.errors.extend(faults)
    if faults:
        return False
    try:
        return evaluate_condition(tree, parser, path)
    except FollowUpError:
        return None
    except TemplateError as error:
        parser.errors.append(error)
        return False


def _make_fault(
    message: str, path: Path, heat_type: str | None = None, hint: str = ""
) -> TemplateError:
    return TemplateError(
        message,
        path=path,
        label="Output validation error",
        code=OUTPUT_SHAPE,
        heat_type=heat_type,
        hint=hint,
    )
