"""The playbook or the role that a workflow's name means.

``deploy.yml`` and ``sites/deploy.yml`` are playbooks below the runner's folder. Any other name is a
role: one of ``roles/`` there, one of a collection (``community.general.x``) or another that Ansible
finds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from zonda.hooks import ResourceFailure

#: The playbook that carries out one role.
ROLE_PLAYBOOK: Final = Path(__file__).with_name("role.yml")
_SUFFIXES: Final = (".yml", ".yaml")
_ROLE: Final = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class Target:
    """A playbook, and the role that it is to carry out, if any: a name or an absolute path."""

    playbook: Path
    role: str = ""


def find_target(workflow: str, folder: Path) -> Target:
    """The target of the name ``workflow``. Raises ResourceFailure where there is none."""
    if workflow.endswith(_SUFFIXES):
        return Target(_find_playbook(workflow, folder))
    if not _ROLE.fullmatch(workflow):
        raise ResourceFailure(
            f"{workflow!r} names no playbook and no role.",
            hint="Write FILE.yml, a path below the runner's folder, or the name of a role.",
        )
    own = folder / "roles" / workflow
    return Target(ROLE_PLAYBOOK, str(own) if own.is_dir() else workflow)


def _find_playbook(workflow: str, folder: Path) -> Path:
    parts = PurePosixPath(workflow).parts
    path = folder.joinpath(*parts)
    if ".." in parts or workflow.startswith("/") or "\0" in workflow or not path.is_file():
        raise ResourceFailure(
            f"There is no playbook {workflow!r} in the folder of the runner.",
            hint=f"Put it into {folder}, and name it by its path below that.",
        )
    return path
