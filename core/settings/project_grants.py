"""The runners and secrets that each project of a server may use, by the settings.

``[projects.NAME]``, NAME being the id of a project, goes before ``[projects."*"]``, entry by entry;
without either a project may use none. Asked by ``resource_services`` for the project of a stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from zonda.hooks.errors import UsageError, UsageErrors
from zonda.hooks.text.urls import host_of_url, is_url

from .secret_references import matches_reference
from .server_sections import ALL_PROJECTS, RUNNERS, SECRET_SOURCES, find_entry_line
from .table import FILE_NAME, Settings

#: An id of a project as Keystone makes them.
_PROJECT_ID = re.compile(r"[0-9a-f]{32}")


class ProjectGrants:
    """The grants of all projects. What was taken away is missing at the next start."""

    def __init__(self, settings: Settings) -> None:
        self._sections = settings.projects
        self._home = settings.home

    def may_use_runner(self, project: str, name: str) -> bool:
        """Whether a project may use a runner: a name, or the URL of a workflow."""
        return any(fnmatchcase(name, each) for each in self._list_patterns(project, RUNNERS))

    def check_runner(self, project: str, name: str) -> None:
        """Raise UsageError unless a project may use a runner, whether or not there is one."""
        if not self.may_use_runner(project, name):
            shown = f"at {host_of_url(name)}" if is_url(name) else name
            raise _make_refusal(project, f"runner {shown}", RUNNERS)

    def check_secret(self, project: str, reference: str) -> None:
        """Raise UsageError unless a project may name a secret, whether or not there is one."""
        patterns = self._list_patterns(project, SECRET_SOURCES)
        if not matches_reference(reference, self._home, patterns):
            raise _make_refusal(project, f"secret {reference}", SECRET_SOURCES)

    def _list_patterns(self, project: str, entry: str) -> Sequence[str]:
        sections = (self._sections.get(name, {}) for name in (project, ALL_PROJECTS))
        found: Sequence[str] = next((each[entry] for each in sections if entry in each), ())
        return found


def check_project_ids(settings: Settings) -> None:
    """Raise UsageErrors for grants to something else than an id of Keystone's.

    A name is refused, not looked up: projects of two domains may have the same one.
    """
    path = settings.home / FILE_NAME
    wrong = [
        (name, entry)
        for name, section in settings.projects.items()
        for entry in (RUNNERS, SECRET_SOURCES)
        if entry in section and name != ALL_PROJECTS and not _PROJECT_ID.fullmatch(name)
    ]
    if wrong:
        text = path.read_text()
        raise UsageErrors(
            [
                UsageError(
                    f"{path}:{find_entry_line(text, ('projects', name), entry)}: "
                    f"[projects.{name}]: {entry} is for the id of a project, and {name} is none.",
                    hint=f"openstack project show {name} -f value -c id",
                    code="ZON207",
                )
                for name, entry in wrong
            ]
        )


def _make_refusal(project: str, what: str, entry: str) -> UsageError:
    """Make the error of something that a project may not use.

    It spells out no entry to be added: a template may name what is a pattern of all.
    """
    return UsageError(
        f"The project {project} may not use the {what}: {entry} of "
        f'[projects."{project}"] in {FILE_NAME} says which.',
        hint="Whoever runs the server adds it there, and starts the server again.",
    )
