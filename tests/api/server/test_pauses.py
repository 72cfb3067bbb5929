"""Short pauses while a server runs; the interpreter is as before afterwards."""

from __future__ import annotations

import gc
import sys

import pytest

from zonda.core.api.server import pauses


def test_threads_give_way_soon_and_full_collections_are_rare() -> None:
    before = sys.getswitchinterval(), gc.get_threshold()
    with pauses.keep_pauses_short():
        assert sys.getswitchinterval() == pytest.approx(pauses.SWITCH_INTERVAL)
        assert gc.get_threshold() == pauses.COLLECTION
        assert gc.get_freeze_count() > 0
    assert (sys.getswitchinterval(), gc.get_threshold()) == before
