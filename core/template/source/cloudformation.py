"""Templates in CloudFormation's notation, read as HOT ones.

``source`` hands every template here. Sections and keys get the names that HOT has for them; values
stay as they are, since the functions of these versions stand in the function table. What is wrong
with the outer shape is told from the template as written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, SchemaError, TemplateError

from .diagnostics import RESOURCE_SHAPE, RESOURCE_TYPE, SECTION, suggestion
from .versions import AWS_KEY, CFN_DATES, KEY

MAPPINGS = "mappings"
PARAMETERS = "parameters"
_RULES = (
    ("range", ("MinValue", "MaxValue")),
    ("length", ("MinLength", "MaxLength")),
    ("allowed_values", ("AllowedValues",)),
    ("allowed_pattern", ("AllowedPattern",)),
)
#: The keys in each entry of a section, in HOT.
_KEYS = {
    PARAMETERS: ("type", "default", "description", "label"),
    "resources": (
        "type",
        "properties",
        "metadata",
        "depends_on",
        "deletion_policy",
        "update_policy",
        "description",
        "condition",
    ),
    "outputs": ("value", "description", "condition"),
}
_SECTIONS = ("description", MAPPINGS, *_KEYS)
_CONDITIONS = "conditions"
_NO_ECHO, _DESCRIBED = "NoEcho", "ConstraintDescription"


def word(name: str) -> str:
    """What CloudFormation calls a section or a key of HOT: ``depends_on`` is ``DependsOn``."""
    return "".join(part.capitalize() for part in name.split("_"))


#: What CloudFormation calls the types of parameters.
_TYPES = ("string", "number", "comma_delimited_list", "json", "boolean")
WRITTEN_TYPES = {name: word(name) for name in _TYPES}
_PARAMETER_KEYS = (
    *map(word, _KEYS[PARAMETERS]),
    *(key for _, keys in _RULES for key in keys),
    _NO_ECHO,
    _DESCRIBED,
)


def version_key(data: Any) -> str | None:
    """The key that says which version of this notation it is; None for what is HOT or nothing."""
    if not isinstance(data, Mapping) or not any(key in data for key in CFN_DATES):
        return None
    named = [key for key in (KEY, *CFN_DATES) if isinstance(data.get(key), str)]
    return named[0] if len(named) == 1 and named[0] != KEY else None


def in_hot(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A template whose version stands under ``key``, with the names that HOT has."""
    made: dict[str, Any] = {key: data[key]}
    if key == AWS_KEY and word(_CONDITIONS) in data:
        made[_CONDITIONS] = data[word(_CONDITIONS)]
    for section in _SECTIONS:
        if word(section) not in data:
            continue
        entries = data[word(section)]
        if section in _KEYS and isinstance(entries, Mapping):
            keys = [each for each in _KEYS[section] if each != "condition" or key == AWS_KEY]
            read = _parameter if section == PARAMETERS else _entry
            entries = {name: read(entry, keys) for name, entry in entries.items()}
        made[section] = entries
    return made


def _entry(entry: Any, keys: list[str]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    return {key: entry[word(key)] for key in keys if word(key) in entry}


def _parameter(entry: Any, keys: list[str]) -> Any:
    made = _entry(entry, keys)
    if not isinstance(entry, Mapping):
        return made
    types = {written: name for name, written in WRITTEN_TYPES.items()}
    if "type" in made:
        made["type"] = types.get(str(made["type"]), made["type"])
    if str(entry.get(_NO_ECHO)).lower() == "true":
        made["hidden"] = True
    described = {"description": entry[_DESCRIBED]} if entry.get(_DESCRIBED) is not None else {}
    rules = [{kind: _rule(keys, entry)} for kind, keys in _RULES if any(k in entry for k in keys)]
    if rules:
        made["constraints"] = [{**rule, **described} for rule in rules]
    return made


def _rule(keys: tuple[str, ...], entry: Mapping[str, Any]) -> Any:
    if len(keys) == 1:
        return entry[keys[0]]
    return {bound: entry.get(key) for bound, key in zip(("min", "max"), keys, strict=True)}


def refused(data: Any, key: str | None) -> dict[str, SchemaError]:
    """By name, the parameters that have keys or types which this notation does not know.

    ``data``: the template as written, with its version under ``key``; None for a HOT one.
    """
    found: dict[str, SchemaError] = {}
    section = None if key is None else data.get(word(PARAMETERS))
    for name, entry in section.items() if isinstance(section, Mapping) else ():
        at = (PARAMETERS, name)
        for key in entry if isinstance(entry, Mapping) else ():
            if key not in _PARAMETER_KEYS:
                text = f"Invalid key '{key}' for parameter ({name})"
                hint = suggestion(str(key), _PARAMETER_KEYS)
                found.setdefault(name, SchemaError(text, at=(*at, key), hint=hint))
        kind = entry.get("Type") if isinstance(entry, Mapping) else None
        if kind in WRITTEN_TYPES:  # HOT's name
            hint = f"Did you mean {word(str(kind))}?"
            text = f"Invalid type ({kind})"
            found.setdefault(name, SchemaError(text, at=(*at, "type"), hint=hint))
    return found


def check_sections(data: Mapping[str, Any], key: str) -> Iterator[TemplateError]:
    """Sections that this notation does not have, and resources without a type."""
    conditions = (_CONDITIONS,) if key == AWS_KEY else ()
    known = (*CFN_DATES, *map(word, (*_SECTIONS, *conditions)))
    for section in data:
        if section not in known:
            text = f"The template section is invalid: {section}"
            yield TemplateError(text, at=(section,), code=SECTION, hint=suggestion(section, known))
    resources = data.get("Resources")
    for name, entry in resources.items() if isinstance(resources, Mapping) else ():
        at = ("resources", name)
        if entry and not isinstance(entry, Mapping):
            text = f"Resources must contain Resource. Found a [{type(entry)}] instead"
            yield TemplateError(text, at=at, code=RESOURCE_SHAPE)
        elif not entry or "Type" not in entry:
            text = "Each Resource must contain a Type key."
            yield TemplateError(text, at=at, code=RESOURCE_TYPE)


def in_text(path: Path) -> Path:
    """A path in the HOT form as the path in the text."""
    section = path[0] if path else None
    if section not in (*_SECTIONS, _CONDITIONS):
        return path
    made = (word(str(section)), *path[1:])
    if section not in _KEYS or len(path) < 3:
        return made
    key = path[2]
    if key == "hidden":
        return (*made[:2], _NO_ECHO)
    if key == "constraints" and section == PARAMETERS:
        return made[:2]
    return (*made[:2], word(str(key)) if key in _KEYS[str(section)] else key, *path[3:])
