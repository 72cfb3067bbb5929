"""The hidden texts in the files of a tree: defaults of hidden parameters, literals of hidden
properties.

A file is a template of a nested stack, maybe, and shown with its root. Found once per family.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.records import dataclass
from zonda.hooks.resources.resource import Resource

from ..source.bundle import Bundle
from ..source.document import get_section, load_data
from ..source.versions import KEYS
from .labels import has_hidden_part

_TYPES = r"""\b[tT]ype["']?\s*:\s*["']?([A-Za-z0-9_.:/-]+)"""
_TRUE = (True, 1, "true", "True", "TRUE", "yes", "on", "1", "t", "y")

#: The class behind a type that a resource has; raises TemplateError.
Resolve = Callable[[str, str], type[Resource]]


@dataclass(frozen=True, slots=True)
class HiddenInFiles:
    """``values``: by file and path. ``names``: of hidden parameters, for ``parameter_defaults``."""

    values: Mapping[tuple[str, Path], Any]
    names: frozenset[str]


def find_hidden_values(bundle: Bundle, resolve: Resolve) -> HiddenInFiles:
    """Find everything hidden in the files of a bundle; a file that is no template has nothing."""
    return _Search(bundle, resolve).run()


class _Search:
    def __init__(self, bundle: Bundle, resolve: Resolve) -> None:
        self._bundle = bundle
        self._resolve = resolve
        self._parsed: dict[str, Any] = {}
        self._by_type: dict[str, frozenset[str]] = {}

    def run(self) -> HiddenInFiles:
        values: dict[tuple[str, Path], Any] = {}
        names: set[str] = set()
        for file, text in self._bundle.files.items():
            if not _is_template(text):
                continue
            declared = self._list_hidden_parameters(file)
            names |= {*declared}
            for name, entry in declared.items():
                if "default" in entry:
                    values[file, ("parameters", name, "default")] = entry["default"]
            for path, value in self._find_literals(file, text):
                values[file, path] = value
        return HiddenInFiles(values, frozenset(names))

    def _load_data(self, file: str) -> Any:
        if file not in self._parsed:
            self._parsed[file] = load_data(self._bundle.files[file])
        return self._parsed[file]

    def _list_hidden_parameters(self, file: str) -> dict[str, Mapping[str, Any]]:
        """The hidden parameters of a template."""
        if not any(word in self._bundle.files[file] for word in ("hidden", "NoEcho")):
            return {}
        return {
            str(name): entry
            for name, entry in get_section(self._load_data(file), "parameters").items()
            if isinstance(entry, Mapping) and entry.get("hidden") in _TRUE
        }

    def _find_literals(self, file: str, text: str) -> Iterator[tuple[Path, Any]]:
        """Find the literal values of hidden properties."""
        hiding = {
            kind: keys
            for kind in set(re.findall(_TYPES, text))
            if (keys := self._look_up(kind, file))
        }
        if not any(key in text for keys in hiding.values() for key in keys):
            return
        for name, entry in get_section(self._load_data(file), "resources").items():
            kind = entry.get("type") if isinstance(entry, Mapping) else None
            given = entry.get("properties") if isinstance(kind, str) else None
            for key in hiding.get(str(kind), ()):
                if isinstance(given, Mapping) and key in given and not is_read(given[key]):
                    yield ("resources", name, "properties", key), given[key]

    def _look_up(self, kind: str, file: str) -> frozenset[str]:
        """List the hidden properties of a type; an unknown type has none."""
        key = self._bundle.key_of(file, kind)
        text = self._bundle.files.get(key)
        if text is not None and _is_template(text):
            return frozenset(self._list_hidden_parameters(key))
        named = kind if text is None else key  # a file that declares a type itself
        if named not in self._by_type:
            self._by_type[named] = self._resolve_hidden_properties(named, is_file=text is not None)
        return self._by_type[named]

    def _resolve_hidden_properties(self, kind: str, *, is_file: bool) -> frozenset[str]:
        if "::" not in kind and not is_file:
            return frozenset()  # the type of a parameter, mostly
        try:
            schemata = self._resolve(kind, "").properties_schema
        except TemplateError:
            return frozenset()
        return frozenset(key for key, schema in schemata.items() if has_hidden_part(schema))


def is_read(value: Any) -> bool:
    """Whether a property only names the source of its value."""
    names = [*value] if isinstance(value, Mapping) else []
    return len(names) == 1 and str(names[0]).startswith(("get_", "Ref", "Fn::GetAtt"))


def _is_template(text: str) -> bool:
    return any(key in text for key in KEYS)
