"""The settings of one runner, from its section of ``zonda.toml``; checked once."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zonda.hooks import Clock, UsageError, redact

from .schema import ANSIBLE


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a runner. ``state``: the folder of its runs."""

    clock: Clock
    random: random.Random
    folder: Path
    state: Path
    inventory: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    vault_password: str = field(default="", repr=False)
    parallel: int = 4
    secrets: Sequence[str] = field(default=(), repr=False)

    def redact(self, text: str) -> str:
        """``text`` without anything secret of the section."""
        return redact(text, self.secrets)


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a section. Raises UsageError that names the wrong entry."""
    values = ANSIBLE.read(given)
    folder = Path(values["folder"]).expanduser()
    if not folder.is_dir() or not folder.is_absolute():
        raise UsageError(
            f"The settings of an ansible runner are wrong: folder is {values['folder']!r}, which "
            "is no folder.",
            hint="Give the absolute path of the folder that holds the playbooks.",
        )
    return Settings(
        clock=given["clock"],
        random=given["random"],
        folder=folder,
        state=_find_state_folder(values["state_folder"]),
        inventory=_find_inventory(values["inventory"], folder),
        variables=values["variables"],
        vault_password=values["vault_password"],
        parallel=values["parallel"],
        secrets=ANSIBLE.list_secrets(values),
    )


def _find_state_folder(given: str) -> Path:
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "zonda-ansible"


def _find_inventory(given: str, folder: Path) -> str:
    """The inventory as Ansible takes it. Raises UsageError for a file that is not there."""
    if not given or "," in given:
        return given
    path = folder / Path(given).expanduser()
    if not path.exists():
        raise UsageError(
            f"The settings of an ansible runner are wrong: there is no inventory {path}.",
            hint="Give a file or a folder, or host names with a comma behind (`web1,`).",
        )
    return str(path)
