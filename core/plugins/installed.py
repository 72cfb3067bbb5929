"""The installed plug-ins: the entry points of group ``zonda``. Called by ``manager``.

``importlib.metadata`` lists them, and takes a tenth of a short command to say that there are none:
it imports a parser of e-mail and reads the files of every distribution. So the folders of
``sys.path`` are searched for the name of the group first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # what only an installed plug-in needs
    from importlib.metadata import Distribution

GROUP: Final = "zonda"
_SECTION: Final = f"[{GROUP}]".encode()


def list_installed() -> Iterator[tuple[str, Callable[[], object], Distribution | None]]:
    """List the entry points of the group: name, loader, distribution."""
    if not (_have_other_finders() or any(map(_may_name_group, dict.fromkeys(sys.path)))):
        return
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        yield entry.name, entry.load, entry.dist


def _have_other_finders() -> bool:
    """Whether something else than Python's own finder of folders knows distributions."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return len(finders) > 1


def _may_name_group(folder: str) -> bool:
    """Whether a distribution in a folder (or in an archive, which is not opened) has the group."""
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return os.path.isfile(folder)
    return any(
        name.endswith(".egg")
        or (name.endswith((".dist-info", ".egg-info")) and _names_group(f"{folder or '.'}/{name}"))
        for name in names
    )


def _names_group(distribution: str) -> bool:
    try:
        with open(f"{distribution}/entry_points.txt", "rb") as file:
            return _SECTION in file.read()
    except OSError:
        return False
