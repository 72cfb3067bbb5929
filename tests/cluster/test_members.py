"""Two members on one database: each tree has one owner, whoever is asked."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from contextlib import closing
from typing import Any

import pytest
from tests.cluster.conftest import Cluster
from tests.engine.conftest import Box

from zonda.core.engine.actions import CheckDrift, CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.drift import store as drift_store
from zonda.core.engine.model.effects import Step, Tx
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.engine.runtime.engine import Engine
from zonda.core.engine.runtime.light_calls import Job
from zonda.core.engine.runtime.trees import get_duties
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.write.duties import Duties, FencedOut, Foreign
from zonda.core.store.write.transaction import Transaction
from zonda.hooks.errors import Conflict, NotFound, ValidationErrors
from zonda.hooks.records import replace

pytestmark = pytest.mark.sqlite  # members on one file

BOX = "a: {{type: Test::Box, properties: {{value: {}}}}}"


def create(cluster: Cluster, engine: Engine, name: str, value: str = "x") -> str:
    bundle = cluster.bench.bundle(BOX.format(value))
    return engine.submit(CreateStack(name, bundle)).result(60).stack_id


def block(cluster: Cluster, call: str = "handle_create") -> threading.Event:
    """Lets that call of the resource ``a`` wait; returns what ends the wait."""
    free = threading.Event()
    cluster.bench.journal.behave["a", call] = lambda resource: free.wait(60) and None
    return free


def test_a_tree_has_an_owner_while_there_is_anything_to_do(cluster: Cluster) -> None:
    engine, free = cluster.start("one"), block(cluster)
    key = create(cluster, engine, "s")
    assert cluster.list_duties() == {f"tree:{key}": "one"}
    free.set()
    assert engine.wait(key, 60).status == "COMPLETE"
    cluster.wait_until(lambda: cluster.list_duties() == {})


def test_a_member_that_ends_leaves_no_tree_at_rest_to_others(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = cluster.start("one")
    monkeypatch.setattr(engine._trees, "sweep", lambda: None)  # it ends before that
    key = create(cluster, engine, "s")
    assert engine.wait(key, 60).status == "COMPLETE"
    assert cluster.list_duties() == {f"tree:{key}": "one"}
    engine.stop(20.0)
    assert cluster.list_duties() == {}


def test_an_action_for_a_tree_of_another_member_is_carried_out_there(cluster: Cluster) -> None:
    one, two, free = cluster.start("one"), cluster.start("two"), block(cluster)
    key = create(cluster, one, "s")
    update = UpdateStack("s", cluster.bench.bundle(BOX.format("y")))
    asked = two.submit(update)
    accepted = asked.result(60)
    assert (accepted.stack_id, accepted.generation) == (key, 2)
    free.set()
    assert one.wait(key, 60).status == "COMPLETE"
    assert [call for call in cluster.bench.journal.of("a") if call == "handle_create"] == [
        "handle_create"
    ]
    assert "handle_update" in cluster.bench.journal.of("a")


def test_the_error_of_an_owner_is_that_of_the_caller(cluster: Cluster) -> None:
    one, two, free = cluster.start("one"), cluster.start("two"), block(cluster)
    create(cluster, one, "s")
    bad = UpdateStack("s", cluster.bench.bundle("a: {type: Test::None}"))
    with pytest.raises(ValidationErrors):
        two.submit(bad).result(60)
    with pytest.raises(NotFound):
        two.submit(DeleteStack("t")).result(60)
    free.set()


def test_a_stack_at_rest_is_taken_by_whoever_is_asked(cluster: Cluster) -> None:
    one, two = cluster.start("one"), cluster.start("two")
    key = create(cluster, one, "s")
    assert one.wait(key, 60).status == "COMPLETE"
    cluster.wait_until(lambda: cluster.list_duties() == {})
    two.submit(UpdateStack("s", cluster.bench.bundle(BOX.format("y")))).result(60)
    assert two.wait(key, 60).status == "COMPLETE"
    one.submit(DeleteStack("s")).result(60)
    cluster.wait_until(lambda: one._reader.stack_by_id(key).deleted_at is not None)
    cluster.wait_until(lambda: cluster.list_duties() == {})


def test_the_trees_of_a_dead_member_are_taken_over(cluster: Cluster) -> None:
    one, free = cluster.start("one"), block(cluster)
    key = create(cluster, one, "s")
    cluster.wait_until(lambda: cluster.bench.journal.of("a") == ["handle_create"])
    two = cluster.start("two")
    cluster.remove("one")
    cluster.wait_until(lambda: cluster.list_duties() == {f"tree:{key}": "two"})
    # what was in a call is unknown: the default of such a type is to fail
    assert two.wait(key, 60).status == "FAILED"
    free.set()
    cluster.wait_until(lambda: isinstance(one.failure, FencedOut))
    assert cluster.bench.journal.of("a") == ["handle_create"]


def test_a_command_takes_the_tree_that_it_waits_for_once_the_owner_has_died(
    cluster: Cluster,
) -> None:
    one, free = cluster.start("one"), block(cluster)
    key = create(cluster, one, "s")
    cluster.wait_until(lambda: cluster.bench.journal.of("a") == ["handle_create"])
    two = cluster.start("two", drive="own")
    two.drive(key)
    two.keep(lambda tx: None)  # it has looked by now
    assert cluster.list_duties() == {f"tree:{key}": "one"}
    cluster.remove("one")
    cluster.wait_until(lambda: cluster.list_duties() == {f"tree:{key}": "two"})
    assert two.wait(key, 60).status == "FAILED"  # as a type does by default
    free.set()
    cluster.wait_until(lambda: isinstance(one.failure, FencedOut))


def test_a_command_answers_itself_where_the_owner_that_it_asks_has_died(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, free = cluster.start("one"), block(cluster)
    key = create(cluster, one, "s")
    cluster.wait_until(lambda: cluster.bench.journal.of("a") == ["handle_create"])
    monkeypatch.setattr(one._trees, "_read_requests", lambda: None)
    two = cluster.start("two", drive="own")
    accepted = two.submit(DeleteStack("s"))
    cluster.wait_until(lambda: cluster.execute("SELECT root_id FROM request") == [(key,)])
    cluster.remove("one")
    assert accepted.result(60).stack_id == key
    free.set()
    cluster.wait_until(lambda: isinstance(one.failure, FencedOut))


def test_a_command_leaves_the_trees_alone_that_it_does_not_wait_for(cluster: Cluster) -> None:
    one, free = cluster.start("one"), block(cluster)
    key = create(cluster, one, "s")
    two = cluster.start("two", drive="own")
    cluster.remove("one")
    two.sweep_duties(takes_free=True)
    two.keep(lambda tx: None)  # it has looked by now
    assert cluster.list_duties() == {f"tree:{key}": None}
    free.set()
    cluster.wait_until(lambda: isinstance(one.failure, FencedOut))


def test_a_request_goes_to_the_next_owner_where_its_tree_is_handed_over(cluster: Cluster) -> None:
    one, two, free = cluster.start("one"), cluster.start("two"), block(cluster)
    key = create(cluster, one, "s")
    cluster.wait_until(lambda: cluster.bench.journal.of("a") == ["handle_create"])
    assert one._trees is not None
    act, one._trees._ownership.is_draining = one._trees.act_as_owner, True

    def act_late(*given: Any) -> Step:
        yield Tx(lambda work: get_duties(work).hand_over(key))
        return (yield from act(*given))

    one._requests.act = act_late
    asked = two.submit(UpdateStack("s", cluster.bench.bundle(BOX.format("y"))))
    assert asked.result(60).generation == 2
    assert cluster.list_duties() == {f"tree:{key}": "two"}
    free.set()
    assert two.wait(key, 60).status == "COMPLETE"


def test_a_refusal_is_left_to_the_next_owner_where_its_tree_is_handed_over(
    cluster: Cluster,
) -> None:
    one, two, free = cluster.start("one"), cluster.start("two"), block(cluster)
    key = create(cluster, one, "s")
    assert one._trees is not None
    one._trees._ownership.is_draining = True

    def refuse_late(*given: Any) -> Step:
        yield Tx(lambda work: get_duties(work).hand_over(key))
        raise NotFound("Stack", "s")

    one._requests.act = refuse_late
    asked = two.submit(UpdateStack("s", cluster.bench.bundle(BOX.format("y"))))
    assert asked.result(60).generation == 2
    free.set()
    assert two.wait(key, 60).status == "COMPLETE"


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_request_is_answered_whose_name_stands_for_another_stack_by_now(
    cluster: Cluster, is_busy: bool
) -> None:
    one, two, free = cluster.start("one"), cluster.start("two"), block(cluster, "handle_update")
    asked, other = create(cluster, one, "s"), create(cluster, two, "t")
    cluster.wait_until(lambda: cluster.list_duties() == {})
    update = UpdateStack("s", cluster.bench.bundle(BOX.format("y")))
    one.submit(update).result(60)
    if is_busy:
        two.submit(replace(update, stack="t")).result(60)
    assert one._trees is not None
    act = one._trees.act_as_owner

    def act_on_namesake(services: Any, action: Any, note: Any, root_id: str) -> Step:
        assert root_id == asked
        return (yield from act(services, replace(action, stack="t"), note, root_id))

    one._requests.act = act_on_namesake
    answer = two.submit(update)
    if is_busy:
        with pytest.raises(Conflict, match="Stack t is being worked on by another member"):
            answer.result(60)
    else:
        assert (answer.result(60).stack_id, answer.result(60).generation) == (other, 2)
    free.set()


def test_a_member_that_was_removed_writes_nothing(cluster: Cluster) -> None:
    store = cluster.join("one")
    cluster.remove("one")
    with pytest.raises(FencedOut), store.transaction() as tx:
        tx.add_stack(StackRow("1", "default", "s"))
    assert cluster.execute("SELECT count(*) FROM stack") == [(0,)]


def test_a_call_that_outlasts_its_life_writes_nothing_in_the_next_one(cluster: Cluster) -> None:
    one, free = cluster.start("one"), block(cluster)
    key, store = create(cluster, one, "s"), cluster.stores[-1]
    cluster.wait_until(lambda: cluster.bench.journal.of("a") == ["handle_create"])
    cluster.remove("one")
    with closing(cluster.join("next")) as other:
        store.ownership = other.ownership
    free.set()
    cluster.wait_until(lambda: isinstance(one.failure, FencedOut))
    rows = "SELECT op, op_state FROM resource"
    assert cluster.execute(rows) == [("CREATE", "STARTING")]
    assert cluster.list_duties() == {f"tree:{key}": None}


def test_a_call_that_has_not_begun_is_not_made_once_its_engine_has_ended(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, held = cluster.start("one"), list[Job]()
    make = one._driver._make
    monkeypatch.setattr(
        one._driver,
        "_make",
        lambda job, tell: held.append(job) if job.task.key else make(job, tell),
    )
    create(cluster, one, "s")
    cluster.wait_until(lambda: bool(held))
    cluster.remove("one")
    one.sweep_deadlines()
    cluster.wait_until(lambda: isinstance(one.failure, FencedOut))
    make(held[0], None)
    assert cluster.bench.journal.of("a") == []


def test_nobody_writes_to_the_tree_of_another_member(cluster: Cluster) -> None:
    one, two = cluster.join("one"), cluster.join("two")
    with one.transaction() as tx:
        tx.add_stack(StackRow("1", "default", "s"))

    def write(tx: Transaction) -> None:
        found = tx.stack("1")
        assert found is not None
        found.note = "mine"

    with pytest.raises(Foreign), two.transaction() as tx:
        write(tx)
    assert cluster.execute("SELECT note FROM stack") == [("",)]


def test_a_tree_that_was_asked_about_is_not_released(cluster: Cluster) -> None:
    one, two = cluster.join("one"), cluster.join("two")
    with one.transaction() as tx:
        tx.add_stack(StackRow("1", "default", "s"))
    with two.transaction() as tx:
        assert tx.duties is not None
        assert tx.duties.find_owner("1") == "one"
        tx.add_request("r", "text", 1.0, "1")
    with one.transaction() as tx:
        assert tx.duties is not None
        assert tx.duties.release("1") == set()
        assert [found[0] for found in tx.open_requests()] == ["r"]
        tx.answer_request("r", "text", 2.0)
        assert tx.duties.release("1") == {"1"}
    assert cluster.list_duties() == {}


def test_rows_are_read_again_after_another_member_has_had_the_tree(cluster: Cluster) -> None:
    one, two = cluster.join("one"), cluster.join("two")
    with one.transaction() as tx:
        tx.add_stack(StackRow("1", "default", "s", root_id="1"))
    last = ""
    for store, other, note in ((one, two, "b"), (two, one, "c"), (one, two, "d")):
        with store.transaction() as tx:
            assert tx.duties is not None
            tx.duties.hand_over("1")
        with other.transaction() as tx:
            assert tx.duties is not None
            assert tx.duties.claim("1")
            tx.forget_trees(["1"])
            found = tx.stack("1")
            assert found is not None
            assert found.note == last
            found.note = last = note
        assert cluster.execute("SELECT note FROM stack") == [(note,)]
        with other.transaction() as tx:
            found = tx.stack("1")
            assert found is not None
            assert found.note == note


def test_edges_are_read_again_after_another_member_has_had_the_tree(cluster: Cluster) -> None:
    one, two = cluster.join("one"), cluster.join("two")
    rows = [ResourceRow(key, "1", key, "Test::Box") for key in ("a", "b")]
    with one.transaction() as tx:
        tx.add_stack(StackRow("1", "default", "s", root_id="1"))
        tx.add_resources(rows)
        tx.add_edges("1", [("a", "b")])
    with one.transaction() as tx:
        assert tx.dependants(rows[1]) == ["a"]
        tx.close_all("1")  # the next transaction reads every row, but no edges
    with one.transaction() as tx:
        get_duties_of(tx).hand_over("1")
    with two.transaction() as tx:
        assert get_duties_of(tx).claim("1")
        tx.drop_edges("1", [("a", "b")])
        get_duties_of(tx).hand_over("1")
    with one.transaction() as tx:
        assert get_duties_of(tx).claim("1")
        tx.forget_trees(["1"])
        assert not tx.dependants(rows[1])


def test_what_is_looked_at_in_a_tree_that_was_taken_is_read_together(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = cluster.join("one"), cluster.join("two")
    with one.transaction() as tx:
        tx.add_stack(StackRow("1", "default", "s", root_id="1"))
        tx.add_resources([ResourceRow(key, "1", key, "Test::Box") for key in ("a", "b", "c")])
        tx.add_edges("1", [("a", "b")])
        get_duties_of(tx).hand_over("1")
    with two.transaction() as tx:
        assert get_duties_of(tx).claim("1")
        tx.forget_trees(["1"])
        tx.load_work(["a"])
        monkeypatch.setattr(tx, "_execute", None)  # nothing more is asked of the database
        row = tx.resource("a")
        assert row is not None
        assert [other.id for other in tx.list_required(row)] == ["b"]
        monkeypatch.undo()


def test_a_tree_is_at_rest_whose_owner_was_never_complete(cluster: Cluster) -> None:
    """It has been told of a change below, and shows nothing: nothing is left to be asked."""
    store = cluster.join("one")
    with store.transaction() as tx:
        tx.add_stack(StackRow("1", "default", "s", root_id="1"))
        tx.add_resources([ResourceRow("a", "1", "a", "Test::Box", below=1)])
    with store.transaction() as tx:
        assert tx.list_behind() == []
        assert get_duties_of(tx).release("1")


def get_duties_of(tx: Transaction) -> Duties:
    assert tx.duties is not None
    return tx.duties


def test_a_full_member_leaves_new_trees_to_others(cluster: Cluster) -> None:
    one, free = cluster.start("one", most=1), block(cluster)
    first = create(cluster, one, "s")
    second = create(cluster, one, "t")
    assert cluster.list_duties() == {f"tree:{first}": "one", f"tree:{second}": None}
    cluster.start("two")
    cluster.wait_until(lambda: cluster.list_duties()[f"tree:{second}"] == "two")
    free.set()
    cluster.wait_until(lambda: cluster.list_duties() == {})
    assert one.wait(second, 60).status == "COMPLETE"


def test_a_tree_is_kept_while_an_action_is_on_its_way_to_it(cluster: Cluster) -> None:
    engine = cluster.start("one")
    trees = engine._trees
    assert trees is not None
    engine.keep(lambda tx: tx.duties is not None and tx.duties.add("x", must=True))
    trees._held["x"] = 1  # after the sweep that found it at rest
    engine._run_unit(lambda work: trees._release(work, {"x"}))
    engine.keep(lambda tx: None)
    assert cluster.list_duties() == {"tree:x": "one"}
    trees._held["x"] = 0
    cluster.wait_until(lambda: cluster.list_duties() == {})


def test_a_tree_is_looked_at_again_that_a_check_of_drift_keeps_from_rest(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = cluster.start("one")
    key = create(cluster, engine, "s")
    assert engine.wait(key, 60).status == "COMPLETE"
    cluster.wait_until(lambda: cluster.list_duties() == {})
    seen, free = threading.Event(), threading.Event()

    def observe(self: Any) -> dict[str, Any]:
        seen.set()
        free.wait(60)
        return {}

    monkeypatch.setattr(Box, "get_live_state", observe, raising=False)
    engine.submit(CheckDrift("s")).result(60)
    assert seen.wait(60)
    trees = engine._trees
    assert trees is not None
    looked: Future[bool] = Future()

    def look(work: UnitOfWork) -> None:
        trees._resting.clear()
        trees._release(work, {key})
        looked.set_result(key in trees._resting)

    engine._run_unit(look)
    assert looked.result(60)
    free.set()
    cluster.wait_until(lambda: cluster.list_duties() == {})


def test_a_check_of_drift_is_begun_by_the_owner_alone(cluster: Cluster) -> None:
    engine = cluster.start("one")
    key = create(cluster, engine, "s")
    assert engine.wait(key, 60).status == "COMPLETE"
    cluster.wait_until(lambda: cluster.list_duties() == {})
    begun: Future[None] = Future()

    def begin(work: UnitOfWork) -> None:
        stack = work.tx.stack(key)
        assert stack is not None
        try:
            drift_store.begin(work, stack, "asked", "ann", ())
        except Foreign as error:
            begun.set_exception(error)

    engine._run_unit(begin)
    with pytest.raises(Foreign):
        begun.result(60)
