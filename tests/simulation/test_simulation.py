"""The engine's steps under crashes, doubles, zombies and newer actions: seed by seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.engine.actions import table

from .sim.letting_go import live_letting_go
from .sim.life import live, live_drifting, live_nested
from .sim.play import play

#: Seeds of plain lives that once failed, and what they found.
KEPT = [
    pytest.param(0, id="running-requirements-of-a-failed-deletion-stayed-open"),
    pytest.param(4, id="two-steps-of-one-transaction-shared-a-fence"),
    pytest.param(31, id="an-instance-that-came-back-was-deleted"),
    pytest.param(3085, id="a-check-healed-what-was-never-made"),
    pytest.param(4071, id="a-newer-plan-in-the-transaction-of-a-begin"),
]

#: The same of whole lives; ``tests/engine/test_simulation_regressions.py`` has them made simple.
KEPT_WHOLE = [
    pytest.param(37, id="what-an-import-had-left-behind-took-its-place-with-its-old-users"),
    pytest.param(0, id="what-is-made-instead-of-adopted-was-left-behind"),
    pytest.param(18, id="a-failed-snapshot-was-never-healed"),
    pytest.param(29, id="what-was-being-removed-was-taken-for-what-had-failed"),
    pytest.param(20872, id="a-snapshot-lacked-what-was-marked-meanwhile"),
    pytest.param(50334, id="what-a-part-made-in-vain-was-kept-for-ever"),
    pytest.param(60383, id="a-rollback-went-back-to-what-was-good-too-long-ago"),
    pytest.param(51012, id="one-commit-ended-an-action-and-began-the-next"),
    pytest.param(60077, id="what-was-suspended-was-marked-before-its-requirement-was"),
    pytest.param(52898, id="what-was-read-ended-with-the-signals-of-another"),
    pytest.param(70032, id="another-plan-file-was-made-for-the-same-generation"),
    pytest.param(60563, id="what-was-half-removed-was-updated-not-there-any-more"),
    pytest.param(62560, id="what-was-half-removed-before-an-update-that-failed"),
    pytest.param(60773, id="a-handler-given-up-told-late-of-what-was-left-out"),
    pytest.param(63215, id="a-handler-given-up-told-late-while-what-it-made-was-excluded"),
    pytest.param(61286, id="what-was-imported-was-adopted-as-another-type-too"),
    pytest.param(200161, id="a-deletion-failed-and-its-stack-was-protected-meanwhile"),
    pytest.param(202931, id="what-is-always-updated-was-replaced-and-said-something-else"),
    pytest.param(203007, id="an-earlier-snapshot-was-taken-for-the-one-that-is-retried"),
    pytest.param(203548, id="an-update-of-what-could-not-be-resumed-failed"),
    pytest.param(205386, id="what-was-refused-was-at-its-breakpoint-still"),
    pytest.param(300393, id="one-commit-ended-an-adoption-and-began-the-next-action"),
    pytest.param(302140, id="an-adoption-given-up-told-late-of-what-was-left-out"),
    pytest.param(304310, id="one-commit-replaced-something-and-left-it-out-of-the-next-plan"),
    pytest.param(705894, id="what-never-began-was-left-out-and-what-it-replaced-was-removed"),
    pytest.param(740928, id="what-failed-in-between-was-taken-for-what-was-to-be-replaced"),
    pytest.param(741044, id="an-older-plan-had-wanted-otherwise-what-was-left-out"),
    pytest.param(761006, id="what-was-left-out-had-failed-to-be-updated"),
    pytest.param(761238, id="one-commit-replaced-something-and-restricted-it-in-the-next-plan"),
    pytest.param(700008, id="a-replacement-that-failed-long-ago-was-left-out"),
    pytest.param(702192, id="one-commit-replaced-something-and-protected-it-in-the-next-plan"),
    pytest.param(703888, id="the-time-of-a-deletion-went-by-at-a-breakpoint"),
    pytest.param(51340, id="what-was-not-replaced-after-all-was-never-looked-at-again"),
    pytest.param(3081, id="what-was-protected-after-it-was-replaced-had-another-successor"),
]

#: The same of lives with nested stacks; ``tests/engine/test_nested_*.py`` have them made simple.
KEPT_NESTED = [
    pytest.param(7, id="a-nested-stack-was-planned-in-a-tree-that-was-halted"),
    pytest.param(48, id="a-signal-made-a-nested-stack-before-what-it-requires"),
    pytest.param(500100, id="what-was-nested-was-restored-with-its-owner"),
    pytest.param(500390, id="a-group-that-could-not-be-deleted-was-signalled"),
    pytest.param(500558, id="a-signal-that-came-too-early-had-stored-a-size"),
    pytest.param(600294, id="what-was-nested-was-updated-after-a-resumption-that-never-reached-it"),
    pytest.param(500335, id="the-clock-was-set-back-in-a-pause-between-two-batches"),
    pytest.param(900110, id="a-group-that-a-plan-left-out-was-signalled-meanwhile"),
    pytest.param(900373, id="a-group-that-a-plan-left-out-was-made-by-a-signal"),
    pytest.param(40512, id="a-rollback-had-what-only-an-older-template-has"),
    pytest.param(40711, id="what-an-attempt-had-left-was-half-removed-in-a-stack-set-free"),
    pytest.param(41151, id="a-deletion-was-given-up-in-a-stack-that-was-set-free"),
    pytest.param(90224, id="a-signal-was-given-up-half-way-and-had-made-a-member-that-failed"),
    pytest.param(72046, id="the-clock-was-set-back-and-a-breakpoint-over-in-one-transaction"),
    pytest.param(5091, id="what-a-signal-had-begun-went-on-below-a-stack-that-had-timed-out"),
]

#: The same of lives in which things drift; the short form is in
#: ``tests/engine/plan/test_adoption.py``.
KEPT_DRIFTING = [
    pytest.param(151618, id="an-update-was-put-back-behind-removals-before-its-breakpoint"),
    pytest.param(151921, id="an-update-was-put-back-before-its-breakpoint-in-a-longer-life"),
    pytest.param(23, id="the-clock-was-set-and-a-stack-cancelled-in-one-commit"),
    pytest.param(30574, id="a-signal-asked-what-was-adopted-and-had-no-id-yet"),
]

#: What may be asked of a tree of stacks here.
NESTED = (
    actions.CancelStack,
    actions.CheckStack,
    actions.ClearHooks,
    actions.CreateStack,
    actions.DeleteSnapshot,
    actions.DeleteStack,
    actions.MarkResource,
    actions.ProtectStack,
    actions.RestoreSnapshot,
    actions.ResumeStack,
    actions.RetryStack,
    actions.RollbackStack,
    actions.SignalResource,
    actions.SnapshotStack,
    actions.SuspendStack,
    actions.UpdateStack,
)


#: What is asked where somebody changes things by hand.
OF_DRIFT = {"CheckDrift", "RepairDrift", "SetDrift", "IgnoreDrift", "UnignoreDrift"}


def played(seeds: range, play_one: Callable[[int], Any]) -> Counter[str]:
    """All of them; what was counted in all."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        try:
            counted += play_one(seed).counted
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    return counted


def test_a_whole_life_ends_as_it_must_whatever_is_asked_for() -> None:
    counted = played(range(110), live)
    every = set(table.ACTIONS)
    missing = every - set(counted) - OF_DRIFT - {"MoveResource"}  # engine/plan/test_moves.py
    assert not missing


def test_a_life_in_which_things_drift_ends_as_it_must() -> None:
    counted = played(range(30), live_drifting)
    assert set(counted) >= OF_DRIFT


def test_a_life_in_which_things_let_go_for_a_successor_ends_as_it_must() -> None:
    assert played(range(30), live_letting_go)["got back"]


def test_a_life_with_nested_stacks_ends_as_it_must() -> None:
    counted = played(range(80), live_nested)
    missing = {kind.__name__ for kind in NESTED} - set(counted)
    assert not missing


def test_a_plain_life_ends_as_it_must() -> None:
    played(range(80), play)


def test_what_types_that_do_nothing_outside_store_comes_with_their_answers() -> None:
    def inward(seed: int) -> Any:
        return play(seed, inward=True)

    played(range(60), inward)


@pytest.mark.parametrize("seed", KEPT)
def test_a_seed_that_once_failed_still_holds(seed: int) -> None:
    play(seed, again=False)


@pytest.mark.parametrize("seed", KEPT_WHOLE)
def test_a_whole_life_that_once_failed_still_holds(seed: int) -> None:
    live(seed)


@pytest.mark.parametrize("seed", KEPT_NESTED)
def test_a_life_with_nested_stacks_that_once_failed_still_holds(seed: int) -> None:
    live_nested(seed)


@pytest.mark.parametrize("seed", KEPT_DRIFTING)
def test_a_life_in_which_things_drift_that_once_failed_still_holds(seed: int) -> None:
    live_drifting(seed)
