"""Edges that a plug-in adds to a stack's graph. ``Resource.add_dependencies`` is given these.

What a template refers to is in the graph already; this is for the rare type that must wait for a
resource which it does not name. Nothing exists yet when it is asked: it looks at what the template
says and at nothing else, and gives the same answer for the same template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..cached_property import cached_property
from ..errors import ResourceFailure


class Neighbour:
    """Another resource of the same template.

    ``type`` is as the template has it, ``resource_class`` what it stands for.
    """

    def __init__(
        self,
        name: str,
        type_name: str,
        resource_class: type[Any],
        properties: Callable[[], Mapping[str, Any]],
    ) -> None:
        self.name = name
        self.type = type_name
        self.resource_class = resource_class
        self._read = properties

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        """The properties in the template: a reference is the other's name, an attribute null."""
        return self._read()

    def __repr__(self) -> str:
        return f"Neighbour({self.name!r}, {self.type!r})"


class Dependencies:
    """The edges that one resource adds; ``owner`` is its name.

    ``neighbours`` are the other enabled resources by name, in template order.
    """

    def __init__(self, owner: str, neighbours: Mapping[str, Neighbour]) -> None:
        self.owner = owner
        self.neighbours = neighbours
        self.added: list[tuple[str, str]] = []

    def require(self, other: Any) -> None:
        """This resource waits for ``other`` (a neighbour or its name), and goes before it."""
        self._add(self.owner, _get_name(other))

    def precede(self, other: Any) -> None:
        """``other`` waits for this resource."""
        self._add(_get_name(other), self.owner)

    def __iadd__(self, edge: tuple[Any, Any]) -> Dependencies:
        """``deps += (dependant, requirement)``, as plug-ins for Heat write it."""
        dependant, requirement = edge
        self._add(_get_name(dependant), _get_name(requirement))
        return self

    def _add(self, dependant: str, requirement: str) -> None:
        for name in (dependant, requirement):
            if name != self.owner and name not in self.neighbours:
                raise ResourceFailure(f"There is no resource {name} to depend on")
        if dependant == requirement:
            raise ResourceFailure(f"{dependant} cannot wait for itself")
        self.added.append((dependant, requirement))


def _get_name(thing: Any) -> str:
    """The name of a neighbour, of a resource, or the name itself."""
    name = getattr(thing, "name", thing)
    if not isinstance(name, str):
        raise ResourceFailure(f"{thing!r} is no resource to depend on")
    return name
