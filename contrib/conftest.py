"""Tests of a contrib package are collected where the package is installed, and else left alone.

``.ci/run`` runs each in an environment of its own, where this file is out of sight.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def _is_installed(settings: Path) -> bool:
    try:
        version(tomllib.loads(settings.read_text())["project"]["name"])
    except PackageNotFoundError:
        return False
    return True


collect_ignore = [
    str(settings.parent)
    for settings in sorted(Path(__file__).parent.glob("*/pyproject.toml"))
    if not _is_installed(settings)
]
