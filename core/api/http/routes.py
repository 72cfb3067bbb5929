"""The route table: paths and methods, what they mean, and who answers.

One table gives the handlers, the methods of ``OPTIONS`` and of 405, and what is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from zonda.hooks.records import dataclass

from .calls import Answer, Call

Handler = Callable[[Call], Answer]
_PART = re.compile(r"\{(\w+)(?::([^}]+))?\}")


@dataclass(frozen=True, slots=True)
class Route:
    """One line of the table. ``path``: with ``{name}`` for a part, ``{name:REGEX}`` for a pattern.

    ``operation``: its name in documents and policies. ``is_heavy``: it loads templates.
    ``is_memorised``: its answer depends on the database and the caller only, so that it is the
    same until the next commit.
    """

    method: str
    path: str
    operation: str
    handler: Handler
    policy: str
    is_heavy: bool = False
    is_memorised: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """The route of a request and the parts of its path; ``route`` None: the method is wrong."""

    route: Route | None
    parts: Mapping[str, str]
    methods: tuple[str, ...]


class RouteTable:
    """All routes, the more special ones first."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        patterns: dict[str, list[Route]] = {}
        for route in routes:
            patterns.setdefault(route.path, []).append(route)
        self._patterns = [(_compile(path), found) for path, found in patterns.items()]

    def match(self, method: str, path: str) -> Match | None:
        """The route of a request; None for a path that no route has."""
        methods: list[str] = []
        for pattern, routes in self._patterns:
            found = pattern.fullmatch(path)
            if found is None:
                continue
            for route in routes:
                if route.method == method:
                    return Match(route, found.groupdict(), ())
            methods += [route.method for route in routes if route.method not in methods]
        return Match(None, {}, tuple(methods)) if methods else None


def _compile(path: str) -> re.Pattern[str]:
    """The pattern of a path."""
    pattern, at = "", 0
    for found in _PART.finditer(path):
        pattern += re.escape(path[at : found.start()])
        pattern += f"(?P<{found[1]}>{found[2] or '[^/]+'})"
        at = found.end()
    return re.compile(pattern + re.escape(path[at:]), re.DOTALL)
