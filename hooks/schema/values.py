"""Converts template values to typed ones: defaults, nested schemas, constraints.

Called by ``properties`` only. Null is kept where nothing was given; the empty values that
plug-ins see are put in afterwards by ``filled``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from ..context import ResourceContext
from ..errors import Path, TemplateError
from ..records import dataclass, replace
from ..text.suggestions import closest
from .constraints import Constraint, ConstraintNotFound, NotChecked
from .conversion import to_number
from .property import Schema

LABEL: Final = "Property error"

#: Codes, stable for ever: a value of the wrong kind, a name that is not declared, one that is
#: missing, a value that breaks a constraint, a property that nobody has implemented.
WRONG_KIND: Final = "ZON140"
UNKNOWN_NAME: Final = "ZON141"
NOT_ASSIGNED: Final = "ZON142"
BROKEN_RULE: Final = "ZON143"
NOT_IMPLEMENTED: Final = "ZON144"
NO_SUCH_RULE: Final = "ZON134"
#: Codes of warnings: a rule that cannot be asked now, a resource that does less than it says, two
#: that make one thing.
NOT_CHECKED: Final = "ZON616"
WITHOUT_EFFECT: Final = "ZON617"
SAME_THING: Final = "ZON618"


def build_property_error(
    message: str,
    path: Path,
    at: Path | None = None,
    *,
    code: str = WRONG_KIND,
    hint: str = "",
) -> TemplateError:
    """An error about a property, in Heat's words."""
    return TemplateError(message, path=path, at=at, label=LABEL, code=code, hint=hint)


@dataclass(slots=True)
class Reading:
    """The mode of reading values: faults are raised where ``faults`` is None, else collected.

    ``checks``: constraints and unknown names are looked at too. ``hidden``: no fault may quote a
    value.
    """

    context: ResourceContext | None = None
    faults: list[TemplateError] | None = None
    checks: bool = False
    hidden: bool = False

    def fault(
        self,
        message: str,
        path: Path,
        at: Path | None = None,
        *,
        code: str = WRONG_KIND,
        hint: str = "",
        discreet: str = "",
    ) -> None:
        """Note a fault, or raise it."""
        error = build_property_error(message, path, at, code=code, hint=hint)
        error.discreet = discreet
        if self.faults is None:
            raise error
        self.faults.append(error)


def convert_fields(
    fields: Mapping[str, Schema],
    given: Mapping[Any, Any],
    path: Path,
    reading: Reading,
    pending: Collection[str] = (),
    written: Collection[Any] = (),
) -> dict[str, Any]:
    """A value for every name in ``fields``: given, default or null.

    Of the values of ``pending``, which wait for other resources, only the type is checked.
    ``written``: the names in the template, also those that an ``if`` leaves without a value.
    """
    if reading.checks:
        _refuse_unknown(fields, given, path, reading)
    values = {}
    for name, schema in fields.items():
        how = replace(reading, checks=False) if name in pending else reading
        if name in given:
            values[name] = convert(schema, given[name], (*path, name), how)
            if not schema.implemented:
                text = f"Property {name} not implemented yet"
                reading.fault(text, path, (*path, name), code=NOT_IMPLEMENTED)
        else:
            values[name] = get_missing_value(name, schema, path, how, name in written)
    return values


def _refuse_unknown(
    fields: Mapping[str, Schema], given: Mapping[Any, Any], path: Path, reading: Reading
) -> None:
    for name in given:
        if name not in fields:
            reading.fault(
                f"Unknown Property {name}",
                path,
                (*path, str(name)),
                code=UNKNOWN_NAME,
                hint=_suggest(name, fields),
            )


def _suggest(name: Any, fields: Mapping[str, Schema]) -> str:
    """The hint for a name that is not declared: the closest one that is, and what it means."""
    found = closest(name, fields)
    return f"Did you mean {found}? {fields[found].summary}".rstrip() if found else ""


def get_missing_value(
    name: str, schema: Schema, path: Path, reading: Reading, written: bool = False
) -> Any:
    """The value of a property that was not given: its default or null.

    ``written``: its name stands in the template, and a fault points at it.
    """
    if schema.default is not None:
        settled = schema.settled
        if settled is None:
            settled = schema.settled = _convert_default(schema)
        if settled:
            return settled[0]
        return convert(schema, None, (*path, name), reading)
    if schema.required:
        text = f"Property {name} not assigned"
        where = (*path, name) if written else path
        reading.fault(text, where, code=NOT_ASSIGNED, hint=schema.summary)
    return None


def _convert_default(schema: Schema) -> tuple[Any, ...]:
    """The default in its type as a tuple of one, where it is plain and valid; else ()."""
    if type(schema.default) not in (str, int, float, bool) or schema.constraints:
        return ()
    try:
        value = _CONVERTERS[schema.type](schema, schema.default, (), Reading())
    except (TemplateError, ValueError, TypeError, OverflowError):
        return ()
    return () if isinstance(value, list | dict) else (value,)


def convert(schema: Schema, value: Any, path: Path, reading: Reading) -> Any:
    """``value`` in the type of ``schema``; a given null becomes the default or the empty value."""
    if value is None:
        value = schema.default_value()
        if value is None:
            value = schema.empty()
    if schema.hidden and not reading.hidden:
        reading = replace(reading, hidden=True)
    wrong = ""
    try:
        converted = _CONVERTERS[schema.type](schema, value, path, reading)
    except (ValueError, TypeError, OverflowError) as error:
        wrong = (
            _format_hidden_fault(f"is not a valid {schema.type}") if reading.hidden else str(error)
        )
    if wrong:
        # Outside of the except clause, so that a hidden value does not hang on as the context.
        reading.fault(wrong, path, hint=schema.summary)
        return None
    if reading.checks:
        for constraint in schema.constraints:
            _check_constraint(constraint, schema, converted, path, reading)
    return converted


def _check_constraint(
    constraint: Constraint, schema: Schema, value: Any, path: Path, reading: Reading
) -> None:
    try:
        constraint.validate(value, schema, reading.context)
        return
    except (ValueError, TypeError) as error:
        code = NO_SUCH_RULE if isinstance(error, ConstraintNotFound) else BROKEN_RULE
        code = NOT_CHECKED if isinstance(error, NotChecked) else code
        text, hint, discreet = (
            str(error),
            getattr(error, "hint", ""),
            getattr(error, "discreet", ""),
        )
    if reading.hidden:
        discreet = discreet or _format_hidden_fault(f"breaks its {constraint.keyword}")
        text, hint = discreet, ""
    meaning = "" if code == NOT_CHECKED else schema.summary  # nothing is wrong, as far as is known
    reading.fault(text, path, code=code, hint=hint or meaning, discreet=discreet)


def _format_hidden_fault(fault: str) -> str:
    return f"The value is hidden and {fault}"


def _to_integer(schema: Schema, value: Any, path: Path, reading: Reading) -> int:
    try:
        number = int(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"Value '{value}' is not an integer") from error
    return int(_require_finite(number))


def _to_number(schema: Schema, value: Any, path: Path, reading: Reading) -> Any:
    return _require_finite(to_number(value))


def _require_finite(number: Any) -> Any:
    """``number``, if plug-ins can compute with it; raises ValueError."""
    try:
        if math.isfinite(number):
            return number
    except OverflowError:
        pass
    raise ValueError(f"Value '{str(number)[:40]}' is not a number of at most 308 digits")


def _to_string(schema: Schema, value: Any, path: Path, reading: Reading) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    raise ValueError(f"Value must be a string; got {value!r}")


def _to_boolean(schema: Schema, value: Any, path: Path, reading: Reading) -> bool:
    if isinstance(value, bool):
        return value
    word = value.lower() if isinstance(value, str) else ""
    if word not in ("true", "false"):
        raise ValueError(f'"{value}" is not a valid boolean')
    return word == "true"


def _to_map(schema: Schema, value: Any, path: Path, reading: Reading) -> Any:
    if not isinstance(value, Mapping):
        if schema.allow_conversion and isinstance(value, str):
            return value
        if schema.allow_conversion and isinstance(value, Sequence):
            return json.dumps(value)
        raise TypeError(f'"{value}" is not a map')
    if not schema.fields:
        return dict(value)
    return convert_fields(schema.fields, value, path, reading)


def _to_list(schema: Schema, value: Any, path: Path, reading: Reading) -> list[Any]:
    if schema.allow_conversion and isinstance(value, str):
        value = value.split(",") if value else []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f'"{value!r}" is not a list')
    if schema.items is None:
        return list(value)
    item = schema.items
    return [convert(item, each, (*path, index), reading) for index, each in enumerate(value)]


def _to_any(schema: Schema, value: Any, path: Path, reading: Reading) -> Any:
    return value


_CONVERTERS: Final[dict[str, Callable[[Schema, Any, Path, Reading], Any]]] = {
    Schema.INTEGER: _to_integer,
    Schema.NUMBER: _to_number,
    Schema.STRING: _to_string,
    Schema.BOOLEAN: _to_boolean,
    Schema.MAP: _to_map,
    Schema.LIST: _to_list,
    Schema.ANY: _to_any,
}


def fill_null(schema: Schema, value: Any) -> Any:
    """``value`` for a plug-in: the empty value of the type where it is null."""
    if value is None:
        return schema.empty()
    if schema.schema is None:
        return value
    if schema.items is not None:
        return [fill_null(schema.items, each) for each in value]
    if isinstance(value, dict):
        return {name: fill_null(inside, value[name]) for name, inside in schema.fields.items()}
    return value


def remove_nulls(schema: Schema, value: Any) -> Any:
    """``value`` without the names inside it that a schema declares and nobody gave."""
    if isinstance(value, list) and schema.items is not None:
        return [remove_nulls(schema.items, each) for each in value]
    if isinstance(value, dict) and schema.fields:
        given = {name: each for name, each in value.items() if each is not None}
        return {name: remove_nulls(schema.fields[name], each) for name, each in given.items()}
    return value
