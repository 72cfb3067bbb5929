"""The live state of the types of Heat that tell none, or less than the service knows.

Heat asks a service for what an update may change. What else it tells by the name of a property is
added here; for types that tell nothing at all ``observers`` has questions. Called by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from zonda.hooks import OpaqueState

from heat.engine.resource import Resource

from .live import is_nothing, match_template
from .observers import ADDITIONS, OBSERVERS

#: The properties by type whose names mean something else in the service.
_OTHERWISE: Final[Mapping[str, frozenset[str]]] = {
    "Net": frozenset({"shared"}),
    "HostAggregate": frozenset({"metadata"}),
}


def tell(heat: Any) -> dict[str, Any] | None:
    """The live state in the template's words; None where the type cannot tell.

    Of a thing whose template leaves everything open, and of one that the template only refers to
    (``external_id``), is known no more than that it is there.
    """
    kind = type(heat)
    own = kind.get_live_state is not Resource.get_live_state
    asks = kind.get_live_resource_data is not Resource.get_live_resource_data
    has_client = heat.entity and heat.default_client_name
    if not (own or asks or has_client or kind.__name__ in OBSERVERS):
        return None
    if heat.external_id is not None:  # it has no properties, which could differ
        return OpaqueState({}, in_sync=True) if heat.get_live_resource_data() else None
    live = heat.get_live_state(heat.properties) if own else observe(heat)
    rules = heat.translation_rules(heat.properties) or ()
    if not live:
        return None
    found = match_template(live, heat.properties.get, rules)
    if not found and all(map(is_nothing, heat.properties.values())):
        return OpaqueState({}, in_sync=True)
    return found


def observe(heat: Any) -> dict[str, Any]:
    """The properties as they are, by Heat's own type and by what is known of it here.

    Raises EntityNotFound where the thing is gone.
    """
    kind = type(heat).__name__
    own = OBSERVERS.get(kind)
    if own is not None:
        return own(heat)
    data = heat.get_live_resource_data()
    if data is None:
        return {}
    found = dict(heat.parse_live_resource_data(heat.properties, data) or {})
    if isinstance(data, Mapping):
        for name in heat.properties:
            if name not in found and name not in _OTHERWISE.get(kind, ()):
                found.update(_read_plain(data, name))
    more = ADDITIONS.get(kind)
    return {**found, **more(heat, data)} if more is not None else found


def _read_plain(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    for key in (name, f"{name}_id"):
        if isinstance(data.get(key), str | int | float):
            return {name: data[key]}
    return {}
