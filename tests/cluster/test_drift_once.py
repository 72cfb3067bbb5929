"""Schedules of drift with two members on a real PostgreSQL: each due check is made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.test_membership import Cluster, list_states
from tests.postgresql_server import PostgreSQL

from zonda.core.engine.actions import Caller, SetDrift

CHECKS = "SELECT count(*), count(*) FILTER (WHERE status = 'COMPLETE') FROM drift_check"


@pytest.fixture
def cluster(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(postgresql.make_database(), tmp_path)
    yield made
    for app in made.apps:
        app.close()
    made.bench.store.close()


def test_a_due_check_is_made_by_one_of_two_members(cluster: Cluster) -> None:
    one, two = cluster.start("one"), cluster.start("two")
    keys = [cluster.create(one, f"s{number}") for number in range(3)]
    cluster.wait_until(lambda: {*list_states(two).values()} == {"COMPLETE"})
    for key in keys:
        one.engine.submit(SetDrift(key, schedule="1d"), Caller()).result(60)
    cluster.wait_until(lambda: not cluster.execute("SELECT 1 FROM duty"))
    for round_ in (1, 2):
        cluster.execute("UPDATE stack SET drift_next = 1")
        cluster.wait_until(lambda: not cluster.execute("SELECT 1 FROM stack WHERE drift_next = 1"))
        cluster.wait_until(lambda: not cluster.execute("SELECT 1 FROM duty"))
        assert cluster.execute(CHECKS) == [(3 * round_, 3 * round_)]
