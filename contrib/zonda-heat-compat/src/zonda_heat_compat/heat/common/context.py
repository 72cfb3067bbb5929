"""The request context that plug-ins read as ``self.context``; the engine's stands behind it.

User and credentials come from the cloud of the stack, and only when a plug-in asks for them.
"""

from __future__ import annotations

from typing import Any

from zonda_heat_compat.cloud import Cloud, find_cloud

_NAMES = (
    "username",
    "password",
    "auth_token",
    "auth_url",
    "user_id",
    "user_domain_id",
    "project_domain_id",
    "project_name",
    "tenant",
    "tenant_id",
    "project_id",
    "trust_id",
    "trustor_user_id",
    "region_name",
    "request_id",
    "aws_creds",
    "user_identity",
    "trusts_auth_plugin",
    "keystone_session",
    "auth_plugin",
)


#: Of a context without a cloud these are the project of zonda's stack.
_PROJECT = ("tenant", "tenant_id", "project_id", "project_name")


class RequestContext:
    """Heat's request context. zonda knows a project and no password: without a cloud most is None.

    ``lent`` is what the engine lends (``zonda.hooks.context``), and is asked for whatever is not
    Heat's.
    """

    def __init__(self, lent: Any = None, cloud: Cloud | None = None, **known: Any) -> None:
        self.lent = lent
        self.is_admin = bool(known.pop("is_admin", False))
        self.roles = list(known.pop("roles", ()) or ())
        self.show_deleted = bool(known.pop("show_deleted", False))
        self.__dict__.update(known)
        self._clients: Any = None
        self._cached: dict[Any, Any] = {}
        stack = getattr(lent, "stack", None)
        if cloud is None and stack is not None:
            cloud = find_cloud(stack.project, lent.root_stack, is_shared=lent.is_shared)
        self.cloud = cloud

    def cache(self, kind: Any) -> Any:
        """The one object of the class ``kind`` that belongs to this context."""
        if kind not in self._cached:
            self._cached[kind] = kind()
        return self._cached[kind]

    def reload_auth_plugin(self) -> None:
        """The session of the cloud gets a new token when it needs one."""

    @property
    def clients(self) -> Any:
        """The clients of this context."""
        if self._clients is None:
            from heat.engine import clients  # it imports this module

            self._clients = clients.Clients(self)
        return self._clients

    def to_dict(self) -> dict[str, Any]:
        """Return the values that were given; nothing that a cloud would have to be asked for."""
        return {name: self.__dict__.get(name) for name in (*_NAMES, "is_admin", "roles")}

    @classmethod
    def from_dict(cls, values: Any) -> RequestContext:
        """The context of ``to_dict``."""
        return cls(**values)

    def __getattr__(self, name: str) -> Any:
        lent, cloud = self.__dict__.get("lent"), self.__dict__.get("cloud")
        if name in _NAMES or name == "keystone_v3_endpoint":
            if name == "request_id":
                return _get_request_id(lent)
            if cloud is not None:
                return cloud.tell(name)
            stack = getattr(lent, "stack", None)
            return stack.project if stack is not None and name in _PROJECT else None
        if lent is None or name.startswith("__"):
            raise AttributeError(f"The request context has no {name}")
        return getattr(lent, name)


def _get_request_id(lent: Any) -> str | None:
    """The id of the running operation, in the form of OpenStack."""
    operation = getattr(lent, "operation", None)
    return None if operation is None else f"req-{operation.id}"


def request_context(context: Any) -> RequestContext:
    """``context`` as Heat's plug-ins know it."""
    return context if isinstance(context, RequestContext) else RequestContext(context)


def get_admin_context(show_deleted: bool = False) -> RequestContext:
    return RequestContext(is_admin=True, show_deleted=show_deleted)
