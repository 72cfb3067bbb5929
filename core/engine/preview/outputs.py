"""The changes of a stack's outputs, parameters and settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment.drift_section import OFF
from zonda.core.template.evaluation.unknown_values import UNKNOWN, evaluate_partially
from zonda.hooks.text.borders import raise_interruption

from ..diff.changes import NOTHING, Change, compare_marked, compare_values
from ..diff.sections import max_mark
from ..plugins.reasons import OPEN
from ..plugins.redaction import describe_output_error


def list_output_changes(
    before: Any, after: Any, old_values: Any, new_values: Any
) -> Iterator[Change]:
    """The outputs that change. ``before`` and ``after``: definitions or None."""
    old = {} if before is None else before.outputs
    new = {} if after is None else after.outputs
    for name in dict.fromkeys((*old, *new)):
        mark, was, will = OPEN, NOTHING, NOTHING
        if name in old:
            mark = old[name].secrecy
            was = _resolve_or_message(before, old[name], old_values)
        if name in new:
            mark = max_mark(mark, new[name].secrecy)
            will = _resolve_or_message(after, new[name], new_values)
        yield from compare_marked(was, will, (name,), mark)


def resolve_output(definition: Any, node: Any, values: Any) -> tuple[Any, BaseException | None]:
    """The value of an output, partly unknown where needed; the error, where it has none."""
    if not node.enabled:
        return (None if node.is_certain else UNKNOWN), None
    scope = definition.scope(values)
    scope.begin()
    try:
        return evaluate_partially(node.value, scope), None
    except BaseException as error:  # a plug-in may raise anything when it is asked
        raise_interruption(error)
        return None, error


def _resolve_or_message(definition: Any, node: Any, values: Any) -> Any:
    """The value; the error's text where it has none."""
    value, error = resolve_output(definition, node, values)
    if error is None:
        return value
    return f"error: {describe_output_error(error, definition)}"


def list_parameter_changes(before: Any, after: Any) -> Iterator[Change]:
    """The parameters whose values change."""
    if after is None:
        return
    old = {} if before is None else before.parameters.values
    later = dict.fromkeys(after.parameters.unknown & after.schemas.keys(), UNKNOWN)
    new = {**after.parameters.values, **later}
    for name in dict.fromkeys((*old, *new)):
        marks = (each.classify_parameter(name) for each in (before, after) if each is not None)
        mark = reduce(max_mark, marks)
        was, will = old.get(name, NOTHING), new.get(name, NOTHING)
        yield from compare_marked(was, will, (name,), mark)


def list_setting_changes(stack: StackRow, changed: Mapping[str, object]) -> Iterator[Change]:
    """The changes of the stack's settings: timeout, rollback, tags, description, policies."""
    if not stack.generation:
        return
    for name, read in _SETTINGS.items():
        if name in changed:
            was, will = (
                _omit_empty(read(value)) for value in (getattr(stack, name), changed[name])
            )
            yield from compare_values(was, will, (name,))


def _omit_empty(value: Any) -> Any:
    return NOTHING if value in ("", {}) else value


def _read_policies(text: Any) -> Any:
    """The policies without past protections, which are no change."""
    known = json.loads(text) if text else {}
    return {key: value for key, value in known.items() if value and key != "before"}


_SETTINGS: Mapping[str, Callable[[Any], Any]] = {
    "description": lambda value: value,
    "timeout_mins": lambda value: value,
    "disable_rollback": bool,
    "tags": json.loads,
    "policies": _read_policies,
    "drift_schedule": lambda value: value,
    "drift_policy": lambda value: "" if value == OFF else value,
}
