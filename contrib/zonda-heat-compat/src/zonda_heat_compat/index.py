"""The types of openstack-heat that cannot be used, with the reasons: kept per set of distributions.

To know them every file is imported, with the clients of all services: that takes a second or more.
So the result is kept in the cache of the user, and found anew where anything else is installed.
Called by ``installed``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

#: The number of the format: files of another are made anew.
_FORMAT: Final = 1


def find_cache_folder() -> Path:
    """The folder of what is kept between runs; it may be removed at any time."""
    given = os.environ.get("XDG_CACHE_HOME") or ""
    base = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    return base / "zonda" / "heat-compat"


def load_faults(look: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    """The reasons by type: as they were found before, or by ``look``, and kept."""
    path = find_cache_folder() / f"faults-{_compute_fingerprint()}.json"
    with contextlib.suppress(OSError, ValueError):
        kept: Any = json.loads(path.read_text("utf-8"))
        if isinstance(kept, dict):
            return kept
    found = look()
    # Without a place to keep it it is found again next time.
    with contextlib.suppress(OSError):
        _write(path, json.dumps(found))
    return found


def _compute_fingerprint() -> str:
    """A text that changes with Python, with any installed distribution and with this package."""
    installed = []
    for folder in sys.path:
        with contextlib.suppress(OSError):
            installed += [each for each in os.listdir(folder or ".") if each.endswith("-info")]
    own = Path(__file__).parent
    files = sorted((str(each), each.stat().st_mtime_ns) for each in own.rglob("*.py"))
    said = json.dumps([_FORMAT, sys.version, sorted(installed), files])
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _write(path: Path, text: str) -> None:
    """Write a file in one step: another process reads all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)
