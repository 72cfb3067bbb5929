"""The queue of a cluster, on a real PostgreSQL: trees are placed by it, and without it later."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from procrastinate.worker import Worker
from tests.cluster.test_membership import Cluster, list_states
from tests.engine.conftest import KEY
from tests.postgresql_server import PostgreSQL

from zonda.core.app.app import App
from zonda.core.cli.main import main
from zonda.core.cluster import queue
from zonda.core.cluster.placement import DRIVE, SCHEMA, Placement
from zonda.core.engine.actions import Caller, CreateStack, DeleteStack
from zonda.core.engine.runtime.engine import Engine
from zonda.core.store.database.placement import ASKED, CHECKED
from zonda.core.store.postgresql.connection import ServerConnection, connect
from zonda.core.store.postgresql.members import Members

JOBS = (
    f"SELECT args ->> 'key', status::text FROM {SCHEMA}.procrastinate_jobs"
    f" WHERE task_name = '{DRIVE}' ORDER BY id"
)
TABLES = f"SELECT relname FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace ORDER BY 1"
FUNCTIONS = f"SELECT proname FROM pg_proc WHERE pronamespace = '{SCHEMA}'::regnamespace ORDER BY 1"


@pytest.fixture
def cluster(postgresql: PostgreSQL, tmp_path: Any) -> Iterator[Cluster]:
    made = Cluster(postgresql.make_database(), tmp_path)
    yield made
    made.bench.journal.behave.clear()
    for app in made.apps:
        app.close()
    made.bench.store.close()
    postgresql.drop_databases()


def start(cluster: Cluster, name: str, **given: Any) -> App:
    """A member that its queue brings trees."""
    app = cluster.start(name, **given)
    cluster.wait_until(lambda: has_queue(app))
    return app


def has_queue(app: App) -> bool:
    return app.store.ownership is not None and app.store.ownership.has_queue


def begin_slow(cluster: Cluster, app: App, name: str) -> str:
    """A stack that is in progress until the journal behaves."""
    cluster.bench.journal.behave["a", "check"] = lambda resource: False
    bundle = cluster.bench.bundle("a: {type: Test::Slow, properties: {value: x}}")
    return app.engine.submit(CreateStack(name, bundle), Caller()).result(60).stack_id


def open_connection(cluster: Cluster) -> ServerConnection:
    return ServerConnection(connect(cluster.url, "the test's"), "the test's")


def test_a_job_is_under_way_as_long_as_its_tree_is_driven(cluster: Cluster) -> None:
    one, two = start(cluster, "one", trees_at_once=1), start(cluster, "two")
    first = begin_slow(cluster, one, "s")
    assert cluster.execute(JOBS) == []  # who accepts a stack works on it
    second = begin_slow(cluster, one, "t")  # there is no room for another one
    cluster.wait_until(lambda: cluster.find_owner(second) is not None)
    assert cluster.find_owner(second) != cluster.find_owner(first)
    assert cluster.execute(JOBS) == [(f"tree:{second}", "doing")]
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE", "t": "COMPLETE"})
    cluster.wait_until(lambda: cluster.execute(JOBS) == [])


def test_what_all_are_too_busy_for_waits_in_the_queue(cluster: Cluster) -> None:
    one = start(cluster, "one", trees_at_once=1)
    begin_slow(cluster, one, "s")
    second = begin_slow(cluster, one, "t")
    cluster.wait_until(lambda: cluster.execute(JOBS) == [(f"tree:{second}", "doing")])
    cluster.wait_until(lambda: cluster.execute(JOBS) == [(f"tree:{second}", "todo")])
    assert cluster.find_owner(second) is None
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE", "t": "COMPLETE"})


def test_a_stop_hands_trees_over_by_the_queue(cluster: Cluster) -> None:
    one = start(cluster, "one")
    key = begin_slow(cluster, one, "s")
    cluster.wait_until(lambda: "check" in cluster.bench.journal.of("a"))
    first, two = cluster.find_owner(key), start(cluster, "two")
    cluster.apps.remove(one)
    one.close()
    cluster.wait_until(lambda: cluster.find_owner(key) not in (None, "", first))
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})
    assert cluster.bench.journal.of("a").count("handle_create") == 1


def test_trees_are_handed_over_at_once_although_a_worker_hears_of_no_jobs(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hear_nothing(*given: Any, **named: Any) -> None:
        """A notification that comes while it looks for jobs is lost."""

    monkeypatch.setattr(Worker, "_handle_notification", hear_nothing)
    # and nothing else looks for free trees
    monkeypatch.setattr(queue, "_POLL", 1e6)
    monkeypatch.setattr(Members, "remove_dead", lambda self: False)
    monkeypatch.setattr(Engine, "sweep_reconcile", lambda self: None)
    one, two = start(cluster, "one"), start(cluster, "two")
    key = begin_slow(cluster, one, "s")
    first = cluster.find_owner(key)
    cluster.apps.remove(one)
    one.close()
    cluster.wait_until(lambda: cluster.find_owner(key) not in (None, "", first))
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})


def test_the_trees_of_a_removed_member_are_put_into_the_queue_with_it(cluster: Cluster) -> None:
    maker = start(cluster, "maker")
    cluster.apps.remove(maker)
    maker.close()
    cluster.execute(
        "WITH dead AS (INSERT INTO member VALUES ('dead', 'h', 1, '', '', '', 0, 0, 1, 0))"
        " INSERT INTO duty VALUES ('tree:x', 'dead', 0, 0, 0), ('tree:y', 'dead', 0, 0, 14),"
        " ('other', 'dead', 0, 0, 0)"
    )
    members = Members(cluster.url, "the test's", Placement().enqueue)
    assert members.reap() == 1
    members.close()
    late = (
        f"SELECT args ->> 'key', scheduled_at > now() FROM {SCHEMA}.procrastinate_jobs"
        f" WHERE task_name = '{DRIVE}'"  # what is due once an hour may stand beside them
    )
    assert sorted(cluster.execute(late)) == [("tree:x", None), ("tree:y", True)]


def test_who_asked_for_something_comes_first(cluster: Cluster) -> None:
    start(cluster, "one")
    connection, placement = open_connection(cluster), Placement()
    connection.begin()
    assert placement.enqueue(connection, [("c", 0.0)], CHECKED)
    assert placement.enqueue(connection, [("a", 0.0), ("b", 0.0)], ASKED)
    found = connection.execute(
        f"SELECT args ->> 'key' FROM {SCHEMA}.procrastinate_jobs"
        f" WHERE task_name = '{DRIVE}' ORDER BY priority DESC, id"
    ).fetchall()
    assert found == [("tree:a",), ("tree:b",), ("tree:c",)]
    connection.rollback()
    connection.close()
    assert cluster.execute(JOBS) == []  # in the same transaction


def test_due_checks_of_drift_are_put_into_the_queue_once(cluster: Cluster) -> None:
    one, two = start(cluster, "one"), start(cluster, "two")
    keys = [cluster.create(one, name) for name in ("s", "t")]
    cluster.wait_until(lambda: cluster.execute("SELECT 1 FROM duty") == [])
    cluster.execute(
        "UPDATE stack SET drift_policy = 'report', drift_schedule = '0 0 1 1 *', drift_next = 1"
    )
    for app in (one, two):  # rows were changed behind their backs
        app.store.forget_rows()
        assert app.engine._engine is not None
        app.engine._engine.sweep_drift()
    checks = "SELECT stack_id, count(*) FROM drift_check GROUP BY 1"
    cluster.wait_until(lambda: sorted(cluster.execute(checks)) == [(key, 1) for key in keys])


def test_without_the_tables_sweeps_find_free_trees(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = start(cluster, "one", trees_at_once=1), start(cluster, "two")
    cluster.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    begin_slow(cluster, one, "s")
    second = begin_slow(cluster, one, "t")  # its transaction is kept all the same
    assert "The queue takes no trees" in caplog.text
    cluster.wait_until(lambda: cluster.find_owner(second) is not None)
    cluster.wait_until(lambda: not has_queue(two))
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE", "t": "COMPLETE"})


def test_a_tree_without_a_job_is_found_soon(cluster: Cluster) -> None:
    one = start(cluster, "one")
    key = begin_slow(cluster, one, "s")
    cluster.wait_until(lambda: "check" in cluster.bench.journal.of("a"))
    first = cluster.find_owner(key)
    two = start(cluster, "two")
    cluster.execute("UPDATE duty SET member = NULL")  # by nobody who knows the queue
    cluster.execute("DELETE FROM member WHERE id = %s", first)
    for app in (one, two):
        assert app.engine._engine is not None
        app.engine._engine.sweep_reconcile = lambda: None  # type: ignore[method-assign]
    cluster.wait_until(lambda: cluster.find_owner(key) is not None)
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})


def test_a_worker_whose_sessions_are_cut_begins_again(cluster: Cluster) -> None:
    one = start(cluster, "one", trees_at_once=1)
    cluster.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE query LIKE '%%procrastinate%%' AND pid != pg_backend_pid()"
    )
    begin_slow(cluster, one, "s")
    begin_slow(cluster, one, "t")
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE", "t": "COMPLETE"})
    cluster.wait_until(lambda: has_queue(one))


def test_jobs_of_dead_workers_are_removed(cluster: Cluster) -> None:
    from procrastinate import App as Queues
    from procrastinate import PsycopgConnector

    from zonda.core.cluster.queue import remove_stalled

    start(cluster, "one")
    cluster.execute(
        f"WITH worker AS (INSERT INTO {SCHEMA}.procrastinate_workers (last_heartbeat)"
        f" VALUES ('2020-01-01') RETURNING id) INSERT INTO {SCHEMA}.procrastinate_jobs"
        " (queue_name, task_name, status, worker_id, args)"
        " SELECT 'trees', 'zonda.drive', 'doing', id, '{\"key\": \"tree:x\"}' FROM worker"
    )
    assert cluster.execute(JOBS) == [("tree:x", "doing")]
    options = f"-c search_path={SCHEMA}"
    app = Queues(connector=PsycopgConnector(conninfo=cluster.url, kwargs={"options": options}))

    async def remove() -> None:
        async with app.open_async():
            await remove_stalled(app)

    asyncio.run(remove())
    assert cluster.execute(JOBS) == []


def test_old_rows_are_deleted_by_one_member_where_there_is_a_queue(cluster: Cluster) -> None:
    one = start(cluster, "one")
    cluster.create(one, "s")
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})
    one.engine.submit(DeleteStack("s"), Caller()).result(60)
    cluster.wait_until(lambda: list_states(one) == {})
    cluster.execute("UPDATE event SET at = 1")
    assert one.engine._engine is not None
    one.engine._engine.housekeeping()  # each has a timer of its own
    cluster.create(one, "t")
    assert cluster.execute("SELECT count(*) > 0 FROM event WHERE at = 1") == [(True,)]
    one.engine._engine.delete_old()
    cluster.wait_until(lambda: cluster.execute("SELECT 1 FROM event WHERE at = 1") == [])


def test_the_tables_are_migrated_by_db_upgrade_alone(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    one = start(cluster, "one")
    made = cluster.execute(TABLES), cluster.execute(FUNCTIONS)
    cluster.apps.remove(one)
    one.close()  # a worker that reads them and who drops them would wait for each other
    command = ["--set", f"database_url={cluster.url}", "db", "upgrade"]
    cluster.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    cluster.execute(f"CREATE SCHEMA {SCHEMA}")
    cluster.execute(f"COMMENT ON SCHEMA {SCHEMA} IS '0'")
    two = cluster.start("two")
    assert "Run 'zonda db upgrade'." in caplog.text
    assert not has_queue(two)
    for said in ("Brought the queue of the cluster up to date.", ""):
        assert main(["--set", f"key={KEY}", *command]) == 0
        output = capsys.readouterr()
        assert said in output.out + output.err
    assert (cluster.execute(TABLES), cluster.execute(FUNCTIONS)) == made
    start(cluster, "three")


def test_the_role_gets_its_settings(cluster: Cluster) -> None:
    start(cluster, "one")
    names = ("idle_in_transaction_session_timeout", "lock_timeout", "tcp_user_timeout")
    found = [cluster.execute(f"SELECT current_setting('{name}')")[0][0] for name in names]
    assert found[:2] == ["30s", "5s"]
    ((kept,),) = cluster.execute(
        "SELECT setconfig FROM pg_db_role_setting WHERE setdatabase ="
        " (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    assert "tcp_user_timeout=3000ms" in kept  # that of the lease


def test_nothing_of_it_is_imported_for_a_file(tmp_path: Any) -> None:
    tell = "import sys; print(*(n for n in sys.modules if n.startswith(('procrast', 'psycopg'))))"
    code = (
        "from zonda.core.cli.main import main\n"
        "main(['stack', 'list'])\nfrom zonda.core.app.app import build_app\n"
        "from zonda.core.settings.table import Settings\nfrom pathlib import Path\n"
        f"app = build_app(Settings(home=Path({str(tmp_path)!r}),"
        f" database_url='sqlite:///{tmp_path}/z.db'))\n"
        f"app.engine.run()\napp.close()\n{tell}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert "procrast" not in done.stdout
    assert "psycopg" not in done.stdout
