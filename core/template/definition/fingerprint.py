"""Fingerprints: texts that change with a resource's definition, but with no live value.

Called by the planner through ``StackDefinition.fingerprint``. What reads no resource stands there
resolved, so that a changed parameter shows where it matters and nowhere else; a call that reads a
resource stands as written, with the values of all else that it reads. The result holds secrets:
it is only ever stored as a keyed hash.
"""

from __future__ import annotations

import json
from typing import Any

from zonda.hooks.errors import TemplateError
from zonda.hooks.function import ABSENT, Function, ResolveScope, Source, sources
from zonda.hooks.text.json_encoder import make_encoder

from ..source.diagnostics import FAULTS
from ..source.document import find_value
from ..syntax.resource import SECTIONS, ResourceNode


def build_fingerprint(node: ResourceNode, data: Any, scope: ResolveScope) -> str:
    """The canonical text of a definition. ``data`` is the document's data."""
    entry: dict[str, Any] = {
        "type": node.type,
        "class": f"{node.cls.__module__}.{node.cls.__qualname__}",
        "deletion_policy": node.deletion_policy,
        "depends_on": sorted(node.depends_on),
        "external_id": _to_symbolic(node.external_id, data, scope),
    }
    for section in SECTIONS:
        entry[section] = _to_symbolic(getattr(node, section), data, scope)
    return format_canonical(entry)


_encode = make_encoder(sort_keys=True, separators=(",", ":"), default=repr)


def format_canonical(value: Any) -> str:
    """One text for equal values: sorted keys, no blanks. Keys keep their types."""
    try:
        return _encode(value)
    except TypeError:
        return json.dumps(_to_sortable(value), separators=(",", ":"), default=repr)


def _to_sortable(value: Any) -> Any:
    """Maps as sorted pairs, for keys of several types."""
    if isinstance(value, dict):
        pairs = ((f"{type(key).__name__}:{key}", _to_sortable(value[key])) for key in value)
        return {"map": sorted(pairs, key=lambda pair: pair[0])}
    if isinstance(value, list | tuple):
        return [_to_sortable(item) for item in value]
    return value


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _to_symbolic(tree: Any, data: Any, scope: ResolveScope) -> Any:
    kind = type(tree)
    if kind is str:
        return tree
    if kind is dict:
        return {
            key: item if type(item) in _SCALARS else _to_symbolic(item, data, scope)
            for key, item in tree.items()
        }
    if kind is list:
        return [
            item if type(item) in _SCALARS else _to_symbolic(item, data, scope) for item in tree
        ]
    return _describe_call(tree, data, scope) if isinstance(tree, Function) else tree


def _describe_call(call: Function, data: Any, scope: ResolveScope) -> Any:
    if call.name == "if":
        # Only the branch that was taken counts.
        return {"absent": True} if call.args is ABSENT else _to_symbolic(call.args, data, scope)
    read = list(sources(call))
    if any(source.kind in ("attr", "ref") for source in read):
        return {
            "call": call.name,
            "args": _to_symbolic(call.args, data, scope),
            "written": find_value(data, call.path),
            "reads": [_describe_source(source, scope) for source in read],
        }
    try:
        value = call.resolve(scope)
    except FAULTS as error:
        return {"fault": str(error)}
    return {"absent": True} if value is ABSENT else value


def _describe_source(source: Source, scope: ResolveScope) -> list[Any]:
    """A source, with its value unless it is a resource's."""
    shown: list[Any] = [source.kind, source.name, source.attribute, list(source.path)]
    try:
        if source.kind == "param":
            shown.append(scope.parameter(source.name))
        elif source.kind == "condition":
            shown.append(scope.condition(source.name))
        elif source.kind == "file":
            shown.append(scope.file(source.name))
    except TemplateError as error:
        shown.append(str(error))
    return shown
