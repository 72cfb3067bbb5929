"""The outside world in which ``zonda plugin check zonda-files`` puts the types on trial.

A temporary folder for each check. Named by the entry point of group ``zonda.check``; nothing but a
check imports it.
"""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from zonda.hooks.conformance import Backend
from zonda.hooks.testing import FakeClock, FakeContext

_MADE = "made"


class _Clock(FakeClock):
    """Commands need real time to end."""

    def advance(self, seconds: float) -> None:
        """Let a moment pass outside, too."""
        time.sleep(0.01)
        super().advance(seconds)


class World(Backend):
    """A folder in which a life's file, directory or traces of commands are."""

    examples = 5

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="zonda-files-"))
        self._before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = str(self._folder / "state")
        (self._folder / "ground").mkdir()

    def context(self) -> FakeContext:
        """The context of the engine, with a clock that waits for commands."""
        return FakeContext(clock=_Clock())

    def properties(self, type_name: str) -> Mapping[str, Any]:
        """A path of the folder, or commands that leave a trace in it."""
        path = str(self._folder / "ground" / _MADE)
        if not type_name.endswith("::Command"):
            owner = {"owner": str(os.getuid()), "group": str(os.getgid())}
            return {"path": path, "mode": "0700", **owner, **_NOT_RANDOM[type_name]}
        trace = ["/bin/sh", "-c", f"touch {path}"]
        return {
            **{"create": trace, "update": trace, "delete": ["rm", "-f", path]},
            **{"check": ["test", "-e", path], "cwd": "/", "success_codes": [0], "timeout": 30},
            **{"environment": {"A": "1"}, "hidden_environment": {"B": "hush-hush"}},
        }

    def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
        """Other values that are possible."""
        other = str(self._folder / "ground" / "other")
        trace = ["/bin/sh", "-c", f"touch {self._folder}/ground/{_MADE}; true"]
        return {
            "path": [other],
            "mode": ["0750"],
            "owner": [pwd.getpwuid(os.getuid()).pw_name],
            "group": [grp.getgrgid(os.getgid()).gr_name],
            "content_base64": ["AAA="],
            **{key: [trace] for key in ("create", "update", "check")},
            "delete": [["rm", "-rf", f"{self._folder}/ground/{_MADE}"]],
            "cwd": ["/tmp"],
            "environment": [{"A": "2"}],
            "hidden_environment": [{"B": "hush-hush-hush"}],
            "success_codes": [[0, 3]],
            "triggers": [{"version": 2}],
        }

    def leftovers(self) -> Collection[str]:
        """The names in the folder."""
        return os.listdir(self._folder / "ground")

    def lose(self, resource_id: str) -> bool:
        """Remove it by hand."""
        made = self._folder / "ground" / _MADE
        if made.is_dir():
            shutil.rmtree(made)
        else:
            made.unlink()
        return True

    def close(self) -> None:
        """Remove the folder."""
        if self._before is None:
            os.environ.pop("XDG_STATE_HOME", None)
        else:
            os.environ["XDG_STATE_HOME"] = self._before
        shutil.rmtree(self._folder, ignore_errors=True)


#: Values that no schema bounds enough for lives at random.
_NOT_RANDOM: Mapping[str, Mapping[str, Any]] = {
    "Zonda::Files::File": {"content": "one", "on_delete": "own"},
    "Zonda::Files::Directory": {"on_delete": "empty"},
}
