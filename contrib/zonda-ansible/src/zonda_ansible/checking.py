"""The outside world in which ``zonda plugin check`` puts types of modules on trial.

A folder on this machine for each check, and properties for some modules that work in one. Named by
the entry point of group ``zonda.check``; nothing but a check imports it.
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

from .index import load_index
from .types import make_type

HOST: Final = "Zonda::Ansible::Host"


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
        self.folder = Path(tempfile.mkdtemp(prefix="zonda-ansible-"))
        self._source = self.folder / "source"
        self._source.write_text("one\n")
        self._made = self.folder / "made"
        self._made.mkdir()

    def context(self) -> FakeContext:
        """The context of the engine, with a clock that waits for modules."""
        return FakeContext(clock=_Clock())

    def properties(self, type_name: str) -> Mapping[str, Any]:
        """A path of the folder, and what is to be there."""
        path, source = str(self._made / "one"), str(self._source)
        known: dict[str, dict[str, Any]] = {
            HOST: {"connection": "local", "python": sys.executable},
            "Ansible::ansible.builtin.copy": {"dest": path, "content": "one\n"},
            "Ansible::ansible.builtin.file": {"path": path, "state": "directory", "mode": "0700"},
            "Ansible::ansible.builtin.template": {"dest": path, "src": source, "mode": "0600"},
        }
        return known.get(type_name, {})

    def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
        """Other values that are possible; of options that are not named here none are known."""
        other = str(self._made / "other")
        if type_name == HOST:
            return {
                **{"address": ["localhost"], "connection": ["ansible.builtin.local"], "port": [22]},
                **{name: [getpass.getuser()] for name in ("user", "become_user")},
                **{"become": [False], "become_method": ["sudo"], "python": [sys.executable]},
                **{"wait": [1], "fact_subsets": [["!all"]], "private_key_file": [other]},
            }
        gone = {"path": str(self._made / "one"), "state": "absent"}
        known: dict[str, list[Any]] = {
            **{"path": [other], "dest": [other], "mode": ["0640", "0750"], "force": [False]},
            **{"content": ["two\n"], "newline_sequence": ["\r\n"]},
            "ansible_delete": [{"module": "ansible.builtin.file", "options": gone}],
            "ansible_environment": [{"A": "1"}],
            "ansible_timeout": [30],
        }
        made = make_type(load_index(), type_name)
        others = {rule.value_name for rule in getattr(made, "rules", ())}
        names = made.properties_schema
        return {name: () if name in others else known.get(name, ()) for name in names}

    def leftovers(self) -> Collection[str] | None:
        """The names in the folder that still hold what a life has made."""
        return [each.name for each in self._made.iterdir() if each.is_dir() or each.read_text()]

    def lose(self, resource_id: str) -> bool:
        """Remove it by hand."""
        path = self._made / "one"
        if path.is_dir():
            path.rmdir()
        elif path.exists():
            path.unlink()
        else:
            return False
        return True

    def outlasts(self, type_name: str) -> bool:
        """A host is there without its resource."""
        return type_name == HOST

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
