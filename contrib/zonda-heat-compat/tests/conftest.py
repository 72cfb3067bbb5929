"""Where the plug-ins of the tests stand."""

from __future__ import annotations

from pathlib import Path

import pytest

IDIOMS = Path(__file__).parent / "idioms"

collect_ignore = ["idioms"]


@pytest.fixture
def zonda_plugin_dirs() -> list[Path]:
    return [IDIOMS]
