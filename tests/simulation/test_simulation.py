"""The engine's steps under crashes, doubles, zombies and newer actions: seed by seed."""

from __future__ import annotations

import pytest

from .sim.play import play

#: Seeds that once failed, and what they found.
KEPT = [
    pytest.param(0, id="running-requirements-of-a-failed-deletion-stayed-open"),
    pytest.param(4, id="two-steps-of-one-transaction-shared-a-fence"),
    pytest.param(31, id="an-instance-that-came-back-was-deleted"),
    pytest.param(3085, id="a-check-healed-what-was-never-made"),
    pytest.param(4071, id="a-newer-plan-in-the-transaction-of-a-begin"),
]


@pytest.mark.parametrize("hundred", range(5))
def test_every_seed_ends_as_it_must(hundred: int) -> None:
    for seed in range(hundred * 100, hundred * 100 + 100):
        try:
            play(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


def test_what_types_that_do_nothing_outside_store_comes_with_their_answers() -> None:
    for seed in range(200):
        try:
            play(seed, inward=True)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize("seed", KEPT)
def test_a_seed_that_once_failed_still_holds(seed: int) -> None:
    play(seed, again=False)
