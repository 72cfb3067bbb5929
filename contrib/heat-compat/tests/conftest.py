"""Heat's plug-ins need the name ``heat``, so the package has to be installed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="not installed: pip install contrib/heat-compat")

IDIOMS = Path(__file__).parent / "idioms"

collect_ignore = ["idioms"]


@pytest.fixture
def zonda_plugin_dirs() -> list[Path]:
    return [IDIOMS]
