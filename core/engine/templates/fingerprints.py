"""The hash by which a desired definition is compared with the present one.

Called by ``prepare`` before an operation and by ``preview`` for a plan that is only shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.core.store.values.sealing import Sealer
from zonda.core.template.definition.fingerprint import format_canonical
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import NestedStack
from zonda.hooks.resources.resource import Resource

from ..model.definition import Definition, Node


def compute_fingerprint(sealer: Sealer, node: Node) -> str:
    """The stored hash of a definition."""
    return sealer.hmac(node.fingerprint.encode())


def compute_hash(
    sealer: Sealer,
    definition: Definition,
    resolved: ResourceDefinition,
    cls: type[Resource],
    wanted: Callable[[], Resource],
    marked_by: Definition | None = None,
) -> str:
    """The keyed hash of ``resolved``, a resource of ``definition``; ``wanted`` makes an instance.

    Of the owner of a nested stack the templates count, too, that this is made from. ``marked_by``:
    whose marks of secrets count, where those of ``definition`` are only known later.
    """
    text = format_canonical(definition_to_dict(resolved))
    if issubclass(cls, NestedStack):
        target = wanted()
        assert isinstance(target, NestedStack)
        types, properties = target.member_types(), resolved.properties
        text += definition.build_signature(resolved.name, types, properties, marked_by)
    return sealer.hmac(text.encode())


DEFINITION_KEYS = (
    "type",
    "properties",
    "metadata",
    "deletion_policy",
    "update_policy",
    "depends_on",
    "external_id",
    "description",
)


def definition_to_dict(definition: ResourceDefinition) -> dict[str, Any]:
    """A definition for a column."""
    values = {key: getattr(definition, key) for key in DEFINITION_KEYS}
    values["depends_on"] = list(definition.depends_on)
    return values
