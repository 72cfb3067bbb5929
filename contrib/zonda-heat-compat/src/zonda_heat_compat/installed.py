"""The types, clients and constraints of the distribution openstack-heat, where it is installed.

``pip install 'zonda-heat-compat[openstack]'`` brings it, and its files are used as they are. Which
types there are stands in their text; none is imported before it is used. Called by ``plugin``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import (
    Distribution,
    EntryPoint,
    PackageNotFoundError,
    distribution,
    entry_points,
)
from pathlib import Path
from typing import Any, Final, NoReturn

from zonda.hooks import (
    BaseCustomConstraint,
    Fallback,
    PluginError,
    Properties,
    Resource,
    TemplateError,
    Unavailable,
    describe_exception,
)

from . import names
from .index import load_faults

NAME: Final = "openstack-heat"
_ROOM: Final = "heat/engine/resources"
_MAPPING: Final = "\ndef resource_mapping("
_ENTRY: Final = re.compile(r"""['"]([\w.]+(?:::[\w.]+)+)['"]\s*:\s*(\w+)""")


def find() -> Distribution | None:
    """The distribution, or None."""
    try:
        return distribution(NAME)
    except PackageNotFoundError:
        return None


def find_folder() -> str | None:
    """The folder that its package ``heat`` stands in; None where it is not installed."""
    found = find()
    file = str(found.locate_file("heat/__init__.py")) if found else ""
    return names.folder_of(file) if Path(file).is_file() else None


@cache  # a distribution reads and parses its metadata anew each time
def brings(entry: EntryPoint) -> bool:
    """Whether an entry point is that of openstack-heat, and not of a stranger's package."""
    return entry.dist is not None and entry.dist.metadata["Name"] == NAME


@cache
def _list_places() -> Mapping[str, tuple[str, str]]:
    """The module and the class of each type: what ``resource_mapping`` of its file says."""
    folder, found = find_folder(), {}
    for path in sorted(Path(folder, _ROOM).rglob("*.py")) if folder else ():
        _, mapping, text = path.read_text("utf-8").partition(_MAPPING)
        module = ".".join(path.relative_to(str(folder)).with_suffix("").parts)
        for name, cls in _ENTRY.findall(text) if mapping else ():
            found[name] = (module, cls)
    return found


def list_types() -> Mapping[str, Any]:
    """The types by name, not imported."""
    return {name: HeatType(*place) for name, place in _list_places().items()}


class HeatType(Fallback):
    """A type of openstack-heat."""

    __slots__ = ()

    def load(self) -> type[Resource]:
        """The class; one that refuses every template where Heat's cannot be used."""
        found = self.look()
        return _refuse(self, found.reason) if isinstance(found, Unavailable) else found

    def look(self) -> Any:
        """The class, or why it cannot be used."""
        # A library of Heat's tells its developers; nobody here can do anything about it.
        warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
        try:
            return super().load().__zonda_resource__()
        except Exception as error:  # a library that is missing takes no other type down
            return Unavailable(describe_exception(error))


class _Faulty(Properties):
    """The properties of a type that cannot be used: that is their only fault."""

    __slots__ = ("_reason",)

    def __init__(self, reason: str) -> None:
        super().__init__({}, {})
        self._reason = reason

    def validate(self, *given: Any, **named: Any) -> list[TemplateError]:
        """The fault."""
        return [TemplateError(self._reason)]


def _refuse(place: HeatType, reason: str) -> type[Resource]:
    def make_properties(self: Resource, definition: Any) -> Properties:
        return _Faulty(f"The type cannot be used here: {reason}")

    def handle_create(self: Resource) -> NoReturn:
        raise PluginError(f"The type cannot be used here: {reason}")

    def handle_delete(self: Resource) -> None:
        if self.resource_id is not None:
            handle_create(self)

    body = {
        "__doc__": f"Cannot be used here: {reason}",
        "__module__": place.module,
        "__qualname__": place.name,
        "make_properties": make_properties,
        "handle_create": handle_create,
        "handle_delete": handle_delete,
        "any_attribute": True,
    }
    return type(place.name, (Resource,), body)


class HeatConstraint(Fallback):
    """A constraint of openstack-heat."""

    __slots__ = ("_entry",)

    def __init__(self, entry: EntryPoint) -> None:
        super().__init__(entry.module, entry.attr)
        self._entry = entry

    def load(self) -> Any:
        """The class; one that refuses every value where Heat's cannot be used."""
        found = load_constraint(self._entry)
        if not isinstance(found, Unavailable):
            return found

        class Refused(BaseCustomConstraint):
            """No value is good."""

            def validate(self, value: Any, context: Any) -> bool:
                """No."""
                return False

            def error(self, value: Any) -> str:
                """Why not."""
                return f"The constraint cannot be used here: {found.reason}"

        return Refused


def load_constraint(entry: EntryPoint) -> Any:
    """The class of an entry point, or why it cannot be used."""
    try:
        return entry.load()
    except Exception as error:  # one bad package takes no other down
        return Unavailable(describe_exception(error))


class HeatClient(HeatConstraint):
    """A client plug-in of openstack-heat."""

    __slots__ = ()

    def load(self) -> Any:
        """Makes the client plug-in when it is called."""
        return lambda: make_client(self._entry)


def make_client(entry: EntryPoint) -> Any:
    """The client plug-in, for nobody's request."""
    from heat.common.context import get_admin_context

    return entry.load()(get_admin_context())


def _find_faults() -> dict[str, str]:
    """The types that cannot be used, with reasons. Imports all of them."""
    looked = {name: HeatType(*place).look() for name, place in _list_places().items()}
    return {name: each.reason for name, each in looked.items() if isinstance(each, Unavailable)}


def format_summary(types: Collection[str]) -> str:
    """A text on ``types``: the number that can be used, and the rest with reasons."""
    found = find()
    if found is None:
        return (
            "OpenStack's own types (OS::Nova::Server, ...) are not here: "
            "pip install 'zonda-heat-compat[openstack]'."
        )
    used = _list_places().keys() & types
    faults = {name: why for name, why in load_faults(_find_faults).items() if name in used}
    parts = [f"{len(used) - len(faults)} types"]
    for kind, group in (("clients", "heat.clients"), ("constraints", "heat.constraints")):
        parts.append(f"{sum(map(brings, entry_points(group=group)))} {kind}")
    text = f"{NAME} {found.version}: {', '.join(parts)}"
    return text + "".join(f"; not {name}: {why}" for name, why in sorted(faults.items())) + "."
