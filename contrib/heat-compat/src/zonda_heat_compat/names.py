"""Lends the name ``heat`` to this distribution, unless somebody else owns it.

Runs at the start of every Python process of the environment (a ``.pth`` line), so it imports only
what is imported anyway. Nothing of Heat's API is loaded before a plug-in asks for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

#: Folders that hold a package ``heat`` (``pip install --no-deps --target FOLDER openstack-heat``).
#: Modules that plug-ins import and that are not provided here are looked for in them.
EXTRA_PATH = "HEAT_COMPAT_PATH"

_HERE = os.path.dirname(os.path.abspath(__file__))


class Names:
    """Finds ``heat`` and what is below it: here, and then in the folders of ``EXTRA_PATH``."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, or None where it is not ours."""
        if name != "heat" and not name.startswith("heat."):
            return None
        if name == "heat" and owner() is not None:
            return None
        if name != "heat" and not _is_ours(sys.modules.get("heat")):
            return None
        inner = os.path.join(*name.split(".")[:-1]) if "." in name else ""
        for root in (_HERE, *extra_folders()):
            spec = PathFinder.find_spec(name, [os.path.join(root, inner)])
            if spec is not None and spec.origin is not None:
                return spec
        return None


def extra_folders() -> list[str]:
    """The folders that ``EXTRA_PATH`` names."""
    return [each for each in os.environ.get(EXTRA_PATH, "").split(os.pathsep) if each]


def owner() -> str | None:
    """The file of another distribution's ``heat``; None where the name is free."""
    found = PathFinder.find_spec("heat")
    return None if found is None else found.origin  # a folder without __init__.py has no origin


def lend() -> None:
    """Make ``import heat`` find this distribution. Once is enough, more does no harm."""
    if not any(isinstance(finder, Names) for finder in sys.meta_path):
        sys.meta_path.insert(0, Names())


def _is_ours(module: ModuleType | None) -> bool:
    return module is not None and getattr(module, "__zonda__", False)
