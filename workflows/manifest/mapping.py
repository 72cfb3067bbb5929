"""The mapping language of manifests: how properties become input, and outputs become attributes.

A value is plain data in which a map with one of these keys alone is a call::

    {get_property: size}      {get_property: [tags, colour]}     a property, or what is inside it
    {get_output: path}        {get_output: [disk, 0, id]}        the outputs of the workflows so far
    {get_resource: id}        of the resource: see INFO
    {list_join: [":", [...]]} texts put together
    {secret: env:NAME}        {secret: file:PATH}                put in when it is sent

What leads nowhere is null. ``faults`` judges a mapping when the manifest is read, ``evaluate``
works it out. Pure; knows no resource.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from zonda.hooks import closest, suggestion

from ..resources.workflow_call import What

PROPERTY, OUTPUT, RESOURCE, JOIN, SECRET = (
    "get_property",
    "get_output",
    "get_resource",
    "list_join",
    "secret",
)
CALLS = (PROPERTY, OUTPUT, RESOURCE, JOIN, SECRET)
#: The facts of a resource besides its properties.
INFO = ("id", "name", "physical_id", "type", "unique_name", "stack_id", "stack_name", "project")
_KINDS = ("env", "file")

Steps = tuple[str | int, ...]
#: The place of a fault in a mapping, the fault, and what was probably meant.
Fault = tuple[Steps, str, str]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The calls that a mapping may use. ``properties``: their names."""

    properties: Collection[str]
    calls: Collection[str] = CALLS


@dataclass(slots=True)
class Sources:
    """The values that calls read. ``secrets`` collects those that are only inserted when sent."""

    properties: Mapping[str, Any] = field(default_factory=dict, repr=False)
    outputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    info: Mapping[str, Any] = field(default_factory=dict)
    secrets: list[tuple[Steps, What]] = field(default_factory=list)


def find_call(value: Any) -> tuple[str, Any] | None:
    """The name and the argument of a call; None for plain data."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, argument),) = value.items()
        if name in CALLS:
            return name, argument
    return None


def evaluate(value: Any, sources: Sources, at: Steps = ()) -> Any:
    """``value`` with its calls evaluated; a secret is null, and noted with its place."""
    call = find_call(value)
    if call is not None:
        return _evaluate_call(*call, sources, at)
    if isinstance(value, Mapping):
        return {str(key): evaluate(item, sources, (*at, str(key))) for key, item in value.items()}
    if isinstance(value, list):
        return [evaluate(item, sources, (*at, index)) for index, item in enumerate(value)]
    return value


def _evaluate_call(name: str, argument: Any, sources: Sources, at: Steps) -> Any:
    if name == SECRET:
        sources.secrets.append((at, str(argument)))
        return None
    if name == RESOURCE:
        return sources.info.get(str(argument))
    if name == JOIN:
        glue, items = argument
        return _evaluate_join(glue, items, sources, at)
    first, *rest = argument if isinstance(argument, list) else [argument]
    known = sources.properties if name == PROPERTY else sources.outputs
    found = known.get(first)
    for step in rest:
        found = _follow_step(found, step)
    return found


def _evaluate_join(glue: Any, items: Any, sources: Sources, at: Steps) -> Any:
    """The joined text; null, and noted like a secret, where it has any in it."""
    inside = Sources(sources.properties, sources.outputs, sources.info)
    worked_out = evaluate(items, inside)
    texts = worked_out if isinstance(worked_out, list) else [worked_out]
    if not inside.secrets:
        return str(glue).join(_to_text(item) for item in texts if item is not None)
    at_index = {path[0] if path else 0: what for path, what in inside.secrets}
    parts: list[str | dict[str, str]] = []
    for index, item in enumerate(texts):
        what = at_index.get(index)
        if what is None and item is None:
            continue
        parts += [str(glue)] if parts else []
        if what is None:
            parts.append(_to_text(item))
        else:
            parts += [{SECRET: what}] if isinstance(what, str) else what
    sources.secrets.append((at, parts))
    return None


def _follow_step(value: Any, step: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get(str(step))
    if isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        return value[step]
    return None


def _to_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def list_properties(value: Any) -> Iterator[str]:
    """The names of the properties that a mapping reads."""
    for argument in _list_arguments(value, PROPERTY):
        yield str(argument[0] if isinstance(argument, list) else argument)


def list_outputs(value: Any) -> Iterator[str]:
    """The names of the outputs that a mapping reads."""
    for argument in _list_arguments(value, OUTPUT):
        yield str(argument[0] if isinstance(argument, list) else argument)


def list_secrets(value: Any) -> Iterator[str]:
    """The secrets that a mapping names."""
    yield from map(str, _list_arguments(value, SECRET))


def _list_arguments(value: Any, name: str) -> Iterator[Any]:
    """The arguments of all calls of ``name``."""
    call = find_call(value)
    if call is not None and call[0] == name:
        yield call[1]
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _list_arguments(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _list_arguments(item, name)


def list_faults(value: Any, allowed: Allowed, at: Steps = ()) -> Iterator[Fault]:
    """The faults of a mapping, each with its place in it."""
    call = find_call(value)
    if call is not None:
        yield from _list_call_faults(*call, allowed, at)
    elif isinstance(value, Mapping):
        yield from _list_misspelt_calls(value, at)
        for key, item in value.items():
            yield from list_faults(item, allowed, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from list_faults(item, allowed, (*at, index))
    elif not _is_json_scalar(value):
        yield at, f"{value!r} is nothing that can be sent", "Write text, a number, true or false."


def _is_json_scalar(value: Any) -> bool:
    """Whether JSON has such a scalar."""
    if isinstance(value, float):
        return isfinite(value)
    return value is None or isinstance(value, str | int)


def _list_misspelt_calls(value: Mapping[Any, Any], at: Steps) -> Iterator[Fault]:
    """A fault for a map of one key that is nearly a call."""
    if len(value) != 1:
        return
    (key,) = value
    if isinstance(key, str) and (key.startswith("get_") or closest(key, CALLS, 0.85)):
        told = suggestion(key, CALLS) or f"There are {', '.join(CALLS)}."
        yield (*at, key), f"{key} is no call of a mapping", told


def _list_call_faults(name: str, argument: Any, allowed: Allowed, at: Steps) -> Iterator[Fault]:
    here = (*at, name)
    if name not in allowed.calls:
        yield here, f"{name} cannot be used here", f"There are {', '.join(allowed.calls)}."
    elif name == JOIN:
        yield from _list_join_faults(argument, allowed, here)
    elif name == SECRET:
        kind, _, rest = argument.partition(":") if isinstance(argument, str) else ("", "", "")
        if kind not in _KINDS or not rest:
            yield here, f"{argument!r} names no secret", "Write env:NAME or file:PATH."
    elif name == RESOURCE:
        if argument not in INFO:
            told = suggestion(argument, INFO) or f"There are {', '.join(INFO)}."
            yield here, f"{argument!r} is nothing that is known of a resource", told
    else:
        yield from _list_path_faults(name, argument, allowed, here)


def _list_join_faults(argument: Any, allowed: Allowed, at: Steps) -> Iterator[Fault]:
    if not (isinstance(argument, list) and len(argument) == 2 and isinstance(argument[0], str)):
        yield at, "list_join takes a text and a list", 'For example: {list_join: ["-", [a, b]]}.'
        return
    yield from list_faults(argument[1], allowed, (*at, 1))
    items = argument[1] if isinstance(argument[1], list) else [argument[1]]
    for index, item in enumerate(items):
        if find_call(item) is None and isinstance(item, Mapping | list) and any(list_secrets(item)):
            hint = "Put the secret itself into the list."
            yield (*at, 1, index), "A secret inside data cannot be joined to a text", hint


def _is_step(step: Any) -> bool:
    return isinstance(step, str | int) and not isinstance(step, bool)


def _list_path_faults(name: str, argument: Any, allowed: Allowed, at: Steps) -> Iterator[Fault]:
    steps = argument if isinstance(argument, list) else [argument]
    if not steps or not isinstance(steps[0], str) or not all(_is_step(step) for step in steps):
        yield at, f"{name} takes a name, or a list of names and indices", ""
    elif name == PROPERTY and steps[0] not in allowed.properties:
        told = suggestion(steps[0], allowed.properties)
        yield at, f"There is no property {steps[0]}", told or "It is declared under properties."
