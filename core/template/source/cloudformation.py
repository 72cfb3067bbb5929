"""Templates in CloudFormation's notation, read as HOT ones.

Called by ``document``. Sections and keys get the names that HOT has for them; values stay as they
are, since the functions of these versions stand in the function table. A fault of the outer shape
is reported from the template as written.
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


def to_cfn_name(name: str) -> str:
    """The name in CloudFormation of a section or a key of HOT: ``depends_on`` is ``DependsOn``."""
    return "".join(part.capitalize() for part in name.split("_"))


#: The names in CloudFormation of the types of parameters.
_TYPES = ("string", "number", "comma_delimited_list", "json", "boolean")
WRITTEN_TYPES = {name: to_cfn_name(name) for name in _TYPES}
_PARAMETER_KEYS = (
    *map(to_cfn_name, _KEYS[PARAMETERS]),
    *(key for _, keys in _RULES for key in keys),
    _NO_ECHO,
    _DESCRIBED,
)


def find_version_key(data: Any) -> str | None:
    """Find the key with the version of this notation; None for what is HOT or nothing."""
    if not isinstance(data, Mapping) or not any(key in data for key in CFN_DATES):
        return None
    named = [key for key in (KEY, *CFN_DATES) if isinstance(data.get(key), str)]
    return named[0] if len(named) == 1 and named[0] != KEY else None


def to_hot(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Convert a template whose version stands under ``key`` to the names of HOT."""
    made: dict[str, Any] = {key: data[key]}
    if key == AWS_KEY and to_cfn_name(_CONDITIONS) in data:
        made[_CONDITIONS] = data[to_cfn_name(_CONDITIONS)]
    for section in _SECTIONS:
        if to_cfn_name(section) not in data:
            continue
        entries = data[to_cfn_name(section)]
        if section in _KEYS and isinstance(entries, Mapping):
            keys = [each for each in _KEYS[section] if each != "condition" or key == AWS_KEY]
            read = _convert_parameter if section == PARAMETERS else _convert_entry
            entries = {name: read(entry, keys) for name, entry in entries.items()}
        made[section] = entries
    return made


def _convert_entry(entry: Any, keys: list[str]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    return {key: entry[to_cfn_name(key)] for key in keys if to_cfn_name(key) in entry}


def _convert_parameter(entry: Any, keys: list[str]) -> Any:
    made = _convert_entry(entry, keys)
    if not isinstance(entry, Mapping):
        return made
    types = {written: name for name, written in WRITTEN_TYPES.items()}
    if "type" in made:
        made["type"] = types.get(str(made["type"]), made["type"])
    if str(entry.get(_NO_ECHO)).lower() == "true":
        made["hidden"] = True
    described = {"description": entry[_DESCRIBED]} if entry.get(_DESCRIBED) is not None else {}
    rules = [
        {kind: _convert_rule(keys, entry)} for kind, keys in _RULES if any(k in entry for k in keys)
    ]
    if rules:
        made["constraints"] = [{**rule, **described} for rule in rules]
    return made


def _convert_rule(keys: tuple[str, ...], entry: Mapping[str, Any]) -> Any:
    if len(keys) == 1:
        return entry[keys[0]]
    return {bound: entry.get(key) for bound, key in zip(("min", "max"), keys, strict=True)}


def find_invalid_parameters(data: Any, key: str | None) -> dict[str, SchemaError]:
    """Find parameters with keys or types that this notation does not know; errors by name.

    ``data``: the template as written, with its version under ``key``; None for a HOT one.
    """
    found: dict[str, SchemaError] = {}
    section = None if key is None else data.get(to_cfn_name(PARAMETERS))
    for name, entry in section.items() if isinstance(section, Mapping) else ():
        at = (PARAMETERS, name)
        for key in entry if isinstance(entry, Mapping) else ():
            if key not in _PARAMETER_KEYS:
                text = f"Invalid key '{key}' for parameter ({name})"
                hint = suggestion(str(key), _PARAMETER_KEYS)
                found.setdefault(name, SchemaError(text, at=(*at, key), hint=hint))
        kind = entry.get("Type") if isinstance(entry, Mapping) else None
        if kind in WRITTEN_TYPES:  # HOT's name
            hint = f"Did you mean {to_cfn_name(str(kind))}?"
            text = f"Invalid type ({kind})"
            found.setdefault(name, SchemaError(text, at=(*at, "type"), hint=hint))
    return found


def find_section_faults(data: Mapping[str, Any], key: str) -> Iterator[TemplateError]:
    """Yield faults of sections that this notation lacks, and of resources without a type."""
    conditions = (_CONDITIONS,) if key == AWS_KEY else ()
    known = (*CFN_DATES, *map(to_cfn_name, (*_SECTIONS, *conditions)))
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


def to_text_path(path: Path) -> Path:
    """Convert a path in the HOT form to the path in the text."""
    section = path[0] if path else None
    if section not in (*_SECTIONS, _CONDITIONS):
        return path
    made = (to_cfn_name(str(section)), *path[1:])
    if section not in _KEYS or len(path) < 3:
        return made
    key = path[2]
    if key == "hidden":
        return (*made[:2], _NO_ECHO)
    if key == "constraints" and section == PARAMETERS:
        return made[:2]
    return (*made[:2], to_cfn_name(str(key)) if key in _KEYS[str(section)] else key, *path[3:])
