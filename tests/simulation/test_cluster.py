"""Several processes on one database under crashes, pauses and wrong clocks: seed by seed."""

from __future__ import annotations

import pytest

from .sim.cluster.life import live_cluster
from .sim.cluster.mutations import MUTATIONS, mutated
from .test_simulation import played

#: Seeds that once failed, and what they found; ``tests/cluster/test_members.py`` has them simple.
KEPT = [
    pytest.param(3, id="edges-were-kept-over-a-claim"),
    pytest.param(56, id="the-tree-of-an-owner-that-was-never-complete-was-never-at-rest"),
    pytest.param(1319, id="a-stack-was-set-free-between-removal-and-creation"),
    pytest.param(1475, id="a-tree-was-released-under-an-action-on-its-way"),
    pytest.param(1542, id="a-check-was-begun-in-a-tree-that-was-handed-over"),
    pytest.param(1569, id="a-request-named-what-was-another-stack-by-then"),
    pytest.param(1998, id="a-tree-was-kept-after-a-check-that-outlasted-a-look"),
    pytest.param(6030, id="a-signal-had-failed-two-stacks-below"),
    pytest.param(5981, id="an-engine-wrote-in-the-next-life-of-its-member"),
    pytest.param(20487, id="a-wait-was-too-short-to-be-counted"),
    pytest.param(20935, id="a-signal-failed-while-it-replaced-something"),
    pytest.param(22578, id="a-pause-was-counted-by-the-clock-of-a-host-that-had-stood-still"),
    pytest.param(22688, id="a-rollback-was-owed-again-while-it-was-planned"),
    pytest.param(43970, id="a-tree-was-released-in-the-transaction-that-told-of-its-progress"),
    pytest.param(21353, id="a-retry-went-over-to-a-host-that-had-stood-still"),
    pytest.param(5699, id="a-stack-was-kept-that-was-at-rest-when-it-was-set-free"),
]
#: Seeds within which a mutation is found, at most.
MOST = 2000


def test_a_life_in_a_cluster_ends_as_it_must() -> None:
    counted = played(range(20), live_cluster)
    disruptions = {"kill", "stand_still", "sleep_host", "miss_renewals", "cut", "end", "drain"}
    assert set(counted) >= {*disruptions, "calls cut off", "commits that nobody heard of"}
    assert counted["UpdateStack"] > counted["UpdateStack refused"]


@pytest.mark.parametrize("seed", KEPT)
def test_a_life_in_a_cluster_that_once_failed_still_holds(seed: int) -> None:
    live_cluster(seed)


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_holds_a_cluster_together_is_missed(name: str) -> None:
    with mutated(name), pytest.raises(Exception, match="seed"):
        played(range(MOST), live_cluster)
