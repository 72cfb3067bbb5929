"""The facts of a host, as Ansible's module ``setup`` finds them. Pure; called by ``hosts``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

MODULE: Final = "ansible.builtin.setup"
_PREFIX: Final = "ansible_"
#: Facts that are not passed on: variables of the environment may hold secrets.
_LEFT_OUT: Final = frozenset({"env", "discovered_interpreter_python", "facts_gathered"})


def list_options(subsets: Sequence[str]) -> dict[str, Any]:
    """The options of the module that gathers ``subsets``; all where there are none."""
    return {"gather_subset": list(subsets)} if subsets else {}


def read_facts(result: Mapping[str, Any]) -> dict[str, Any]:
    """The facts in a result of the module, by names without the prefix: ``distribution``, ..."""
    found = {
        str(name).removeprefix(_PREFIX): value
        for name, value in (result.get("ansible_facts") or {}).items()
    }
    return {name: value for name, value in found.items() if name not in _LEFT_OUT}
