"""Warnings about types, properties and attributes that are no longer meant to be used, and about
keys in a property that nobody reads.

Called by ``linter``. What the status is, plug-ins say in their ``SupportStatus``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks import support
from zonda.hooks.errors import Path, TemplateWarning
from zonda.hooks.function import sources
from zonda.hooks.schema.property import Schema
from zonda.hooks.schema.support import SupportStatus

from ..dependencies.references import find_reading_call
from ..source.diagnostics import suggestion
from ..syntax.outputs import OutputNode
from ..syntax.resource import SECTIONS, ResourceNode

#: Codes, stable for ever.
OLD_TYPE = "ZON605"
OLD_PROPERTY = "ZON606"
OLD_ATTRIBUTE = "ZON607"
IGNORED_KEY = "ZON611"

_WORDS = {
    support.DEPRECATED: "is deprecated",
    support.HIDDEN: "is obsolete and hidden",
    support.UNSUPPORTED: "is not supported",
}


def list_warnings(
    resources: Mapping[str, ResourceNode], outputs: Mapping[str, OutputNode]
) -> Iterator[TemplateWarning]:
    """Yield a warning for every use of what is deprecated, hidden or unsupported."""
    for node in resources.values():
        status = node.cls.support_status
        if status.status in _WORDS:
            yield _make_warning(OLD_TYPE, f"The type {node.type}", status, (*node.path, "type"))
        at = (*node.path, "properties")
        yield from _list_property_warnings(
            node.cls.properties_schema, node.raw.get("properties"), at
        )
        for section in SECTIONS:
            yield from _list_attribute_warnings(getattr(node, section), resources)
    for output in outputs.values():
        yield from _list_attribute_warnings(output.value, resources)


def _list_property_warnings(
    schema: Mapping[str, Schema], given: Any, path: Path
) -> Iterator[TemplateWarning]:
    for name, value in given.items() if isinstance(given, Mapping) else ():
        entry = schema.get(name)
        if entry is None:
            continue
        at = (*path, name)
        if entry.support_status.status in _WORDS:
            yield _make_warning(OLD_PROPERTY, f"The property {name}", entry.support_status, at)
        keys = entry.known_keys
        for key in value if keys and isinstance(value, Mapping) else ():
            if key not in keys:
                text = f"The key {key} of {name} is not looked at"
                yield TemplateWarning(IGNORED_KEY, text, (*at, key), hint=suggestion(key, keys))
        yield from _list_property_warnings(entry.fields, value, at)
        items = entry.items
        if items is not None and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _list_property_warnings(items.fields, item, (*at, index))


def _list_attribute_warnings(
    tree: Any, resources: Mapping[str, ResourceNode]
) -> Iterator[TemplateWarning]:
    for source in dict.fromkeys(sources(tree)):
        node = resources.get(source.name) if source.kind == "attr" else None
        schema = node.cls.attributes_schema.get(source.attribute or "") if node else None
        if schema is not None and schema.support_status.status in _WORDS:
            call = find_reading_call(tree, source)
            what = f"The attribute {source.attribute} of {source.name}"
            at = () if call is None else call.path
            yield _make_warning(OLD_ATTRIBUTE, what, schema.support_status, at)


def _make_warning(code: str, what: str, status: SupportStatus, path: Path) -> TemplateWarning:
    since = f" since {status.version}" if status.version else ""
    return TemplateWarning(
        code, f"{what} {_WORDS[status.status]}{since}", path, hint=status.message or ""
    )
