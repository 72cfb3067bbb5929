"""Fixtures of tests on a real OpenStack; ``bash .ci/openstack`` starts a small one.

By hand: set ``OS_CLIENT_CONFIG_FILE`` to a file with the clouds ``demo`` and ``admin``, and
``ZONDA_CLOUD`` to the folder that has ``templates_zonda``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from inventory import run_zonda


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    has_cloud = os.environ.get("ZONDA_CLOUD") and os.environ.get("OS_CLIENT_CONFIG_FILE")
    return None if has_cloud else True


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Run a command of zonda, with a database of the test's own; no stack outlives the test."""
    clouds: list[str] = []

    def command(cloud: str, *words: str, code: int | None = 0) -> str:
        clouds.append(cloud)
        done = run_zonda(tmp_path / "home", cloud, *words)
        said = done.stdout + done.stderr
        assert code in (None, done.returncode), f"zonda {' '.join(words)}\n{said}"
        return said

    yield command
    for cloud in dict.fromkeys(clouds):
        for _ in range(2):  # what another resource has kept goes at the second attempt
            if run_zonda(tmp_path / "home", cloud, "stack", "show", "s").returncode == 0:
                run_zonda(tmp_path / "home", cloud, "stack", "delete", "--yes", "s")
