"""Who asks: what plug-ins read of ``self.context``. The engine's context stands behind it."""

from __future__ import annotations

from typing import Any

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


class RequestContext:
    """Heat's request context; zonda knows a project and nobody's password, so most is None.

    ``lent`` is what the engine lends (``zonda.hooks.context``), and is asked for whatever is not
    Heat's.
    """

    tenant_id: Any
    tenant: Any
    project_id: Any
    project_name: Any

    def __init__(self, lent: Any = None, **known: Any) -> None:
        self.lent = lent
        self.is_admin = bool(known.pop("is_admin", False))
        self.roles = list(known.pop("roles", ()) or ())
        self.show_deleted = bool(known.pop("show_deleted", False))
        self.__dict__.update(dict.fromkeys(_NAMES))
        self.__dict__.update(known)
        stack = getattr(lent, "stack", None)
        if stack is not None and self.tenant_id is None:
            self.tenant = self.tenant_id = self.project_id = self.project_name = stack.project
        self._clients: Any = None

    @property
    def clients(self) -> Any:
        """The clients of this context."""
        if self._clients is None:
            from heat.engine import clients  # it imports this module

            self._clients = clients.Clients(self)
        return self._clients

    def to_dict(self) -> dict[str, Any]:
        """What is known of who asks."""
        return {name: getattr(self, name) for name in (*_NAMES, "is_admin", "roles")}

    @classmethod
    def from_dict(cls, values: Any) -> RequestContext:
        """The context of ``to_dict``."""
        return cls(**values)

    def __getattr__(self, name: str) -> Any:
        lent = self.__dict__.get("lent")
        if lent is None or name.startswith("__"):
            raise AttributeError(f"The request context has no {name}")
        return getattr(lent, name)


def request_context(context: Any) -> RequestContext:
    """``context`` as Heat's plug-ins know it."""
    return context if isinstance(context, RequestContext) else RequestContext(context)


def get_admin_context(show_deleted: bool = False) -> RequestContext:
    return RequestContext(is_admin=True, show_deleted=show_deleted)
