"""Nested templates in CloudFormation's notation, as Heat allows them, read as HOT ones.

Called by ``Family`` for every file. The oldest HOT version has the same functions; sections and
keys have other names. A stack's own template is HOT.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import Path, Place, TemplateError

from .faults import SECTION, near
from .source import Document
from .versions import DATES, KEY

_VERSIONS = ("HeatTemplateFormatVersion", "AWSTemplateFormatVersion")
#: Sections, and the keys in each entry of them.
_SECTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "Parameters": (
        "parameters",
        {"Type": "type", "Default": "default", "Description": "description", "NoEcho": "hidden"},
    ),
    "Resources": (
        "resources",
        {
            "Type": "type",
            "Properties": "properties",
            "Metadata": "metadata",
            "DependsOn": "depends_on",
            "DeletionPolicy": "deletion_policy",
            "UpdatePolicy": "update_policy",
            "Description": "description",
        },
    ),
    "Outputs": ("outputs", {"Value": "value", "Description": "description"}),
}
_OTHERS = ("Description", "Mappings", *_VERSIONS)
_TYPES = {
    "String": "string",
    "Number": "number",
    "CommaDelimitedList": "comma_delimited_list",
    "Json": "json",
    "Boolean": "boolean",
}
#: Rules of a parameter: the constraint, and the key in it where it has several.
_RULES = {
    "AllowedValues": ("allowed_values", ""),
    "AllowedPattern": ("allowed_pattern", ""),
    "MinLength": ("length", "min"),
    "MaxLength": ("length", "max"),
    "MinValue": ("range", "min"),
    "MaxValue": ("range", "max"),
}
_PSEUDO = {
    "AWS::StackName": "OS::stack_name",
    "AWS::StackId": "OS::stack_id",
}
_REGION = "ap-southeast-1"


class CfnDocument(Document):
    """A document whose data is HOT's while its text is not."""

    def place(self, path: Path, *, key: bool = False) -> Place | None:
        """Where the value at ``path`` of the data stands in the text."""
        return super().place(_in_text(path), key=key)


def read(document: Document) -> Document:
    """``document``, or what it says in HOT; raises TemplateError for a section that HOT lacks."""
    data = document.data
    if not isinstance(data, Mapping) or not any(key in data for key in _VERSIONS):
        return document
    made = CfnDocument(document.text, document.file, {}, repeated=document.repeated)
    for section in data:
        if section not in _SECTIONS and section not in _OTHERS:
            raise TemplateError(
                f"The template section is invalid: {section}",
                at=(section,),
                place=document.place((section,), key=True),
                code=SECTION,
                hint=near(section, _SECTIONS),
            )
    made.data = _translated(data)
    return made


def _translated(data: Mapping[str, Any]) -> dict[str, Any]:
    mappings = data.get("Mappings")
    made: dict[str, Any] = {KEY: DATES[0]}
    if "Description" in data:
        made["description"] = data["Description"]
    for section, (name, keys) in _SECTIONS.items():
        entries = data.get(section)
        if entries is None:
            continue
        if isinstance(entries, Mapping):
            entries = {each: _entry(entries[each], keys, mappings) for each in entries}
        made[name] = entries
    return made


def _entry(entry: Any, keys: Mapping[str, str], mappings: Any) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    made = {
        keys.get(key, key): _tree(value, mappings)
        for key, value in entry.items()
        if key not in (*_RULES, "ConstraintDescription") or "NoEcho" not in keys
    }
    return made if "NoEcho" not in keys else _parameter(made, entry)


def _parameter(made: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    made["type"] = _TYPES.get(str(made.get("type")), made.get("type"))
    if "hidden" in made:
        made["hidden"] = str(made["hidden"]).lower() == "true"
    rules: dict[str, Any] = {}
    for key, (rule, part) in _RULES.items():
        if key in entry and part:
            rules.setdefault(rule, {})[part] = entry[key]
        elif key in entry:
            rules[rule] = entry[key]
    if rules:
        told = entry.get("ConstraintDescription")
        more = {} if told is None else {"description": told}
        made["constraints"] = [{rule: value, **more} for rule, value in rules.items()]
    return made


def _tree(tree: Any, mappings: Any) -> Any:
    """A value with the functions that HOT calls otherwise."""
    if isinstance(tree, list):
        return [_tree(item, mappings) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        ((name, args),) = tree.items()
        if name == "Fn::GetAtt":
            return {"get_attr": _tree(args.split(".", 1) if isinstance(args, str) else args, None)}
        if name == "Ref" and isinstance(args, str) and args in _PSEUDO:
            return {"get_param": _PSEUDO[args]}
        if name == "Ref" and args == "AWS::Region":
            return _REGION
        if name == "Fn::FindInMap" and isinstance(args, list) and len(args) == 3:
            return _found_in_map(args, mappings)
    return {key: _tree(value, mappings) for key, value in tree.items()}


def _found_in_map(args: list[Any], mappings: Any) -> Any:
    """The value of two keys of a mapping, each of which may be a call."""
    name, first, second = (_tree(each, mappings) for each in args)
    found = mappings.get(name) if isinstance(mappings, Mapping) and isinstance(name, str) else None
    return {"Fn::Select": [second, {"Fn::Select": [first, found or {}]}]}


def _in_text(path: Path) -> Path:
    """A path in the data as a path in the text."""
    for section, (name, keys) in _SECTIONS.items():
        if path[:1] == (name,):
            written = {hot: cfn for cfn, hot in keys.items()}
            return (
                section,
                *path[1:2],
                *(written.get(str(item), item) for item in path[2:3]),
                *path[3:],
            )
    return path
