"""The quotas of projects, by the settings, and the rate of their requests.

``[projects.NAME.quotas]`` goes before ``[projects."*".quotas]``, and both before ``[quotas]``.
NAME is the id or the name of a project.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from zonda.core.settings.server_sections import ALL_PROJECTS, QUOTAS, RESOURCE_TYPES
from zonda.core.settings.table import Settings
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.context import Clock
from zonda.hooks.errors import RequestError

from ..identity.callers import Caller
from .rates import Rates


class TooLarge(RequestError):
    """A template is larger than the quota of its project."""

    heat_type = "RequestLimitExceeded"


class Quotas:
    """The quotas of all projects. Many threads ask at once."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._rates = Rates(clock)
        self._projects: Mapping[str, Any] = settings.projects
        # a laptop's only user is held to nothing but what is set
        known = {} if settings.identity == "none" else QUOTAS
        self._common: dict[str, float] = {
            **{name: most for name, most in known.items() if most is not None},
            **settings.quotas,
            **settings.projects.get(ALL_PROJECTS, {}).get("quotas", {}),
        }

    def find(self, caller: Caller, project: str) -> dict[str, float]:
        """The quotas of a project by their names; what is not there is not limited."""
        return {**self._common, **self._find_section(caller, project).get("quotas", {})}

    @property
    def has_types(self) -> bool:
        """Whether any project may use some types only."""
        return any(RESOURCE_TYPES in section for section in self._projects.values())

    def may_use_type(self, caller: Caller, project: str, name: str) -> bool:
        """Whether a project may use a type of resources."""
        patterns = self._find_section(caller, project).get(RESOURCE_TYPES)
        if patterns is None:
            patterns = self._projects.get(ALL_PROJECTS, {}).get(RESOURCE_TYPES)
        return patterns is None or any(fnmatchcase(name, pattern) for pattern in patterns)

    def _find_section(self, caller: Caller, project: str) -> Mapping[str, Any]:
        names = [project, *([caller.project] if caller.project_id == project else [])]
        known = (
            self._projects[name]
            for name in names
            if name in self._projects and name != ALL_PROJECTS
        )
        return next(known, {})

    def take_request(self, caller: Caller, project: str) -> None:
        """Count a request; raises OverRate. As many as come in one second may come at once."""
        if not self._projects and "requests" not in self._common:
            return
        most = self.find(caller, project).get("requests")
        if most is not None:
            message = f"The project may send {most:g} requests a second."
            self._rates.take(project, most, max(most, 1.0) if most else 0.0, message)

    def check_bundle(self, caller: Caller, project: str, bundle: Bundle) -> None:
        """Raise TooLarge for a template that is larger, with its files, than the quota."""
        most = self.find(caller, project).get("template_bytes")
        if most is None:
            return
        texts = (bundle.template, bundle.environment or "", *bundle.files.values())
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        if size > most:
            raise TooLarge(
                f"Template size ({size} bytes) exceeds maximum allowed size ({most:g} bytes)."
            )
