"""``make_url``: a URL from its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode, urlunsplit

from zonda.hooks.function import Function, ResolveScope, resolve, sources

from .size_limits import check_size

_PARTS = ("scheme", "username", "password", "host", "port", "path", "query", "fragment")
_HIGHEST_PORT = 65535


class MakeUrl(Function):
    """``make_url: {scheme: ..., host: ..., ...}``; every part may be left out."""

    __slots__ = ()

    def validate(self, scope: ResolveScope) -> Iterator[Exception]:
        """Parts that do not exist or have the wrong type."""
        yield from super().validate(scope)
        try:
            self._check_shape(self.args)
        except (TypeError, ValueError) as error:
            yield error

    def _check_shape(self, args: Any) -> None:
        if not isinstance(args, dict):
            raise TypeError(f'The arguments to "{self.name}" must be a map')
        unknown = [str(key) for key in args if key not in _PARTS]
        if unknown:
            raise ValueError(f'Invalid arguments to "{self.name}": {", ".join(unknown)}')
        self._check(args)

    def _check(self, args: dict[str, Any]) -> None:
        """Check the parts in their order; what follows the query is not looked at, as in Heat."""
        for part in _PARTS:
            if part not in args or isinstance(args[part], Function):
                if part == "query" and part in args:
                    return
                continue
            if part == "port":
                self._check_port(args[part])
            elif part == "query":
                if not isinstance(args[part], dict):
                    raise TypeError(f'The "query" argument to "{self.name}" must be a map')
                return
            elif not isinstance(args[part], str):
                raise TypeError(f'The "{part}" argument to "{self.name}" must be a string')

    def _check_port(self, port: Any) -> None:
        try:
            number = int(port)
        except (ValueError, OverflowError):
            raise ValueError(
                f'Invalid URL port "{port}" for {self.name} called with {self._list_literals()}'
            ) from None
        except TypeError:
            raise TypeError(
                f'The "port" argument to "{self.name}" must be a number, not {type(port).__name__}'
            ) from None
        if not 0 < number <= _HIGHEST_PORT:
            raise ValueError(f"Invalid URL port {number}, must be in range 1-{_HIGHEST_PORT}")

    def _list_literals(self) -> dict[str, Any]:
        """List the literal arguments; the value of a function is left out, it may be a secret."""
        shown = {
            part: "..." if isinstance(value, Function) or any(sources(value)) else value
            for part, value in self.args.items()
        }
        return shown | {"password": "(hidden)"} if "password" in shown else shown

    def resolve(self, scope: ResolveScope) -> Any:
        """The URL; raises TypeError and ValueError with Heat's words."""
        args = resolve(self.args, scope)
        self._check_shape(args)
        check_size(scope, len(repr(args)))  # each character is quoted by itself
        scheme = args.get("scheme", "")
        if ":" in scheme:
            raise ValueError("URL \"scheme\" should not contain ':'")
        path = quote(args.get("path", ""))
        query = urlencode(args.get("query", {}), safe="/")
        fragment = quote(args.get("fragment", ""))
        return urlunsplit((scheme, _format_authority(args), path, query, fragment))


def _format_authority(args: dict[str, Any]) -> str:
    """``user:password@host:port``, as far as the parts are there."""
    user = quote(args.get("username", ""), safe="")
    password = quote(args.get("password", ""), safe="")
    login = f"{user}:{password}@" if password else f"{user}@" if user else ""
    port = args.get("port", "")
    return f"{login}{_format_host(args.get('host', ''))}{f':{port}' if port else ''}"


def _format_host(host: str) -> str:
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    host = quote(host, safe=":")
    return f"[{host}]" if ":" in host else host
