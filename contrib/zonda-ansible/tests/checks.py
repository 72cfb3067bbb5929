"""The outside worlds of ``zonda plugin check`` for modules that have a case, by the case's name::

    PYTHONPATH=tests zonda plugin check zonda-ansible --type Ansible::ansible.builtin.user \
        --backend checks:user
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import servers
from cases import CASES
from cases.ground import Ground

from zonda_ansible.checking import World
from zonda_ansible.index import load_index
from zonda_ansible.types import make_type

#: Other values that any module takes.
_OTHERS: Final = {"ansible_timeout": [120], "ansible_environment": [{"A": "1"}]}
#: Hidden options that not any text will do for: no key of a case has a passphrase.
_NOT_GIVEN: Final = ("passphrase", "privatekey_passphrase")


class CaseWorld(World):
    """The ground that a case stands on, and the options that it has at first and then."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._later = ExitStack()
        folder = Path(mkdtemp(dir=self.folder))
        self.case = CASES[name](Ground(folder, self._later, _get_postgresql))

    def properties(self, type_name: str) -> Mapping[str, Any]:
        """The options of the case."""
        known = make_type(load_index(), type_name).properties_schema
        left_out = {name: None for name in _NOT_GIVEN if name in known}
        return {**left_out, **self.case.given, **self.case.more}

    def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
        """The options that the case changes; of others no good value is known."""
        names = super().changes(type_name)
        known = {name: [value] for name, value in self.case.changed.items()}
        return {name: known.get(name, _OTHERS.get(name, ())) for name in names}

    def leftovers(self) -> Collection[str]:
        """The thing of the case."""
        return ["the thing"] if self.case.is_there() else []

    def lose(self, resource_id: str) -> bool:
        """No hand takes it away."""
        return False

    def close(self) -> None:
        """Leave nothing of the ground."""
        self._later.close()
        super().close()


def __getattr__(name: str) -> Callable[[], CaseWorld]:
    if name not in CASES:
        raise AttributeError(name)
    return partial(CaseWorld, name)


@cache
def _start_postgresql() -> tuple[Mapping[str, Any], subprocess.Popen[bytes]]:
    """The settings of a server, and its keeper, which ends with this process, however that ends."""
    keeper = subprocess.Popen(
        [sys.executable, servers.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert keeper.stdout is not None
    return json.loads(keeper.stdout.readline()), keeper


def _get_postgresql() -> Mapping[str, Any]:
    return _start_postgresql()[0]
