"""The plug-in that zonda finds: the constraints and clients of packages for Heat.

Resource types come as files in ``plugin_dirs`` or by entry points of group ``zonda``, and need
nothing from here but the name ``heat``; those of an installed openstack-heat are found by
``installed``. Where another distribution owns the name, this module refuses to be loaded, and says
so in ``zonda plugin list``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from importlib.metadata import entry_points
from typing import Any

from zonda.hooks import BaseCustomConstraint, hookimpl

from . import installed, names


class OwnedByAnother(ImportError):
    """The name ``heat`` belongs to another distribution, which is left alone."""


_OWNER, _HEAT = names.owner(), installed.find_folder()
if _OWNER is not None and (names.folder_of(_OWNER) != _HEAT or names.is_taken()):
    raise OwnedByAnother(
        f"another distribution provides the package heat here ({_OWNER}), and heat-compat does "
        "not take its place. Uninstall that one, or use zonda in an environment of its own."
    )
names.lend(beside=_HEAT)


class Delay(BaseCustomConstraint):
    """``test_constr``, which Heat's TestResource names: any number of seconds. Nobody waits."""

    def validate(self, value: Any, context: Any) -> bool:
        """Yes."""
        return True


@hookimpl
def zonda_resource_types() -> Mapping[str, Any]:
    """The types of an installed openstack-heat."""
    return installed.list_types()


@hookimpl
def zonda_constraints() -> Mapping[str, Any]:
    """Heat's constraint for tests, and those of entry points of group ``heat.constraints``."""
    found: dict[str, Any] = {"test_constr": Delay}
    for entry in entry_points(group="heat.constraints"):
        if installed.brings(entry):
            found.setdefault(entry.name, installed.HeatConstraint(entry))
        else:
            found[entry.name] = installed.load_constraint(entry)
    return found


@hookimpl
def zonda_client_plugins() -> Mapping[str, Any]:
    """The clients of entry points of group ``heat.clients``."""
    found: dict[str, Any] = {}
    for entry in entry_points(group="heat.clients"):
        make = partial(installed.make_client, entry)
        found[entry.name] = installed.HeatClient(entry) if installed.brings(entry) else make
    return found


@hookimpl
def zonda_cloud_checks(name: str) -> Sequence[tuple[str, str, str]]:
    """The credentials and services of an OpenStack."""
    if installed.find() is None:
        return ()
    from .cloud_check import check_cloud

    return check_cloud(name)


@hookimpl
def zonda_summary(types: Collection[str]) -> str:
    """The parts of OpenStack Heat that are installed."""
    return installed.format_summary(types)
