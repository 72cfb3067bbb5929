"""Name checks: no secret may become the name of a resource, which every list and log shows.

Called by ``StackDefinition`` when a template is checked, and by the engine with the values that are
known then. A key that the template spells out is no secret, whatever stands under it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from zonda.hooks.errors import TemplateError
from zonda.hooks.text.redaction import redact, secret_texts

from ..source.diagnostics import PROPERTY
from ..syntax.resource import ResourceNode
from .labels import OPEN, SensitivityAnalysis

__all__ = ["find_name_faults"]


def find_name_faults(
    node: ResourceNode,
    secrecy: SensitivityAnalysis,
    value_of: Callable[[str], Any],
    secrets: Callable[[], Iterable[Any]],
) -> Iterator[TemplateError]:
    """Find each property of ``node`` that would give its members a secret as their name.

    ``value_of``: the value of a property, as far as it is known. ``secrets``: values that are
    secret, of which no key may hold any.
    """
    for key in getattr(node.cls, "member_names_from", ()):
        if secrecy.classify_properties(node.name).get(key, OPEN) != OPEN:
            tree = node.properties[key] if isinstance(node.properties, Mapping) else None
            if _has_secret_names(
                tree, secrecy, secrecy.classify_literal(key), value_of(key), secrets
            ):
                yield _make_fault(node, key)


def _has_secret_names(
    tree: Any,
    secrecy: SensitivityAnalysis,
    literal: str,
    value: Any,
    secrets: Callable[[], Iterable[Any]],
) -> bool:
    if isinstance(tree, Mapping):
        return False
    if isinstance(tree, list):
        return bool(tree) and (literal != OPEN or any(secrecy.of(item) != OPEN for item in tree))
    if isinstance(value, Mapping):
        texts = secret_texts(secrets())
        return any(redact(str(key), texts) != str(key) for key in value)
    return isinstance(value, list | tuple) and bool(value)


def _make_fault(node: ResourceNode, key: str) -> TemplateError:
    return TemplateError(
        f"Property {key} would make names of what is secret",
        path=(*node.path, "properties", key),
        label="Property error",
        code=PROPERTY,
        hint="Names are shown everywhere. Spell the keys out in a map, with the secrets as values.",
    )
