"""Members with leases on a real PostgreSQL: who dies is replaced, and writes nothing any more."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.engine.conftest import KEY, Bench, Box
from tests.postgresql_server import PostgreSQL

from zonda.core.app.app import App, build_app
from zonda.core.cli.main import main
from zonda.core.engine.actions import Caller, CheckDrift, CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.settings.table import Settings
from zonda.core.store.postgresql.members import Members
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import Store, open_store
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import Conflict

WAIT = "heat_template_version: 2018-08-31\nresources:\n  a:\n    type: OS::Heat::Delay\n"


class Cluster:
    """Applications on one database, as separate processes would be."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.bench = Bench(open_store(":memory:", sealer=Sealer(KEY)))
        self.clock = SystemClock()
        self.apps: list[App] = []

    def execute(self, statement: str, *values: Any) -> list[Any]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def start(self, name: str, **given: Any) -> App:
        """A member, with the types of the bench."""
        app = self.make(name, **given)
        app.engine.run()
        return app

    def make(self, name: str, **given: Any) -> App:
        """The process of a command, which becomes a member once it acts."""
        settings = Settings(
            home=self.folder / name, database_url=self.url, key=KEY, lease=3.0, **given
        )
        app = build_app(settings)
        app.__dict__["plugins"] = self.bench.plugins
        self.apps.append(app)
        return app

    def create(self, app: App, name: str, value: str = "x") -> str:
        bundle = self.bench.bundle(f"a: {{type: Test::Box, properties: {{value: {value}}}}}")
        return app.engine.submit(CreateStack(name, bundle), Caller()).result(60).stack_id

    def find_owner(self, key: str) -> str | None:
        found = self.execute("SELECT member FROM duty WHERE key = %s", f"tree:{key}")
        return found[0][0] if found else ""

    def wait_until(self, holds: Callable[[], bool], seconds: float = 60.0) -> None:
        until = self.clock.monotonic() + seconds
        while not holds():
            assert self.clock.monotonic() < until, "it has not come about"
            self.clock.pause(0.02)


@pytest.fixture
def cluster(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(postgresql.make_database(), tmp_path)
    yield made
    for app in made.apps:
        app.close()
    made.bench.store.close()
    postgresql.drop_databases()


@pytest.fixture
def members(cluster: Cluster) -> Iterator[Members]:
    app = cluster.start("maker")
    cluster.apps.remove(app)
    app.close()  # the tables are made
    made = Members(cluster.url, "the test's")
    yield made
    made.close()


def list_states(app: App) -> dict[str, str]:
    return {stack.name: stack.status for stack in app.reader.stacks()}


def test_two_members_share_the_work(cluster: Cluster) -> None:
    one, two = cluster.start("one"), cluster.start("two")
    key = cluster.create(one, "s")
    bundle = cluster.bench.bundle("a: {type: Test::Box, properties: {value: y}}")
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})
    two.engine.submit(UpdateStack("s", bundle), Caller()).result(60)
    cluster.wait_until(lambda: cluster.find_owner(key) == "")
    assert list_states(one) == {"s": "COMPLETE"}
    one.engine.submit(DeleteStack("s"), Caller()).result(60)
    cluster.wait_until(lambda: list_states(two) == {})
    assert cluster.bench.journal.of("a")[0] == "handle_create"
    assert cluster.execute("SELECT count(*) FROM member") == [(2,)]


def test_a_member_that_is_removed_begins_another_life(cluster: Cluster) -> None:
    one = cluster.start("one")
    ((before,),) = cluster.execute("SELECT id FROM member")
    cluster.execute("DELETE FROM member")
    cluster.wait_until(lambda: len(cluster.execute("SELECT 1 FROM member")) == 1)
    assert cluster.execute("SELECT id FROM member") != [(before,)]
    cluster.wait_until(lambda: not one.engine.find_trouble())
    cluster.create(one, "s")
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})


def test_a_command_goes_on_with_its_stack_in_the_next_life(cluster: Cluster) -> None:
    app, free = cluster.make("one"), threading.Event()
    behave = cluster.bench.journal.behave
    behave["a", "handle_create"] = lambda resource: free.wait(60) and None
    bundle = cluster.bench.bundle("a: {type: Test::Box, properties: {value: x}}")
    running = app.engine.act(CreateStack("s", bundle))
    cluster.wait_until(lambda: cluster.bench.journal.of("a") == ["handle_create"])
    cluster.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    cluster.wait_until(
        lambda: app.engine.is_at_rest(app.engine.look(running.stack_id, app.engine.look_again))
    )
    # what was in a call is unknown: the default of such a type is to fail
    assert list_states(app) == {"s": "FAILED"}
    free.set()


def test_a_command_ends_the_check_of_drift_whose_process_has_died(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, command = cluster.start("one"), cluster.make("two")
    seen, free = threading.Event(), threading.Event()

    def observe(self: Any) -> dict[str, Any]:
        seen.set()
        free.wait(60)
        return {}

    monkeypatch.setattr(Box, "get_live_state", observe, raising=False)
    cluster.bench.journal.behave["b", "handle_create"] = lambda resource: free.wait(60) and None
    bundle = cluster.bench.bundle("""
a: {type: Test::Box, properties: {value: x}}
b: {type: Test::Box, properties: {value: x}, depends_on: a}
""")
    one.engine.submit(CreateStack("s", bundle), Caller()).result(60)
    cluster.wait_until(lambda: bool(cluster.bench.journal.of("b")))
    check_id = command.engine.act(CheckDrift("s"), drive=False).check_id
    assert seen.wait(60)
    assert one.engine._lives is not None
    one.engine._lives._is_over.set()  # it has died, and does not come back
    cluster.execute("DELETE FROM member WHERE id = (SELECT member FROM duty)")
    cluster.wait_until(lambda: not command.engine.wait_for_check(check_id, 0.1).is_running)
    free.set()


def test_no_life_outlasts_the_end_of_its_process(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, reopen = cluster.start("one"), Store.reopen
    ending = threading.Thread(target=one.close)

    def reopen_late(store: Store) -> None:
        """Begin the end when another life is about to begin."""
        ending.start()
        assert one.engine._lives is not None
        assert one.engine._lives._is_over.wait(60)
        reopen(store)

    monkeypatch.setattr(Store, "reopen", reopen_late)
    cluster.execute("DELETE FROM member")
    cluster.wait_until(lambda: ending.ident is not None)
    ending.join(60)
    sessions = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s"
    cluster.wait_until(lambda: not cluster.execute(sessions, f"zonda {os.getpid()}"), 20)
    assert cluster.execute("SELECT id FROM member") == []


def test_a_member_whose_sessions_are_cut_begins_another_life(cluster: Cluster) -> None:
    one = cluster.start("one")
    cluster.create(one, "s")
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})
    cluster.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid != pg_backend_pid()"
    )
    bundle = cluster.bench.bundle("a: {type: Test::Box, properties: {value: y}}")

    def update() -> bool:
        try:
            one.engine.submit(UpdateStack("s", bundle), Caller()).result(60)
        except Exception:
            return False
        return True

    cluster.wait_until(update)
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})
    assert cluster.bench.journal.of("a").count("handle_create") == 1


def test_a_member_that_leaves_hands_its_trees_over(cluster: Cluster) -> None:
    one = cluster.start("one")
    cluster.bench.journal.behave["a", "check"] = lambda resource: False
    bundle = cluster.bench.bundle("a: {type: Test::Slow, properties: {value: x}}")
    key = one.engine.submit(CreateStack("s", bundle), Caller()).result(60).stack_id
    cluster.wait_until(lambda: "check" in cluster.bench.journal.of("a"))
    first = cluster.find_owner(key)
    two = cluster.start("two")
    cluster.apps.remove(one)
    one.close()
    cluster.wait_until(lambda: cluster.find_owner(key) not in (None, "", first))
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})
    assert cluster.bench.journal.of("a").count("handle_create") == 1
    assert cluster.execute("SELECT count(*) FROM member") == [(1,)]


def test_a_dead_member_is_reaped_when_its_lease_is_over(cluster: Cluster) -> None:
    one = cluster.start("one")
    cluster.execute(
        "WITH dead AS (INSERT INTO member VALUES ('dead', 'h', 1, '', '', '', 0, 0, 1, 0))"
        " INSERT INTO duty VALUES ('tree:x', 'dead', 0, 0, 0), ('tree:y', 'dead', 0, 0, 14)"
    )
    cluster.wait_until(lambda: len(cluster.execute("SELECT 1 FROM member")) == 1)
    # what has ended many members in a row waits; the other one had nothing to do
    cluster.wait_until(lambda: cluster.find_owner("x") == "")
    ((owner, takeovers, waits),) = cluster.execute(
        "SELECT member, takeovers, not_before - extract(epoch FROM now()) FROM duty"
    )
    assert (owner, takeovers) == (None, 15)
    assert 200 < waits <= 300
    assert not one.engine.find_trouble()


LIVING = (
    "WITH member AS (INSERT INTO member VALUES"
    " ('a', 'h', 1, '', '', '', 0, 0, 1e12, 1), ('b', 'h', 1, '', '', '', 0, 0, 1e12, 0))"
    " INSERT INTO duty VALUES ('tree:x', 'a', 0, 0, 0), ('tree:y', 'b', 0, 0, 0)"
)
OWNERS = "SELECT key, member, takeovers FROM duty ORDER BY key"


def test_a_member_whose_process_has_ended_is_removed_before_its_lease_ends(
    cluster: Cluster, members: Members
) -> None:
    cluster.execute(LIVING)
    with psycopg.connect(cluster.url, application_name="zonda listener a"):
        members.remove_dead()
        assert cluster.execute(OWNERS) == [("tree:x", "a", 0), ("tree:y", "b", 0)]
    listeners = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'zonda listener%%'"
    cluster.wait_until(lambda: not cluster.execute(listeners))
    members.remove_dead()
    assert cluster.execute(OWNERS) == [("tree:x", None, 1), ("tree:y", "b", 0)]
    assert cluster.execute("SELECT id FROM member") == [("b",)]


def test_a_renewal_tells_whether_another_member_is_to_be_looked_at(
    cluster: Cluster, members: Members
) -> None:
    def renew() -> bool:
        renewal = members.renew("b", 1e12)
        assert renewal is not None
        return renewal.has_news

    cluster.execute(LIVING)
    with psycopg.connect(cluster.url, application_name="zonda listener a"):
        assert not renew()
        cluster.execute("UPDATE member SET expires_at = 0 WHERE id = 'a'")
        assert renew()
        cluster.execute("UPDATE member SET expires_at = 1e12 WHERE id = 'a'")
        assert not renew()
        cluster.execute("UPDATE duty SET member = NULL WHERE key = 'tree:x'")
        assert renew()
        cluster.execute("UPDATE duty SET member = 'b' WHERE key = 'tree:x'")
        assert not renew()
    listeners = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'zonda listener%%'"
    cluster.wait_until(lambda: not cluster.execute(listeners))
    assert renew()


def test_a_dead_member_whose_last_transaction_is_not_undone_yet_is_removed_after_it(
    cluster: Cluster, members: Members
) -> None:
    with psycopg.connect(cluster.url, application_name="zonda listener a"):
        cluster.execute(LIVING)
    listeners = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'zonda listener%%'"
    cluster.wait_until(lambda: not cluster.execute(listeners))
    with psycopg.connect(cluster.url) as last:
        last.execute("SELECT 1 FROM member WHERE id = 'a' FOR KEY SHARE")
        members.remove_dead()
        assert cluster.execute(OWNERS) == [("tree:x", "a", 0), ("tree:y", "b", 0)]
    members.remove_dead()
    assert cluster.execute(OWNERS) == [("tree:x", None, 1), ("tree:y", "b", 0)]


def test_the_next_life_of_a_process_removes_the_last_one(
    cluster: Cluster, members: Members
) -> None:
    cluster.execute(LIVING)
    assert members.reap(["b"]) == 1
    assert cluster.execute(OWNERS) == [("tree:x", "a", 0), ("tree:y", None, 1)]


def test_a_member_that_drains_hands_its_trees_over_and_takes_none(
    cluster: Cluster, members: Members
) -> None:
    one = cluster.start("one")
    cluster.bench.journal.behave["a", "check"] = lambda resource: False
    bundle = cluster.bench.bundle("a: {type: Test::Slow, properties: {value: x}}")
    key = one.engine.submit(CreateStack("s", bundle), Caller()).result(60).stack_id
    cluster.wait_until(lambda: "check" in cluster.bench.journal.of("a"))
    two, first = cluster.start("two"), cluster.find_owner(key)
    assert not members.set_draining("nobody", True)
    assert members.set_draining(str(first), True)
    cluster.wait_until(lambda: cluster.find_owner(key) not in (None, "", first))
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})
    draining = "SELECT id FROM member WHERE draining = 1"
    cluster.wait_until(lambda: cluster.execute(draining) not in ([], [(first,)]))
    ((drained,),) = cluster.execute(draining)
    cluster.wait_until(lambda: one.engine.find_trouble() == "This member of the cluster drains.")
    owners = "SELECT DISTINCT duty.member FROM duty WHERE duty.member IS NOT NULL"
    cluster.create(one, "t")  # it answers, and another member does it
    assert drained not in [found for (found,) in cluster.execute(owners)]
    cluster.wait_until(lambda: list_states(one).get("t") == "COMPLETE")
    assert members.set_draining(drained, False)
    cluster.wait_until(lambda: one.engine.find_trouble() == "")
    assert cluster.bench.journal.of("a").count("handle_create") == 2


def test_members_with_other_plugins_warn_or_refuse(
    cluster: Cluster, members: Members, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.start("one")
    cluster.execute("UPDATE member SET plugins = 'other', pid = 7, host = 'h'")
    cluster.start("two")
    assert "Process 7 on h has other plug-ins than this one." in caplog.text
    with pytest.raises(Conflict, match="Process 7 on h has other plug-ins"):
        cluster.start("three", strict_plugins="yes")
    assert len(members.list_members()) == 2


def test_members_and_duties_are_listed(
    cluster: Cluster, members: Members, capsys: pytest.CaptureFixture[str]
) -> None:
    one = cluster.start("one")
    cluster.bench.journal.behave["a", "check"] = lambda resource: False
    bundle = cluster.bench.bundle("a: {type: Test::Slow, properties: {value: x}}")
    key = one.engine.submit(CreateStack("s", bundle), Caller()).result(60).stack_id
    cluster.wait_until(lambda: "check" in cluster.bench.journal.of("a"))
    command = ["--set", f"database_url={cluster.url}", "--set", f"key={KEY}"]

    def run(*words: str) -> Any:
        assert main([*command, *words]) == 0
        return json.loads(capsys.readouterr().out)

    (member,) = run("member", "list", "-f", "json")
    assert (member["Process"], member["State"], member["Duties"]) == (os.getpid(), "active", 1)
    (duty,) = run("duty", "list", "-f", "json")
    assert (duty["Duty"], duty["Stack"], duty["Member"]) == (f"tree:{key}", "s", member["ID"])
    assert main([*command, "member", "drain", "nobody"]) == 1
    assert "nobody" in capsys.readouterr().err
    del cluster.bench.journal.behave["a", "check"]


@pytest.mark.sqlite
def test_a_file_has_no_members(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["member", "list"]) == 2
    assert "Set database_url to postgresql://" in capsys.readouterr().err


def test_events_of_all_members_are_told_in_order_by_each(cluster: Cluster) -> None:
    one, two = cluster.start("one"), cluster.start("two")
    told: list[int] = []

    def listen(notices: Sequence[Notice]) -> None:
        told.extend(notice.event.seq for notice in notices if notice.event is not None)

    cluster.create(one, "before")
    cluster.wait_until(lambda: list_states(two) == {"before": "COMPLETE"})
    end = two.engine.subscribe_all(listen)
    two.engine.begin_to_follow()
    first = two.reader.last_event()
    for number in range(4):
        cluster.create((one, two)[number % 2], f"s{number}")
    cluster.wait_until(lambda: set(list_states(two).values()) == {"COMPLETE"})
    expected = [event.seq for event in two.reader.events_after(first, 500)]
    cluster.wait_until(lambda: len(told) >= len(expected))
    assert told == expected
    assert len(expected) == 16
    end()
    cluster.create(one, "after")
    cluster.wait_until(lambda: list_states(two).get("after") == "COMPLETE")
    assert told == expected


def test_what_an_operation_waits_for_is_known_to_all_members(cluster: Cluster) -> None:
    one, two = cluster.start("one"), cluster.start("two")

    def wait(resource: Any) -> bool:
        resource.context.progress("waiting for the night")
        return False

    cluster.bench.journal.behave["a", "check"] = wait
    bundle = cluster.bench.bundle("a: {type: Test::Slow, properties: {value: x}}")
    key = one.engine.submit(CreateStack("s", bundle), Caller()).result(60).stack_id
    cluster.wait_until(lambda: bool(two.engine.waiting(key)))
    (waiting,) = two.engine.waiting(key)
    assert (waiting.resource, waiting.message) == ("a", "waiting for the night")
    del cluster.bench.journal.behave["a", "check"]
    cluster.wait_until(lambda: list_states(two) == {"s": "COMPLETE"})
    cluster.wait_until(lambda: not two.engine.waiting(key))


def test_a_listener_is_called_once_in_the_next_life_and_not_after_its_end(
    cluster: Cluster,
) -> None:
    one = cluster.start("one")
    told: list[str] = []

    def listen(notices: Sequence[Notice]) -> None:
        told.extend(each.event.id for each in notices if each.event is not None)

    end = one.engine.subscribe(listen)
    cluster.execute("DELETE FROM member")
    cluster.wait_until(lambda: len(cluster.execute("SELECT 1 FROM member")) == 1)
    cluster.wait_until(lambda: not one.engine.find_trouble())
    cluster.create(one, "s")
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})
    cluster.wait_until(lambda: len(told) >= 4)
    assert len(told) == len(set(told)) == 4
    end()
    cluster.create(one, "t")
    cluster.wait_until(lambda: list_states(one)["t"] == "COMPLETE")
    assert len(told) == 4


def test_an_event_is_final_when_no_smaller_number_can_follow(cluster: Cluster) -> None:
    one = cluster.start("one")
    cluster.create(one, "s")
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})
    reader = one.store.reader()
    last = reader.last_event()
    assert [event.seq for event in reader.events_after(0, 100)][-1] == last
    columns = "id, stack_id, stack_name, generation, resource_name, resource_type, action, status"
    insert = (
        f"INSERT INTO event ({columns}, reason, at)"
        " VALUES ('e', 's', 's', 1, '', '', 'CREATE', 'COMPLETE', '', 1)"
    )
    found: list[list[int]] = []
    with psycopg.connect(cluster.url) as early:
        early.execute("SELECT pg_advisory_xact_lock_shared(%s)", (int.from_bytes(b"zondaevt"),))
        early.execute(insert.encode())
        cluster.execute(insert)  # it has the larger number, and is committed first
        run = lambda: found.append([each.seq for each in reader.events_after(last, 9)])  # noqa: E731
        asking = threading.Thread(target=run)
        asking.start()
        blocked = (
            "SELECT xact_start FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"
        )
        begun: set[Any] = set()

        def is_asking_again() -> bool:
            begun.update(cluster.execute(blocked))
            return len(begun) > 1

        cluster.wait_until(is_asking_again)  # other writers wait behind it, but not for long
    asking.join(60)
    assert found == [[last + 1, last + 2]]
