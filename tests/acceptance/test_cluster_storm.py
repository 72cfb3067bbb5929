"""Disruptions under load, a few times, and faults that the count must find."""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from .cluster_storm.counting import BATCH, Facts, StoredEvent, find_faults
from .cluster_storm.disruptions import EMBEDDED
from .cluster_storm.journal import Journal
from .cluster_storm.postgresql import ABSENT, PostgreSQL, is_there
from .cluster_storm.storm import ClusterStorm
from .conftest import absent
from .serve_storm.writers import Wish

THING = {"tree": "s", "number": 2, "of": []}


def require_postgresql() -> None:
    """Skip where there is no PostgreSQL."""
    if os.environ.get("ZONDA_PG_TESTS") == "never" or not is_there():
        absent(ABSENT, "ZONDA_PG_TESTS")


def make_facts() -> Facts:
    """A stack that was created and updated; a sink that was given two events again."""
    states = ["CREATE_IN_PROGRESS", "CREATE_COMPLETE", "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"]
    events = [
        StoredEvent(number, f"e{number}", "s", resource, 1 + place // 2, state)
        for number, (resource, place, state) in enumerate(
            (
                (resource, place, state)
                for resource in (None, "r")
                for place, state in enumerate(states)
            ),
            start=1,
        )
    ]
    ids = [event.id for event in events]
    return Facts(
        wishes=[Wish("s", "id", 2, 2), Wish("gone", "id", is_deleted=True, may_be_deleted=True)],
        states={"s": "UPDATE_COMPLETE"},
        ids={"thing-1": "s"},
        live={"thing-1": dict(THING)},
        made_twice=[],
        events=events,
        streams=[[event.seq for event in events]] * 2,
        sink=[*ids[:4], *ids[2:]],
        disruptions=1,
        refused=[],
    )


def lose_a_thing(facts: Facts) -> None:
    facts.live["thing-2"] = facts.live.pop("thing-1")


def lose_an_update(facts: Facts) -> None:
    facts.live["thing-1"]["number"] = 1


def lose_a_stack(facts: Facts) -> None:
    del facts.states["s"]


def lose_a_deletion(facts: Facts) -> None:
    facts.states["gone"] = "CREATE_COMPLETE"


def fail_a_stack(facts: Facts) -> None:
    facts.states["s"] = "UPDATE_FAILED"


def double_an_event(facts: Facts) -> None:
    last = facts.events[-1]
    facts.events.append(StoredEvent(last.seq + 1, "e9", "s", "r", last.generation, last.state))
    facts.streams = [[*stream, last.seq + 1] for stream in facts.streams]
    facts.sink.append("e9")


def drop_from_a_stream(facts: Facts) -> None:
    facts.streams[1] = [number for number in facts.streams[1] if number != 4]


def repeat_in_a_stream(facts: Facts) -> None:
    facts.streams[1] = sorted([*facts.streams[1], 4])


def swap_in_a_stream(facts: Facts) -> None:
    facts.streams[1] = facts.streams[1][::-1]


def drop_from_the_sink(facts: Facts) -> None:
    facts.sink = [id for id in facts.sink if id != "e5"]


def swap_in_the_sink(facts: Facts) -> None:
    facts.sink[-1], facts.sink[-2] = facts.sink[-2], facts.sink[-1]


def repeat_in_the_sink(facts: Facts) -> None:
    facts.sink.append("e8")


def repeat_much_in_the_sink(facts: Facts) -> None:
    facts.events = [
        StoredEvent(n, f"e{n}", f"s{n}", None, 1, "CREATE_COMPLETE") for n in range(BATCH + 2)
    ]
    facts.streams = []
    ids = [event.id for event in facts.events]
    facts.sink = ids + ids[: BATCH + 1]


@pytest.mark.parametrize(
    ("seed_fault", "kinds"),
    [
        pytest.param(lose_a_thing, {"lost", "left"}, id="lost"),
        pytest.param(lose_an_update, {"acknowledged"}, id="update"),
        pytest.param(lose_a_stack, {"acknowledged"}, id="stack"),
        pytest.param(lose_a_deletion, {"acknowledged"}, id="deletion"),
        pytest.param(fail_a_stack, {"acknowledged"}, id="failed"),
        pytest.param(double_an_event, {"events"}, id="event-twice"),
        pytest.param(drop_from_a_stream, {"streams"}, id="stream-misses"),
        pytest.param(repeat_in_a_stream, {"streams"}, id="stream-twice"),
        pytest.param(swap_in_a_stream, {"streams"}, id="stream-order"),
        pytest.param(drop_from_the_sink, {"sink"}, id="sink-misses"),
        pytest.param(swap_in_the_sink, {"sink"}, id="sink-order"),
        pytest.param(repeat_in_the_sink, {"sink"}, id="sink-twice-without-a-cause"),
        pytest.param(repeat_much_in_the_sink, {"sink"}, id="sink-more-than-a-batch"),
    ],
)
def test_a_fault_is_found(seed_fault: Callable[[Facts], None], kinds: set[str]) -> None:
    assert find_faults(make_facts()) == {}
    facts = copy.deepcopy(make_facts())
    seed_fault(facts)
    assert find_faults(facts).keys() == kinds


def ask(action: str, thing: str | None) -> dict[str, Any]:
    """What zonda sends to have something done to a resource."""
    return {"action": action, "resource": {"id": "r", "physical_id": thing}, "inputs": THING}


def test_the_runner_finds_a_second_key_and_none_in_a_key_that_is_sent_again() -> None:
    journal = Journal(random.Random(1))
    with journal.lock:
        journal.start("key", ask("CREATE", None))
        journal.start("key", ask("CREATE", None))
        assert journal.repeated == 1
        assert journal.faults == []
        journal.start("other", ask("CREATE", None))
    assert len(journal.faults) == 1


def test_the_runner_measures_until_the_end_of_a_run_is_heard_of() -> None:
    journal = Journal(random.Random(1), longest=0.0)
    with journal.lock:
        run = journal.start("key", ask("CREATE", None))
    begun, heard = (what.rpartition(" to ")[2] for _, what in journal.pauses)
    assert (begun, heard) == ("begin", "be heard of")
    assert run.answer == {"state": "succeeded", "resource_id": "thing-1"}
    assert journal.under_way == 0


def test_a_deletion_gives_up_what_was_asked_before_and_removes_what_it_made() -> None:
    journal = Journal(random.Random(1))
    with journal.lock:
        journal.start("key", ask("CREATE", None))
        assert journal.live
        journal.start("last", ask("DELETE", None))
    assert journal.live == {}
    assert journal.faults == []
    assert journal.under_way == 1


@pytest.mark.parametrize("kind", EMBEDDED)
def test_one_server_loses_and_doubles_nothing(tmp_path: Path, kind: str) -> None:
    storm = ClusterStorm(tmp_path, kind=kind, kills=2, seed=7, longest=0.5)
    report = storm.report(storm.run())
    assert report["faults"] == {}
    assert report["events"] > report["keys"] > report["acknowledged"] > 0


@pytest.mark.parametrize("kind", ["kill", "stop_in_transaction", "upgrade"])
def test_two_members_lose_and_double_nothing(tmp_path: Path, kind: str) -> None:
    """Without live events: a stream has those of its own member only."""
    require_postgresql()
    kills = 1 if kind == "upgrade" else 2  # an upgrade makes a copy of zonda
    storm = ClusterStorm(
        tmp_path, kind=kind, kills=kills, seed=7, longest=0.5, members=2, streams=0
    )
    report = storm.report(storm.run())
    assert report["faults"] == {}
    assert report["events"] > report["keys"] > 0


def test_postgresql_keeps_what_it_has_acknowledged_when_it_is_stopped_at_once() -> None:
    require_postgresql()
    with closing(PostgreSQL()) as postgresql:
        postgresql.ask("CREATE TABLE kept (number integer)")
        for number in range(20):
            postgresql.ask("INSERT INTO kept VALUES (%s)", number)
        postgresql.stop()
        postgresql.start()
        assert postgresql.ask("SELECT count(*) FROM kept") == [(20,)]
