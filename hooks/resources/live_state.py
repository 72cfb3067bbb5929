"""The results of ``get_live_state``, and their comparison with what was sent.

Part of the API of plug-ins. The one comparison of drift checks, ``stack check`` and adoption: what
a handler or a runner was sent, defaults among it, against what was observed. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..errors import NotFound, Path, ResourceFailure
from ..records import dataclass, field
from ..schema.properties import Properties, Schema, is_same_value

if TYPE_CHECKING:
    from .resource import Resource

#: A number as JSON writes it. Python would also read "1_0" and " 10".
_NUMBER: Final = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z"

#: The end of the texts of a failed check.
_REPAIR: Final = "The next stack update puts it right."


class OpaqueState(dict[str, Any]):
    """The live state of something of which only is known whether it is as it should be.

    What differs, where it is not (``in_sync``), nobody can tell: no property is shown for it.
    ``reason``: a sentence for people. ``repair_from``: properties in a state from which an update
    would lead to what the template says; a repair hands them to the type as what was observed.
    """

    def __init__(self, repair_from: Mapping[str, Any], *, in_sync: bool, reason: str = "") -> None:
        super().__init__(repair_from)
        self.in_sync = in_sync
        self.reason = reason or "it is not as it should be, and nothing tells in what"


class Partial(dict[str, Any]):
    """The live value of a map of which only these keys were observed, whatever else it has.

    A map whose schema names its keys need not be one: a key that is left out was not observed.
    """


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of the sent with the live properties.

    ``sent``: the properties that a handler or a runner was given, defaults among them. ``live``:
    the same names as they were observed; what was not is as it was sent. ``differing``: the names
    that differ. ``unobserved``: the paths to what was sent and not observed.
    """

    sent: Mapping[str, Any] = field(repr=False)
    live: Mapping[str, Any] = field(repr=False)
    differing: tuple[str, ...]
    unobserved: tuple[Path, ...]

    @property
    def is_blind(self) -> bool:
        """Whether nothing was observed of all that was sent."""
        return bool(self.sent) and {(name,) for name in self.sent} <= set(self.unobserved)


def check_live_state(resource: Resource, unquoted: Collection[str] = ()) -> None:
    """Raise ResourceFailure unless all is as it was sent: a ``handle_check`` by ``get_live_state``.

    The text names each property that differs, with both values unless it is one of ``unquoted``.
    """
    try:
        live = resource.get_live_state()
    except NotFound as error:
        raise ResourceFailure(f"The {error.kind} {error.name} is gone. {_REPAIR}") from error
    if live is None:
        raise ResourceFailure(f"What there is of {resource.resource_id} was not observed")
    found = compare_live_state(resource.properties, live)
    differing = [
        name if name in unquoted else f"{name} ({found.sent[name]} -> {found.live[name]})"
        for name in found.differing
    ]
    if differing:
        names = ", ".join(differing)
        raise ResourceFailure(f"{resource.resource_id} has changed: {names}. {_REPAIR}")


def compare_live_state(properties: Properties, live: Mapping[str, Any]) -> Comparison:
    """Compare ``live``, the result of ``get_live_state``, with the properties that were sent."""
    sent = properties.get_sent_values()
    unobserved: list[Path] = []
    found = _merge_observed_map(properties.props, sent, live, (), unobserved)
    differing = (name for name in sorted(sent) if not is_same_value(sent[name], found[name]))
    return Comparison(sent, found, tuple(differing), tuple(sorted(unobserved, key=str)))


def _merge_observed_map(
    fields: Mapping[str, Schema],
    sent: Mapping[str, Any],
    live: Mapping[str, Any],
    path: Path,
    unobserved: list[Path],
) -> dict[str, Any]:
    """A map as it was observed. A property that was not sent is left out."""
    found = {**sent, **live}
    if fields:
        others = fields if path else ()
        found = {**sent, **{name: live[name] for name in others if live.get(name) is not None}}
    for name in sent:
        here = (*path, name)
        if name in live:
            found[name] = _convert_observed(
                fields.get(name), sent[name], live[name], here, unobserved
            )
        else:
            unobserved.append(here)
    return found


def _convert_observed(
    schema: Schema | None, sent: Any, live: Any, path: Path, unobserved: list[Path]
) -> Any:
    """A value as it was observed, in the type in which it was sent."""
    inside: list[Path] = []
    found = live if schema is None else _to_type(schema, live)
    parts: Iterable[str | int] = ()
    if isinstance(sent, Mapping) and isinstance(live, Mapping):
        fields = {} if schema is None else schema.fields
        if fields or isinstance(live, Partial):
            found = _merge_observed_map(fields, sent, live, path, inside)
            parts = sent
    elif isinstance(sent, list) and isinstance(live, list | tuple) and len(sent) == len(live):
        items = None if schema is None else schema.items
        pairs = enumerate(zip(sent, live, strict=True))
        found = [_convert_observed(items, *pair, (*path, index), inside) for index, pair in pairs]
        parts = range(len(sent))
    every = {(*path, part) for part in parts}
    unobserved += [path] if every and every <= set(inside) else inside
    return found


def _to_type(schema: Schema, value: Any) -> Any:
    """A scalar in the type of its property where nothing is lost by that; else as it is."""
    if schema.type in (Schema.INTEGER, Schema.NUMBER):
        if isinstance(value, str) and re.match(_NUMBER, value):
            try:
                return json.loads(value)
            except ValueError:  # thousands of digits
                return value
    elif schema.type == Schema.BOOLEAN:
        words = {"true": True, "false": False}
        return words.get(value.lower(), value) if isinstance(value, str) else value
    elif schema.type == Schema.STRING and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value
