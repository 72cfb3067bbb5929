"""The pytest fixture ``zonda_stack``: whole templates, in memory, without waiting.

pytest loads this module wherever zonda is installed (entry point ``pytest11``), so it imports
nothing of zonda until a test asks for the fixture. For authors of plug-ins; see
docs/how-to/write-a-plugin.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # what a session that does not use the fixture must not pay for
    from .stack import InlineStack


@pytest.fixture
def zonda_plugin_dirs() -> list[Path]:
    """Folders with plug-ins that are plain files. Override it in your tests; none by default."""
    return []


@pytest.fixture
def zonda_stack(tmp_path: Path, zonda_plugin_dirs: list[Path]) -> Iterator[InlineStack]:
    """One stack, with every plug-in that is installed or in ``zonda_plugin_dirs``."""
    from .stack import InlineStack

    stack = InlineStack(tmp_path, zonda_plugin_dirs)
    yield stack
    stack.close()
