"""The outside world in which ``zonda plugin check`` puts types of modules on trial.

A folder on this machine for each check, and properties for the modules of ansible-core that work in
one. Named by the entry point of group ``zonda.check``; nothing but a check imports it.
"""

from __future__ import annotations

import getpass
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from zonda.hooks.conformance import Backend
from zonda.hooks.testing import FakeClock, FakeContext

_MADE: Final = "made"


class _Clock(FakeClock):
    """Modules need real time to end."""

    def advance(self, seconds: float) -> None:
        """Let a moment pass outside, too."""
        time.sleep(0.01)
        super().advance(seconds)


class World(Backend):
    """A folder in which what a life makes is."""

    examples = 0

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="zonda-ansible-"))

    def context(self) -> FakeContext:
        """The context of the engine, with a clock that waits for modules."""
        return FakeContext(clock=_Clock())

    def properties(self, type_name: str) -> Mapping[str, Any]:
        """A path of the folder, and what is to be there."""
        path = str(self._folder / _MADE)
        known: dict[str, dict[str, Any]] = {
            "Zonda::Ansible::Host": {"connection": "local", "python": sys.executable},
            "Ansible::ansible.builtin.copy": {"dest": path, "content": "one\n"},
            "Ansible::ansible.builtin.file": {"path": path, "state": "touch", "mode": "0600"},
            "Ansible::ansible.builtin.blockinfile": {"path": path, "block": "a", "create": True},
            "Ansible::ansible.builtin.lineinfile": {"path": path, "line": "a", "create": True},
        }
        return known.get(type_name, {})

    def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
        """Other values that are possible."""
        other = str(self._folder / "other")
        if type_name == "Zonda::Ansible::Host":
            return {
                **{"address": ["localhost"], "connection": ["ansible.builtin.local"], "port": [22]},
                **{name: [getpass.getuser()] for name in ("user", "become_user")},
                **{"become": [False], "become_method": ["sudo"], "python": [sys.executable]},
                **{"wait": [1], "fact_subsets": [["!all"]], "private_key_file": [other]},
            }
        return {
            **{name: [other] for name in ("path", "dest")},
            **{"content": ["two\n"], "mode": ["0640"], "block": ["b"], "line": ["b"]},
            **{"create": [True], "state": ["touch"]},
            "ansible_delete": [{"state": "absent"}],
            "ansible_environment": [{"A": "1"}],
            "ansible_timeout": [30],
            "ansible_on": [{"connection": "local"}],
        }

    def leftovers(self) -> Collection[str] | None:
        """The names in the folder that still hold what a life has made."""
        return [each.name for each in self._folder.iterdir() if each.read_text()]

    def lose(self, resource_id: str) -> bool:
        """Remove it by hand."""
        (self._folder / _MADE).unlink()
        return True

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
