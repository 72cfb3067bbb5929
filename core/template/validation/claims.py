"""The claims of a template's resources on things outside, and the warning of one that two have.

Each would make, change and remove what the other has made. Called by ``resource`` for each resource
without a fault; a template that stands for a resource has claims of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from zonda.hooks.errors import Path, Related, TemplateError
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.values import SAME_THING

from ..syntax.resource import ResourceNode


class Claims:
    """The claims of one template, by type and text."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[str, Path]] = {}

    def find_faults(self, node: ResourceNode, resource: Resource) -> Iterator[TemplateError]:
        """Yield the warning that another resource has the same claim."""
        if type(resource).describe_claim is Resource.describe_claim:
            return
        claim = resource.describe_claim()
        if not claim:
            return
        other, path = self._found.setdefault((node.type, claim), (node.name, node.path))
        if other == node.name:
            return
        fault = TemplateError(
            f"It is the same thing as the resource {other}",
            path=node.path,
            code=SAME_THING,
            hint="Each changes what the other has made, and the first that goes removes it: keep "
            "one of them.",
        )
        fault.related = (Related(f"{other} makes it, too", at=path),)
        yield fault
