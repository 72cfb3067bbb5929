"""The engine's steps under crashes, doubles, zombies and newer actions: seed by seed.

``ZONDA_SIMULATION_SEEDS`` (a number) plays more of them than a normal run does.
"""

from __future__ import annotations

import pytest

from .sim.play import play

#: Seeds that once failed.
KEPT: list[int] = []


@pytest.mark.parametrize("hundred", range(5))
def test_every_seed_ends_as_it_must(hundred: int) -> None:
    for seed in range(hundred * 100, hundred * 100 + 100):
        try:
            play(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize("seed", KEPT)
def test_a_seed_that_once_failed_still_holds(seed: int) -> None:
    play(seed)
