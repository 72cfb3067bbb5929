"""The body of a login: who wants a token, by what, and for which project."""

from __future__ import annotations

from typing import Any, TypeVar

from zonda.hooks.records import dataclass, field

from ..http.errors import BadRequest
from ..identity.local_identity import DOMAIN
from ..identity.local_tokens import PASSWORD, TOKEN

T = TypeVar("T")
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}


@dataclass(frozen=True, slots=True)
class Login:
    """A login by user and password, or by a token. ``project``: '' where none is asked for."""

    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    project: str = ""


def read_login(body: Any) -> Login | None:
    """The login of a body; None for a method, a scope or a domain that there is not.

    Raises BadRequest for what is no login at all.
    """
    auth = _take(_check(body, dict, "The body"), "auth", dict)
    identity = _take(auth, "identity", dict)
    project = _read_project(auth.get("scope"))
    methods = _take(identity, "methods", list)
    if project is None:
        return None
    if methods == [TOKEN]:
        return Login(token=_take(_take(identity, TOKEN, dict), "id", str), project=project)
    if methods != [PASSWORD]:
        return None
    table = _take(_take(identity, PASSWORD, dict), "user", dict)
    user, password = _read_name(table, "user"), _take(table, "password", str)
    return None if user is None else Login(user, password, project=project)


def _read_project(scope: Any) -> str | None:
    """The project of a scope; '' without one, None for a scope of another kind."""
    if scope is None or scope == "unscoped":
        return ""
    table = _check(scope, dict, "scope")
    if set(table) != {"project"}:
        return "" if set(table) == {"unscoped"} else None
    return _read_name(_take(table, "project", dict), "project")


def _read_name(table: dict[str, Any], where: str) -> str | None:
    """The id or the name of a user or a project; None for one of a domain that there is not."""
    name = _check(table.get("id", table.get("name")), str, f"{where}.name")
    domain = _check(table.get("domain", {}), dict, f"{where}.domain")
    given = [_check(domain[key], str, f"domain.{key}") for key in ("id", "name") if key in domain]
    return name if all(each.lower() == DOMAIN for each in given) else None


def _take(table: dict[str, Any], key: str, kind: type[T]) -> T:
    return _check(table.get(key), kind, key)


def _check(value: Any, kind: type[T], where: str) -> T:
    if not isinstance(value, kind):
        raise BadRequest(f"{where} must be {_KINDS[kind]}")
    return value
