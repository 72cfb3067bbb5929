"""Actions and their answers as JSON texts and back: the wire between two processes.

``to_json`` and ``from_json`` are each other's inverse. An answer is the accepted plan or the error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.template.source.bundle import Bundle
from zonda.hooks import errors
from zonda.hooks.errors import (
    CircularDependency,
    Place,
    Related,
    TemplateError,
    TemplateWarning,
    UsageError,
    UsageErrors,
    ValidationErrors,
    ZondaError,
)
from zonda.hooks.records import asdict, fields

from .base import Accepted, Action, Allowance, Caller
from .table import find_action_class

#: The attributes of errors that an answer has beside the class, the message and the hint.
_FIELDS = ("code", "heat_type", "label", "stage", "kind", "name", "delay")


def to_json(action: Any, caller: Caller | None = None) -> str:
    """The action as JSON text, with the ``caller`` who asks for it."""
    values = {item.name: getattr(action, item.name) for item in fields(action)}
    if isinstance(values.get("bundle"), Bundle):
        values["bundle"] = values["bundle"].to_json()
    return json.dumps(
        {"action": type(action).__name__, "asked by": (caller or Caller()).list_values(), **values}
    )


def from_json(text: str) -> Action:
    """The action that ``to_json`` wrote."""
    values = json.loads(text)
    values.pop("asked by", None)
    kind = find_action_class(values.pop("action"))
    if values.get("bundle") is not None:
        values["bundle"] = Bundle.from_json(values["bundle"])
    for item in fields(kind):
        if isinstance(values.get(item.name), list) and "tuple" in str(item.type):
            values[item.name] = tuple(values[item.name])
    made: Action = kind(**values)
    return made


def parse_caller(text: str) -> Caller:
    """The caller that ``to_json`` was given; raises KeyError or TypeError where it has none.

    Its allowance has no ``check_definition``.
    """
    values = json.loads(text)["asked by"]
    limits = values.pop("allowance", None)
    return Caller(**values, allowance=None if limits is None else Allowance(**limits))


def format_accepted(answer: Accepted) -> str:
    """The text of the answer to an action that was accepted."""
    warnings = None if answer.warnings is None else [*map(asdict, answer.warnings)]
    return json.dumps({"accepted": list_plan_values(answer), "warnings": warnings})


def list_plan_values(answer: Accepted) -> dict[str, Any]:
    """The accepted plan as JSON values, without warnings: an older zonda knows of none."""
    names = (item.name for item in fields(answer) if item.name != "warnings")
    return {name: getattr(answer, name) for name in names}


def format_error(error: BaseException) -> str:
    """The text of the answer to an action that was refused."""
    if not isinstance(error, ZondaError):
        name = type(error).__name__
        error = ZondaError(f"The engine failed: {name}.")
        error.heat_type = name
    return json.dumps({"error": error_to_dict(error)})


def parse_answer(text: str) -> Accepted:
    """Return the accepted plan of an answer, or raise the error that it holds."""
    said = json.loads(text)
    if "error" in said:
        raise parse_error(said["error"])
    warnings = said.get("warnings")
    known = None if warnings is None else tuple(map(_build_warning, warnings))
    return Accepted(**said["accepted"], warnings=known)


def error_to_dict(error: ZondaError) -> dict[str, Any]:
    """The error as JSON values."""
    classes = [each for each in type(error).__mro__ if issubclass(each, ZondaError)]
    found: dict[str, Any] = {
        # whoever does not know the class of a room or of a plug-in takes the one of hooks
        "class": next(each.__name__ for each in classes if each.__module__ == errors.__name__),
        "classes": [_name_class(each) for each in classes],
        "message": error.message,
        "hint": error.hint,
    }
    found.update({key: getattr(error, key) for key in _FIELDS if hasattr(error, key)})
    if isinstance(error, TemplateError):
        found["path"], found["at"] = error.path, error.at
        if error.place is not None:
            found["place"] = asdict(error.place)
        found["related"] = [asdict(each) for each in error.related]
        found["way"] = [asdict(each) for each in error.way]
        found["hides_source"] = error.hides_source
    if isinstance(error, CircularDependency):
        found["ring"] = error.ring
    if isinstance(error, (ValidationErrors, UsageErrors)):
        found["errors"] = [error_to_dict(each) for each in error.errors]
    if isinstance(error, ValidationErrors):
        found["warnings"] = [asdict(each) for each in error.warnings]
    return found


def parse_error(said: Mapping[str, Any]) -> ZondaError:
    """The error that ``error_to_dict`` was given."""
    if said["class"] == "UsageErrors":
        return UsageErrors([_build_usage_error(each) for each in said["errors"]])
    if "errors" in said:
        return ValidationErrors(
            [_build_template_error(each) for each in said["errors"]],
            [_build_warning(each) for each in said["warnings"]],
        )
    if "path" in said:
        return _build_template_error(said)
    error = _build_error(said)
    for key in _FIELDS:
        if key in said:
            setattr(error, key, said[key])
    return error


def _build_error(said: Mapping[str, Any]) -> ZondaError:
    """An error of the nearest class that this process knows, however that is made elsewhere."""
    cls = _find_class(said, ZondaError)
    error: ZondaError = ZondaError.__new__(cls)
    ZondaError.__init__(error, said["message"], hint=said["hint"])
    return error


def _find_class(said: Mapping[str, Any], base: type[Any]) -> type[Any]:
    known = {_name_class(each): each for each in _list_classes(base)}
    names = [*said.get("classes", ()), f"{errors.__name__}:{said['class']}"]
    return next((known[name] for name in names if name in known), base)


def _list_classes(base: type[Any]) -> Iterator[type[Any]]:
    yield base
    for each in base.__subclasses__():
        yield from _list_classes(each)


def _name_class(cls: type[Any]) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _build_template_error(said: Mapping[str, Any]) -> TemplateError:
    place = said.get("place")
    cls = _find_class(said, TemplateError)
    error: TemplateError = TemplateError.__new__(cls)
    TemplateError.__init__(
        error,
        said["message"],
        path=said["path"],
        label=said["label"],
        at=said["at"],
        place=None if place is None else Place(**place),
        code=said["code"],
        heat_type=said["heat_type"],
        hint=said["hint"],
    )
    if "stage" in said:
        error.stage = said["stage"]
    error.related = tuple(_build_related(each) for each in said["related"])
    error.way = tuple(_build_related(each) for each in said["way"])
    error.hides_source = said["hides_source"]
    if isinstance(error, CircularDependency):
        error.ring = tuple(said.get("ring", ()))
    return error


def _build_usage_error(said: Mapping[str, Any]) -> UsageError:
    return UsageError(said["message"], hint=said["hint"], code=said["code"])


def _build_warning(said: Mapping[str, Any]) -> TemplateWarning:
    place = said["place"]
    return TemplateWarning(
        said["code"],
        said["message"],
        tuple(said["path"]),
        None if place is None else Place(**place),
        said["hint"],
        tuple(_build_related(each) for each in said["related"]),
    )


def _build_related(said: Mapping[str, Any]) -> Related:
    place = said["place"]
    return Related(said["message"], None if place is None else Place(**place), tuple(said["at"]))
