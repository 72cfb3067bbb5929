"""Commands that outlive zonda: each run is a folder, found again by the operation's id."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from zonda.hooks import ResourceFailure
from zonda.hooks.processes import DetachedRun, Plan

#: The variables that a command gets of zonda's environment, zonda's own settings not among them.
INHERITED = (
    *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME"),
    *("PATH", "SHELL", "TMPDIR", "TZ", "USER"),
)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a command. ``error``: it could not be run; ``ended_by``: ``timeout``."""

    exit_code: int = -1
    stdout: str = ""
    stderr: str = ""
    ended_by: str = ""
    error: str = ""


class Lost(Exception):
    """The run was begun, has not ended in order, and is not running: nobody knows what it did."""


def inherited_environment() -> dict[str, str]:
    """The part of zonda's environment that commands see."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def home() -> Path:
    """The folder of all runs: ``zonda-files`` in the user's folder for states."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "zonda-files"


class Run(DetachedRun):
    """One run of one command."""

    @classmethod
    def of(cls, operation_id: str) -> Run:
        """The run that belongs to an operation, begun or not."""
        return cls(home() / operation_id)

    def begin(self, plan: Plan) -> None:
        """Start the command unless that was done before. Raises ResourceFailure."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            child = self.start(plan)
        except OSError as error:
            raise ResourceFailure(
                f"The command could not be started: {error.strerror} ({self.folder}; set "
                "XDG_STATE_HOME to a folder that can be written to)"
            ) from error
        if child is not None:
            child.returncode = 0  # nobody waits for the wrapper, which outlives zonda

    def look(self) -> Ended | None:
        """The end of the command; None while it runs. Raises Lost."""
        if not self.folder.is_dir():
            raise Lost
        running = self.is_running()
        result = self.read_result()  # it may have ended just before
        if result is not None:
            return Ended(**{name: result.get(name, "") for name in Ended.__slots__})
        if not running:
            raise Lost
        return None

    def forget(self) -> None:
        """Remove what was written down."""
        shutil.rmtree(self.folder, ignore_errors=True)
