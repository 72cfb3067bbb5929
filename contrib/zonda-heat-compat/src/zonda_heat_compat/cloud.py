"""The cloud that a stack's resources are made in: a section of clouds.yaml, or the OS_* variables.

openstacksdk reads both. A cloud is asked for nothing before somebody uses it: who signs in, with
what, and when a token is renewed is the affair of its session. Nothing of it is stored or shown.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from zonda.hooks import PluginError

from .marks import load_session_class
from .outages import load_adapter_class

#: Clouds by project, or by project and stack: ``PROJECT=CLOUD,PROJECT/STACK=CLOUD``. With it no
#: other project has a cloud; nor has one without it where a server tells projects apart.
CLOUDS: Final = "HEAT_COMPAT_CLOUDS"
#: The time that a service may take for an answer, unless clouds.yaml says another (api_timeout).
_SECONDS: Final = 120.0
_FOLDERS: Final = (Path(), Path.home() / ".config" / "openstack", Path("/etc/openstack"))
_FILES: Final = ("clouds.yaml", "clouds.yml", "clouds.json")


class NoAnswer(PluginError):
    """There is nobody to be asked: whether something is there is not known."""


class NoCloud(NoAnswer):
    """No cloud is known for a stack."""

    def __init__(self) -> None:
        super().__init__(
            "No cloud is known for this stack",
            hint="Name one: OS_CLOUD with a clouds.yaml, the OS_* variables, or, as a server for "
            f"several projects needs it, {CLOUDS}=PROJECT=CLOUD.",
        )


class Cloud:
    """One cloud, by its name in clouds.yaml; '' for the one that the variables name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._plugins: dict[str, Any] = {}

    @cached_property
    def config(self) -> Any:
        """openstacksdk's ``CloudRegion``; raises PluginError for what clouds.yaml has not."""
        from openstack import exceptions
        from openstack.config import OpenStackConfig

        try:
            reader = OpenStackConfig(session_constructor=load_session_class())
            return reader.get_one(cloud=self.name or None)
        except exceptions.ConfigException as error:
            named = self.name or "of the OS_* variables"
            raise NoAnswer(f"The cloud {named} cannot be used: {error}") from None

    @cached_property
    def session(self) -> Any:
        """keystoneauth's session, which signs in when it has to."""
        made = self.config.get_session()
        made.timeout = made.timeout or _SECONDS
        for prefix in ("http://", "https://"):
            made.session.mount(prefix, load_adapter_class()())
        return made

    @cached_property
    def connection(self) -> Any:
        """openstacksdk's connection, with that session."""
        from openstack import connection

        return connection.Connection(config=self.config, session=self.session)

    @property
    def access(self) -> Any:
        """The access of the user who is signed in, by the token of today."""
        return self.session.auth.get_access(self.session)

    def get_plugin(self, name: str, make: Callable[[], Any]) -> Any:
        """A client plug-in, made once for all stacks of the cloud."""
        with self._lock:
            if name not in self._plugins:
                self._plugins[name] = make()
            return self._plugins[name]

    def tell(self, name: str) -> Any:
        """The value of Heat's request context named ``name``; None for what is not known."""
        reader = _READERS.get(name)
        return None if reader is None else reader(self)


def _from_access(attribute: str) -> Callable[[Cloud], Any]:
    return lambda cloud: getattr(cloud.access, attribute)


def _from_arguments(name: str) -> Callable[[Cloud], Any]:
    return lambda cloud: cloud.config.get_auth_args().get(name)


_READERS: Final[dict[str, Callable[[Cloud], Any]]] = {
    "keystone_session": lambda cloud: cloud.session,
    "auth_plugin": lambda cloud: cloud.session.auth,
    "region_name": lambda cloud: cloud.config.get_region_name(),
    "auth_url": _from_arguments("auth_url"),
    "keystone_v3_endpoint": _from_arguments("auth_url"),
    "username": _from_access("username"),
    "user_id": _from_access("user_id"),
    "user_domain_id": _from_access("user_domain_id"),
    "project_domain_id": _from_access("project_domain_id"),
    "auth_token": _from_access("auth_token"),
    "tenant_id": _from_access("project_id"),
    "project_id": _from_access("project_id"),
    "tenant": _from_access("project_name"),
    "project_name": _from_access("project_name"),
    "roles": lambda cloud: list(cloud.access.role_names),
}


def find_cloud(project: str = "", stack: str = "", *, is_shared: bool = False) -> Cloud | None:
    """The cloud of a stack, or None. ``stack``: the one at the top, where it is nested.

    ``is_shared``: a server tells projects apart, so that its own account is nobody's.
    """
    named = dict(_list_named())
    if named or is_shared:
        name = named.get(f"{project}/{stack}", named.get(project))
        return None if name is None else get_cloud(name)
    return get_cloud(os.environ.get("OS_CLOUD", "")) if _is_configured() else None


@cache
def get_cloud(name: str) -> Cloud:
    """The cloud of a section of clouds.yaml; '': of the variables."""
    return Cloud(name)


def _list_named() -> Iterator[tuple[str, str]]:
    for each in os.environ.get(CLOUDS, "").split(","):
        whose, _, name = each.strip().partition("=")
        if name:
            yield whose.strip(), name.strip()


def _is_configured() -> bool:
    """Whether anything names a cloud. A clouds.yaml of several needs OS_CLOUD."""
    if os.environ.get("OS_CLOUD") or os.environ.get("OS_AUTH_URL"):
        return True
    if os.environ.get("OS_CLIENT_CONFIG_FILE"):
        return True
    return any((folder / name).exists() for folder in _FOLDERS for name in _FILES)
