"""File references: the names of files in a document's data; nothing is read.

Called by ``attachments``. A name may stand in a call of ``get_file``, as a type, in an
environment's registry, among the members of a chain, or in the value of a parameter that ends up
in one of these places.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from zonda.hooks.errors import Path

from ..source.document import may_contain
from ..types.registry_rules import (
    BASE_URL,
    HOOKS,
    RESOURCES,
    RESTRICTED,
    TEMPLATE_SUFFIXES,
    is_template,
)
from ..types.registry_rules import SECTION as REGISTRY

_GET_FILE = "get_file"
_TYPE = "type"
_PROPERTIES = "properties"
_CHAIN = "OS::Heat::ResourceChain"
_PARAMETERS, _DEFAULTS, _DEFAULT = "parameters", "parameter_defaults", "default"
#: No value has names of files deeper than this.
_DEEPEST = 20


class Reference(NamedTuple):
    """A file's name in a document. ``base``: what it is relative to, if not the document.

    ``optional``: it may mean something else, and is left alone where there is no such template.
    """

    key: str
    at: Path
    template: bool
    base: str = ""
    optional: bool = False


def may_name_files(text: str) -> bool:
    """Whether ``find_template_files`` can find any in the document of a text; a quick test."""
    return may_contain(text, _GET_FILE, *TEMPLATE_SUFFIXES)


def find_template_files(data: Any) -> Iterator[Reference]:
    """Find arguments of ``get_file``, types that are files, and members of chains."""
    yield from _find_template_files(data, (), set())


def _find_template_files(tree: Any, path: Path, seen: set[int]) -> Iterator[Reference]:
    if not isinstance(tree, dict | list) or id(tree) in seen:
        return
    seen.add(id(tree))
    if isinstance(tree, dict) and isinstance(tree.get(_PROPERTIES), Mapping):
        yield from _find_member_files(tree, (*path, _PROPERTIES, RESOURCES))
    for key, item in enumerate(tree) if isinstance(tree, list) else tree.items():
        here = (*path, key)
        if not isinstance(item, str):
            yield from _find_template_files(item, here, seen)
        elif key == _GET_FILE and len(tree) == 1:
            yield Reference(item, here, template=False)
        elif key == _TYPE and is_template(item):
            yield Reference(item, here, template=True)


def _find_member_files(resource: Mapping[str, Any], path: Path) -> Iterator[Reference]:
    """Files that a chain has for members; another type's property of that name may be anything."""
    members = resource[_PROPERTIES].get(RESOURCES)
    certain = resource.get(_TYPE) == _CHAIN and isinstance(members, list)
    for text, at in _find_template_names(members, path):
        literal = certain and len(at) == len(path) + 1
        yield Reference(text, at, template=True, optional=not literal)


def is_dynamic(data: Any) -> bool:
    """Whether a template may take the name of a template from a value."""
    return isinstance(data, Mapping) and _is_dynamic(data.get(RESOURCES), 0)


def _is_dynamic(tree: Any, depth: int) -> bool:
    if depth > _DEEPEST or not isinstance(tree, dict | list):
        return False
    if isinstance(tree, list):
        return any(_is_dynamic(item, depth + 1) for item in tree)
    if isinstance(tree.get(_TYPE), dict):
        return True
    properties = tree.get(_PROPERTIES)
    if isinstance(properties, Mapping) and isinstance(properties.get(RESOURCES), dict | list):
        return True
    return any(_is_dynamic(item, depth + 1) for item in tree.values())


def find_value_files(data: Any) -> Iterator[Reference]:
    """Find names of templates in parameter values: of a template, or of an environment."""
    for section in (_PARAMETERS, _DEFAULTS):
        values = data.get(section) if isinstance(data, Mapping) else None
        for name, value in values.items() if isinstance(values, Mapping) else ():
            path: Path = (section, name)
            if isinstance(value, Mapping) and _TYPE in value and section == _PARAMETERS:
                value, path = value.get(_DEFAULT), (*path, _DEFAULT)
            for text, at in _find_template_names(value, path):
                yield Reference(text, at, template=True, optional=True)


def _find_template_names(value: Any, path: Path, depth: int = 0) -> Iterator[tuple[str, Path]]:
    """Find texts that name templates, in data, in JSON, or between commas."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict | list):
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            yield from _find_template_names(item, (*path, key), depth + 1)
    elif isinstance(value, str):
        yield from ((text, path) for text in _split_names(value, depth) if is_template(text))


def _split_names(text: str, depth: int) -> Iterator[str]:
    if text.lstrip().startswith(("[", "{")):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return
        yield from (name for name, _ in _find_template_names(data, (), depth + 1))
    else:
        yield from (part.strip() for part in text.split(","))


def find_registry_files(data: Any) -> Iterator[Reference]:
    """Find the templates in an environment's registry; of a list, every template in it."""
    registry = data.get(REGISTRY) if isinstance(data, Mapping) else None
    if not isinstance(registry, Mapping):
        return
    base = _find_base(registry, "")
    yield from _find_target_files(registry, (REGISTRY,), base)
    resources = registry.get(RESOURCES)
    yield from _find_level_files(resources, (REGISTRY, RESOURCES), base, 0)


def _find_level_files(levels: Any, path: Path, base: str, depth: int) -> Iterator[Reference]:
    """Find the files below names of resources, those of nested stacks included."""
    if not isinstance(levels, Mapping) or depth > _DEEPEST:
        return
    for name, lines in levels.items():
        if isinstance(lines, Mapping):
            own = _find_base(lines, base)
            yield from _find_target_files(lines, (*path, name), own)
            yield from _find_level_files(lines, (*path, name), own, depth + 1)


def _find_base(lines: Mapping[str, Any], inherited: str) -> str:
    base = lines.get(BASE_URL)
    return f"{base.rstrip('/')}/" if isinstance(base, str) and base else inherited


def _find_target_files(lines: Mapping[str, Any], path: Path, base: str) -> Iterator[Reference]:
    for name, value in lines.items():
        if name in (RESOURCES, HOOKS, RESTRICTED, BASE_URL):
            continue
        several = isinstance(value, list)
        for index, target in enumerate(value if several else [value]):
            if isinstance(target, str) and is_template(target):
                at = (*path, name, index) if several else (*path, name)
                yield Reference(target, at, template=True, base=base)
