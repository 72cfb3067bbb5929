"""The plug-in that zonda finds: the constraints and clients of packages for Heat.

Resource types come as files in ``plugin_dirs`` or by entry points of group ``zonda``, and need
nothing from here but the name ``heat``. Where another distribution owns that name this module
refuses to be loaded, and says so in ``zonda plugin list``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from zonda.hooks import BaseCustomConstraint, describe_exception, hookimpl

from . import names


class OwnedByAnother(ImportError):
    """The name ``heat`` belongs to another distribution, which is left alone."""


_OWNER = names.owner()
if _OWNER is not None:
    raise OwnedByAnother(
        f"another distribution provides the package heat here ({_OWNER}), and heat-compat does "
        "not take its place. Uninstall that one, or use zonda in an environment of its own."
    )
names.lend()


class Delay(BaseCustomConstraint):
    """``test_constr``, which Heat's TestResource names: any number of seconds. Nobody waits."""

    def validate(self, value: Any, context: Any) -> bool:
        """Yes."""
        return True


@hookimpl
def zonda_constraints() -> Mapping[str, Any]:
    """Heat's constraint for tests, and those of entry points of group ``heat.constraints``."""
    found: dict[str, Any] = {"test_constr": Delay}
    for entry in entry_points(group="heat.constraints"):
        found[entry.name] = _constraint(entry)
    return found


def _constraint(entry: EntryPoint) -> Any:
    from zonda.hooks import Unavailable

    try:
        return entry.load()
    except Exception as error:  # one bad package takes no other down
        return Unavailable(describe_exception(error))


@hookimpl
def zonda_client_plugins() -> Mapping[str, Any]:
    """The clients of entry points of group ``heat.clients``."""
    return {entry.name: partial(_client, entry) for entry in entry_points(group="heat.clients")}


def _client(entry: EntryPoint) -> Any:
    from heat.common.context import get_admin_context

    return entry.load()(get_admin_context())
