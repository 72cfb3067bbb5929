"""The schemas of a type, made from the interface of a module.

Pure; called by ``types`` and by the check of all modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from zonda.hooks import SchemaError, TranslationRule, attributes, constraints, properties

_Schema = properties.Schema
_Attribute = attributes.Schema

#: Ansible's types of options. One that is not here takes anything, as ``raw`` does.
_TYPES: Final = {
    "str": _Schema.STRING,
    "path": _Schema.STRING,
    "sid": _Schema.STRING,
    "pkcs11": _Schema.STRING,
    "int": _Schema.INTEGER,
    "integer": _Schema.INTEGER,
    "float": _Schema.NUMBER,
    "bool": _Schema.BOOLEAN,
    "boolean": _Schema.BOOLEAN,
    "list": _Schema.LIST,
    "dict": _Schema.MAP,
}
_RETURNED: Final = {
    "str": _Attribute.STRING,
    "string": _Attribute.STRING,
    "path": _Attribute.STRING,
    "int": _Attribute.NUMBER,
    "integer": _Attribute.NUMBER,
    "float": _Attribute.NUMBER,
    "bool": _Attribute.BOOLEAN,
    "boolean": _Attribute.BOOLEAN,
    "list": _Attribute.LIST,
    "dict": _Attribute.MAP,
    "dictionary": _Attribute.MAP,
}
#: Values with which no list of choices means anything else.
_WORDS: Final = {True: ("yes", "on", "true"), False: ("no", "off", "false")}
_LONGEST: Final = 1500

Option = Mapping[str, Any]


def make_properties_schema(interface: Mapping[str, Any]) -> dict[str, properties.Schema]:
    """The properties of a module: its options, and other names of them; raises SchemaError."""
    return dict(_list_fields(interface["options"], top=True))


def make_attributes_schema(interface: Mapping[str, Any]) -> dict[str, attributes.Schema]:
    """The attributes of a module: what it returns."""
    return {
        name: _Attribute(
            _shorten(found["description"]) or "What the module returns under this name.",
            type=_RETURNED.get(found["type"]),
            hidden=found["no_log"],
        )
        for name, found in interface["returns"].items()
    }


def list_alias_rules(options: Mapping[str, Option], *path: str) -> Iterator[TranslationRule]:
    """Rules that move what is given under another name to the option's own."""
    for name, option in options.items():
        for alias in option["aliases"]:
            if alias not in options:
                yield TranslationRule(
                    None, TranslationRule.REPLACE, [*path, name], value_name=alias
                )
        yield from list_alias_rules(option.get("options") or {}, *path, name)


def _list_fields(
    options: Mapping[str, Option], *, top: bool
) -> Iterator[tuple[str, properties.Schema]]:
    for name, option in options.items():
        try:
            yield name, _make_schema(option, top=top)
        except SchemaError as error:
            raise SchemaError(f"the option {name}: {error}") from error
        for alias in option["aliases"]:
            if alias not in options:
                made = _make_schema({**option, "required": False, "default": None}, top=top)
                made.description = f"Another name of `{name}`."
                made.alias_of = name
                yield alias, made


def _make_schema(option: Option, *, top: bool) -> properties.Schema:
    kind = _TYPES.get(option["type"], _Schema.ANY)
    inside: Any = None
    fields = option.get("options")
    if fields and kind == _Schema.MAP:
        inside = dict(_list_fields(fields, top=False))
    elif kind == _Schema.LIST:
        inside = _make_item(option)
    known = _list_choices(option, kind)
    return _Schema(
        kind,
        _describe(option, top=top),
        # Inside a map the module itself knows its defaults: what is not given is not sent.
        default=_convert_default(option, kind, known) if top and not option["required"] else None,
        schema=inside,
        required=option["required"],
        constraints=[constraints.AllowedValues(known)] if known else [],
        update_allowed=True,
        allow_conversion=kind == _Schema.LIST,  # Ansible takes `a,b` for a list, too
        hidden=option["no_log"],
    )


def _make_item(option: Option) -> properties.Schema | None:
    """The schema of a list's items; None where they may be anything."""
    kind = _TYPES.get(str(option["elements"] or ""))
    if kind is None or kind == _Schema.LIST:
        return None
    fields = option.get("options") if kind == _Schema.MAP else None
    inside = dict(_list_fields(fields, top=False)) if fields else None
    return _Schema(kind, _describe(option, top=True), schema=inside, update_allowed=True)


def _list_choices(option: Option, kind: str) -> list[Any]:
    """The choices in the type of the option; none where it takes anything of its type."""
    if kind in (_Schema.BOOLEAN, _Schema.MAP):
        return []
    item = _TYPES.get(str(option["elements"] or ""), _Schema.ANY)
    return [*_convert_choices(option["choices"], item if kind == _Schema.LIST else kind)]


def _convert_choices(choices: Sequence[Any], kind: str) -> Iterator[Any]:
    for choice in choices:
        if kind == _Schema.STRING and isinstance(choice, bool):
            yield from _WORDS[choice]  # YAML had read `yes` as a boolean
        elif kind == _Schema.STRING:
            yield str(choice)
        elif kind == _Schema.INTEGER:
            yield int(choice)
        else:
            yield choice


def _convert_default(option: Option, kind: str, known: Sequence[Any]) -> Any:
    """The default, for people; None where it is not of the option's own type."""
    default = option["default"]
    wanted: Any = {
        _Schema.STRING: str,
        _Schema.INTEGER: int,
        _Schema.NUMBER: (int, float),
        _Schema.BOOLEAN: bool,
        _Schema.LIST: list,
    }.get(kind)
    fits = wanted is not None and isinstance(default, wanted)
    if not fits or (isinstance(default, bool) and kind != _Schema.BOOLEAN):
        return None
    values = default if isinstance(default, list) else [default]
    return default if not known or all(each in known for each in values) else None


def _describe(option: Option, *, top: bool) -> str:
    said = _shorten(option["description"]) or "What it means is documented nowhere."
    if not top and option["default"] not in (None, ""):
        said = f"{said} Default: {option['default']}."
    return said


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
