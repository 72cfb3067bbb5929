"""Members behind PgBouncer in transaction mode: no session is theirs for longer than that."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.cluster.test_membership import Cluster, list_states
from tests.cluster.test_queue import begin_slow, has_queue
from tests.pgbouncer import run_pgbouncer
from tests.postgresql_server import PostgreSQL

from zonda.core.app.app import App
from zonda.core.engine.actions import Caller, DeleteStack
from zonda.core.store.postgresql.connection import connect, is_pooled
from zonda.core.store.postgresql.members import Members
from zonda.core.store.write.database import find_database
from zonda.hooks.errors import StoreError


@pytest.fixture
def pooler(postgresql: PostgreSQL) -> Iterator[PostgreSQL]:
    folder = Path(tempfile.mkdtemp(prefix="zpb-"))  # another user reads there
    with run_pgbouncer(postgresql, folder) as through:
        yield through
    shutil.rmtree(folder)


class Pooled(Cluster):
    """A cluster behind a pooler; ``direct``: the URL of the server itself."""

    direct = ""

    def start(self, name: str, **given: Any) -> App:
        """A member that listens at "direct", or as ``listen_url`` says."""
        if given.get("listen_url") == "direct":
            given["listen_url"] = self.direct
        return super().start(name, **given)


@pytest.fixture
def cluster(postgresql: PostgreSQL, pooler: PostgreSQL, tmp_path: Path) -> Iterator[Pooled]:
    name = str(psycopg.conninfo.conninfo_to_dict(postgresql.make_database())["dbname"])
    made = Pooled(pooler.build_url(name), tmp_path)
    made.direct = postgresql.build_url(name)
    yield made
    made.bench.journal.behave.clear()
    for app in made.apps:
        app.close()
    made.bench.store.close()
    postgresql.drop_databases()


def test_a_pooler_is_seen(cluster: Pooled) -> None:
    for url, expected in ((cluster.url, True), (cluster.direct, False)):
        with connect(url, "x") as connection:
            assert is_pooled(connection) is expected
            assert (connection.prepare_threshold is None) is expected


@pytest.mark.parametrize("listens", ["off", "", "direct"])
def test_two_members_share_the_work_through_a_pooler(
    cluster: Pooled, listens: str, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = (cluster.start(name, listen_url=listens) for name in ("one", "two"))
    keys = [cluster.create(app, f"s{n}") for n, app in enumerate((one, two) * 8)]
    cluster.wait_until(lambda: list(list_states(two).values()) == ["COMPLETE"] * 16)
    slow = begin_slow(cluster, one, "slow")
    owner = cluster.find_owner(slow)
    two.engine.submit(DeleteStack("slow"), Caller()).result(60)  # asked of its owner
    cluster.bench.journal.behave.clear()
    for name in (f"s{n}" for n in range(16)):
        two.engine.submit(DeleteStack(name), Caller()).result(60)
    cluster.wait_until(lambda: list_states(one) == {})
    assert len({*keys, slow}) == 17
    assert owner is not None
    warned = "a pooler stands before PostgreSQL" in caplog.text
    assert warned == (listens == "")
    if listens == "direct":
        cluster.wait_until(lambda: has_queue(one))
    assert has_queue(one) == (listens == "direct")


@pytest.mark.parametrize("listens", ["off", "direct"])
def test_a_dead_member_is_replaced_behind_a_pooler(cluster: Pooled, listens: str) -> None:
    one = cluster.start("one", listen_url=listens)
    key = begin_slow(cluster, one, "s")
    cluster.wait_until(lambda: "check" in cluster.bench.journal.of("a"))
    first = cluster.find_owner(key)
    two = cluster.start("two", listen_url=listens)
    late = "UPDATE member SET expires_at = 1 WHERE id = %s RETURNING id"
    cluster.wait_until(lambda: not cluster.execute(late, first))  # it may renew its lease
    cluster.wait_until(lambda: cluster.find_owner(key) not in (None, "", first))
    cluster.bench.journal.behave.clear()
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})
    assert cluster.bench.journal.of("a").count("handle_create") == 1


def test_what_needs_a_session_says_so(cluster: Pooled) -> None:
    database = find_database(cluster.url)
    with pytest.raises(StoreError, match="A pooler stands before") as caught:
        database.engine_lock().acquire()
    assert "the database_url of the server itself" in str(caught.value.hint)
    database.close()


def test_a_duty_that_is_no_tree_has_one_owner(cluster: Pooled) -> None:
    one = cluster.start("one", listen_url="off")
    ((member,),) = cluster.execute("SELECT id FROM member")
    members = Members(cluster.url, "the test's")
    assert members.claim("sinks", member)
    assert not members.claim("sinks", "nobody")
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("UPDATE duty SET member = NULL")
    assert not members.claim("sinks", "nobody")
    assert members.claim("sinks", member)
    members.close()
    cluster.apps.remove(one)
    one.close()
    assert cluster.execute("SELECT key, member FROM duty") == [("sinks", None)]
