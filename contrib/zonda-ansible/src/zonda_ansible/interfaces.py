"""The interfaces of modules: read by ansible-core in a process of its own, once, and then kept.

Called by ``types`` when a template uses a module, and by the check of all modules.
"""

from __future__ import annotations

import os
from typing import Any, Final

from .agents import get_agent
from .index import FORMAT, Index, find_cache_folder, read_kept, write_kept

#: Seconds until a module that cannot be read is given up.
_LIMIT: Final = 60
#: The number of times that it is asked, since the agent may have been killed meanwhile.
_TRIES: Final = 3


class NoInterface(Exception):
    """Nothing tells what a module takes; the text is the reason."""

    #: The advice.
    hint = "Install its collection anew: what zonda knows of the resource is kept."


class NoAgent(NoInterface):
    """ansible-core does not run, which is no fault of the module."""

    hint = "'ansible --version' tells why: correct Ansible's settings, or install it anew."


def load_interface(index: Index, module: str) -> dict[str, Any]:
    """The interface of a module of the index; raises NoInterface."""
    file = index.modules[module]
    folder = find_cache_folder() / "modules" / index.get_collection(module)
    kept = folder / f"{module}.json"
    state = [FORMAT, file, index.get_version(module), *_get_state(file)]
    known = read_kept(kept)
    if not isinstance(known, list) or len(known) != 2 or known[0] != state:
        question = {"module": module, "file": file, "limit": _LIMIT}
        for _ in range(_TRIES):
            found = get_agent(index.fingerprint).ask(question).result()
            if "lost" not in found:
                break
        if found.get("late"):
            found = {"error": f"it cannot be read in {_LIMIT} seconds"}
        if "lost" in found:  # which says nothing of the module: not kept
            raise NoAgent("ansible-core cannot be run")
        known = [state, found]
        write_kept(kept, known)
    interface: dict[str, Any] = known[1]
    if "error" in interface:
        raise NoInterface(interface["error"])
    return interface


def _get_state(file: str) -> list[int]:
    try:
        found = os.stat(file)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]
