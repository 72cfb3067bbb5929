"""The arguments of a read: JSON values, checked against the annotations of its function."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.engine import actions
from zonda.core.engine.actions import Action
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import UsageError
from zonda.hooks.records import fields

from ..service.project import Project

#: Larger integers fit in no column of the database.
_LARGEST = 2**53


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) in (str, int) for each in value)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and abs(value) < _LARGEST


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value.values()))


def _is_map_of_maps(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text_map, value.values()))


def _is_map_of_types(value: Any) -> bool:
    return _is_map_of_maps(value) and all({*each} == {"file", "text"} for each in value.values())


def _is_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text_list(each) and len(each) == 2 for each in value)


#: Whether a value fits, by the entry of a bundle.
_OF_BUNDLES: dict[str, Callable[[Any], bool]] = {
    "template": _is_text,
    "template_file": _is_text,
    "environment": lambda value: value is None or _is_text(value),
    "environment_files": _is_pairs,
    "parameters": lambda value: isinstance(value, Mapping),
    "parameters_win": lambda value: isinstance(value, bool),
    "files": _is_text_map,
    "links": _is_map_of_maps,
    "types": _is_map_of_types,
}
#: Whether a value fits, by the annotation of an action's field.
_OF_ACTIONS: dict[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "bool": lambda value: isinstance(value, bool),
    "int": _is_integer,
    "float": lambda value: type(value) in (int, float),
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(map(_is_text, value)),
    "Mapping[str, Any]": lambda value: isinstance(value, Mapping),
    "Bundle": lambda value: isinstance(value, Bundle),
}
#: (what it is called, whether a JSON value is one) by annotation.
_PLAIN: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("a text", _is_text),
    "int": ("an integer", _is_integer),
    "float": ("a number", lambda value: type(value) in (int, float)),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "list[str]": ("a list of texts", _is_text_list),
    "Path": ("a path, a list of texts and integers", _is_path),
}


def parse_action(text: str) -> Action:
    """The action of a JSON text as ``actions.to_json`` writes it; raises UsageError."""
    try:
        values = json.loads(text)
        if values.get("bundle") is not None:
            _parse_bundle(values["bundle"])
        action = actions.from_json(text)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError("The action cannot be read.") from error
    for item in fields(action):  # type: ignore[arg-type]  # all actions are dataclasses
        kind, bar, _ = str(item.type).partition(" | ")
        value = getattr(action, item.name)
        if kind in _OF_ACTIONS and not (value is None and bar) and not _OF_ACTIONS[kind](value):
            raise UsageError(f"The action's {item.name} must be {kind}.")
    return action


def _parse_bundle(value: Any) -> Bundle:
    """The bundle of a JSON value that ``Bundle.to_json`` wrote; raises UsageError."""
    if not isinstance(value, Mapping):
        raise UsageError("A bundle must be a map.")
    for name, given in value.items():
        if name not in _OF_BUNDLES or not _OF_BUNDLES[name](given):
            raise UsageError(f"The bundle's {name[:40]} cannot be read.")
    if "template" not in value:
        raise UsageError("The bundle has no template.")
    return Bundle.from_json({"environment_files": [], **value})


def parse_arguments(function: Callable[..., Any], project: Project, body: Any) -> dict[str, Any]:
    """The arguments of ``function`` after its first one, the project; raises UsageError.

    A stack is given by its id; one of another project is not there.
    """
    if not isinstance(body, Mapping):
        raise UsageError("The body must be a map of arguments.")
    expected = [*inspect.signature(function).parameters.values()][1:]
    unknown = [name for name in body if name not in {each.name for each in expected}]
    if unknown:
        raise UsageError(f"There is no argument {unknown[0]}.")
    found = {}
    for each in expected:
        if each.name in body:
            found[each.name] = _parse_value(project, each, body[each.name])
        elif each.default is each.empty:
            raise UsageError(f"The argument {each.name} is missing.")
    return found


def _parse_value(project: Project, parameter: inspect.Parameter, value: Any) -> Any:
    kind, bar, rest = str(parameter.annotation).partition(" | ")
    if value is None and bar and rest == "None":
        return None
    if kind == "Bundle":
        bundle = _parse_bundle(value)
        project.check_bundle(bundle)
        return bundle
    if kind in ("StackView", "Action"):
        if not isinstance(value, str):
            raise UsageError(f"The argument {parameter.name} must be a text.")
        return project.find_stack(value).stack if kind == "StackView" else parse_action(value)
    name, fits = _PLAIN[kind]
    if not fits(value):
        raise UsageError(f"The argument {parameter.name} must be {name}.")
    return tuple(value) if kind == "Path" else value
