"""Threads that make the instances of plug-ins do not wait for each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda.hooks import ResourceDefinition

from zonda_heat_compat import plugin
from zonda_heat_compat.adapter import Adapted

assert plugin, "it lends the name heat"


def test_each_instance_is_made_while_others_are() -> None:
    """Each is there only once both are being made."""
    barrier = Barrier(2, timeout=60)

    class Slow(Adapted):
        def _make_heat(self) -> Any:
            return barrier.wait()

    def make() -> Any:
        lent: Any = SimpleNamespace()
        return Slow("r", ResourceDefinition("r", "X"), lent).heat

    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(make) for _ in range(2)]
        assert {each.result() for each in made} == {0, 1}
