"""Limits of what a project may have, counted by two members on a real PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.test_membership import Cluster
from tests.postgresql_server import PostgreSQL

from zonda.core.engine.actions import Allowance, Caller, CreateStack
from zonda.core.engine.plan.quotas import QuotaExceeded

WAITS = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.fixture
def cluster(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(postgresql.make_database(), tmp_path)
    yield made
    for app in made.apps:
        app.close()
    made.bench.store.close()


def limit(**most: int) -> Caller:
    return Caller(allowance=Allowance(most, lambda definition: None))


def test_two_members_that_accept_at_one_moment_do_not_pass_a_quota(cluster: Cluster) -> None:
    one, two = cluster.start("one"), cluster.start("two")
    bundle = cluster.bench.bundle("a: {type: Test::Box}")
    counted, free = threading.Event(), threading.Event()

    def hold(*_: Any) -> None:
        counted.set()
        assert free.wait(60)

    first = one.engine.submit(CreateStack("s", bundle), limit(stacks=1), hold)
    assert counted.wait(60)
    second = two.engine.submit(CreateStack("t", bundle), limit(stacks=1))
    cluster.wait_until(lambda: bool(cluster.execute(WAITS)))
    free.set()
    first.result(60)
    with pytest.raises(QuotaExceeded, match="maximum stacks per tenant, 1"):
        second.result(60)
