"""Drift checks: their findings, and that they change nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting

from zonda.core.engine.actions import CheckDrift
from zonda.hooks.errors import Conflict, NotFound, NotReady, ResourceFailure
from zonda.hooks.resources.resource import Resource

THREE = """
    a: {type: Test::Thing, properties: {size: 1, tags: {env: prod, x: "1"}}}
    b: {type: Test::Thing, properties: {size: 2, secret: hush-hush, link: {get_resource: a}}}
    c: {type: Test::Thing, properties: {size: 3, zone: here}}
"""


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    return Drifting(bench)


def test_what_is_as_it_was_made_is_in_sync(drift: Drifting) -> None:
    drift.create(THREE)
    check = drift.check()
    assert (check.status, check.verdict, check.cause) == ("COMPLETE", "IN_SYNC", "command")
    assert check.counts == {"IN_SYNC": 3, "DRIFTED": 0, "MISSING": 0, "UNKNOWN": 0, "IGNORED": 0}
    assert drift.findings(check) == {}
    assert drift.now() == {"a": "IN_SYNC", "b": "IN_SYNC", "c": "IN_SYNC"}


def test_a_change_by_hand_is_told_with_its_place(drift: Drifting) -> None:
    drift.create(THREE)
    drift.thing("a")["tags"] = {"env": "test", "y": "2"}
    drift.thing("b")["size"] = 9
    drift.goes("c")
    check = drift.check()
    assert check.verdict == "DRIFTED"
    found = drift.findings(check)
    assert {path: each.verdict for path, each in found.items()} == {
        "a": "DRIFTED",
        "b": "DRIFTED",
        "c": "MISSING",
    }
    told = {each.path: (each.template, each.live) for each in found["a"].differences}
    assert told == {
        ("tags", "env"): ("prod", "test"),
        ("tags", "x"): ("1", None),
        ("tags", "y"): (None, "2"),
    }
    (size,) = found["b"].differences
    assert (size.path, size.template, size.live) == (("size",), 2, 9)


def test_only_what_the_template_sets_is_compared(drift: Drifting) -> None:
    drift.create(THREE)
    drift.thing("c")["tags"] = {"somebody": "else's"}
    assert drift.check().verdict == "IN_SYNC"


def _raises(error: BaseException) -> Any:
    def behave(resource: Resource) -> Any:
        raise error

    return behave


@pytest.mark.parametrize(
    ("behave", "reason"),
    [
        pytest.param(_raises(ResourceFailure("no route")), "no route", id="cannot reach"),
        pytest.param(_raises(ValueError("odd")), "ValueError", id="any error"),
        pytest.param(_raises(SystemExit(3)), "SystemExit", id="exit"),
        pytest.param(lambda resource: None, "cannot tell", id="none"),
        pytest.param(lambda resource: ["x"], "not a map", id="no map"),
        pytest.param(lambda resource: {"size": object()}, "JSON", id="no json"),
        pytest.param(_raises(NotReady(float("nan"))), "no time", id="bad delay"),
        pytest.param(lambda r: r.data_set("a", "b"), "read-only", id="stores data"),
        pytest.param(lambda r: r.resource_id_set("b"), "read-only", id="stores its id"),
        pytest.param(lambda r: r.metadata_set({}), "read-only", id="stores metadata"),
        pytest.param(lambda r: r.context.signal("a", {}), "read-only: signal", id="signals"),
        pytest.param(
            lambda r: next(iter(r.context.required_resources().values())).data_set("a", "b") or {},
            "",
            id="stores through another",
        ),
    ],
)
def test_what_cannot_be_told_is_unknown_and_never_green(
    drift: Drifting, behave: Any, reason: str
) -> None:
    drift.create(THREE)
    drift.world.behave["b"] = behave
    before = drift.tables("event", "request")
    check = drift.check()
    assert drift.tables("event", "request") == before
    if reason:
        assert check.verdict == "UNKNOWN"
        assert reason in drift.findings(check)["b"].reason


def test_drift_counts_more_than_what_is_unknown(drift: Drifting) -> None:
    drift.create(THREE)
    drift.world.behave["b"] = _raises(ResourceFailure("no"))
    drift.goes("c")
    assert drift.check().verdict == "MISSING"


def test_a_type_that_cannot_be_observed_is_unknown_and_not_called(drift: Drifting) -> None:
    drift.create("blind: {type: Test::Blind}")
    check = drift.check()
    assert check.verdict == "UNKNOWN"
    assert "cannot be observed" in drift.findings(check)["blind"].reason
    assert drift.world.calls == []


def test_a_type_that_does_nothing_outside_is_in_sync_without_a_call(
    drift: Drifting, bench: Bench
) -> None:
    drift.create("v: {type: Test::Inward, properties: {value: x}}")
    bench.journal.calls.clear()
    assert drift.check().verdict == "IN_SYNC"
    assert bench.journal.calls == []


def test_a_check_calls_nothing_but_get_live_state_and_changes_nothing(drift: Drifting) -> None:
    drift.create(THREE)
    drift.thing("a")["size"] = 5
    before, world = drift.tables("event"), dict(drift.world.things)
    drift.check()
    assert drift.tables("event") == before
    assert drift.world.things == world
    assert drift.world.changed() == []


def test_what_is_not_there_or_not_well_is_unknown(drift: Drifting, bench: Bench) -> None:
    bench.fails("bad", "handle_create")
    drift.create("""
        bad: {type: Test::Box}
        a: {type: Test::Thing, properties: {size: 1}}
        later: {type: Test::Thing, depends_on: bad}
    """)
    found = drift.findings(drift.check())
    assert found["bad"].reason == "its CREATE has failed"
    assert found["later"].reason == "it has not been created"


def test_what_could_not_be_deleted_is_unknown_and_never_green(
    drift: Drifting, bench: Bench
) -> None:
    drift.create("""
        a: {type: Test::Thing, properties: {size: 1}}
        bad: {type: Test::Box, depends_on: a}
        quiet: {type: Test::Inward}
    """)
    bench.fails("bad", "handle_delete")
    assert bench.delete().state == "DELETE_FAILED"
    check = drift.check()
    assert check.verdict == "UNKNOWN"
    assert {name: each.reason for name, each in drift.findings(check).items()} == {
        "bad": "its DELETE has failed",
        "a": "it is to be deleted",
    }
    assert drift.now() == {"bad": "UNKNOWN", "a": "UNKNOWN"}


def test_what_an_update_has_left_over_is_not_looked_at(drift: Drifting, bench: Bench) -> None:
    two = "a: {type: Test::Thing, properties: {size: 1}}\nbad: {type: Test::Box}"
    drift.create(two)
    bench.fails("bad", "handle_delete")
    assert bench.update(two.partition("\n")[0]).state == "UPDATE_FAILED"
    check = drift.check()
    assert (check.verdict, drift.now()) == ("IN_SYNC", {"a": "IN_SYNC"})


def test_suspended_resources_are_unknown(drift: Drifting, bench: Bench) -> None:
    drift.create(THREE)
    bench.suspend()
    check = drift.check()
    assert check.verdict == "UNKNOWN"
    assert drift.findings(check)["a"].reason == "it is suspended"
    assert drift.world.calls == []


def test_one_that_an_operation_has_changed_since_is_not_checked(
    drift: Drifting, bench: Bench
) -> None:
    drift.create(THREE)
    drift.check()
    bench.update(THREE.replace("size: 3", "size: 4"))
    assert drift.now() == {"a": "IN_SYNC", "b": "IN_SYNC", "c": "NOT_CHECKED"}
    drift.check("c")
    assert drift.now()["c"] == "IN_SYNC"


def test_a_part_is_checked_by_its_names(drift: Drifting) -> None:
    drift.create(THREE)
    drift.thing("a")["size"] = drift.thing("b")["size"] = 7
    check = drift.check("a")
    assert (check.scope, check.counts["DRIFTED"]) == (("a",), 1)
    assert drift.now() == {"a": "DRIFTED", "b": "NOT_CHECKED", "c": "NOT_CHECKED"}
    with pytest.raises(NotFound, match="Resource"):
        drift.check("nobody")


def test_one_check_at_a_time(drift: Drifting) -> None:
    drift.create(THREE)
    drift.world.behave["a"] = _raises(NotReady(50.0))
    first = drift.engine.begin(CheckDrift("s"))
    with pytest.raises(Conflict, match=first.check_id):
        drift.engine.begin(CheckDrift("s"))
    drift.engine.settle()
    assert [check.status for check in drift.checks()] == ["COMPLETE"]


def test_not_ready_is_asked_again_on_what_it_keeps_until_the_deadline(drift: Drifting) -> None:
    drift.create(THREE)
    seen: list[tuple[str, float]] = []

    def behave(resource: Resource) -> Any:
        kept, operation = resource.context.observation, resource.context.operation
        assert operation is not None
        assert operation.action == "CHECK"
        seen.append((operation.id, operation.deadline - operation.started_at))
        kept["asked"] = kept.get("asked", 0) + 1
        if kept["asked"] < 4:
            raise NotReady(60.0, "still looking")
        return {"size": 1}

    drift.world.behave["a"] = behave
    assert drift.check().verdict == "IN_SYNC"
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert seen[0][1] == 300.0
    drift.check()
    assert seen[4][0] != seen[0][0], "each check has keys of its own"

    drift.world.behave["a"] = _raises(NotReady(60.0, "still looking"))
    found = drift.findings(drift.check())["a"]
    assert (found.verdict, found.reason) == (
        "UNKNOWN",
        "it was not ready (still looking) within 300 s",
    )


def test_an_event_tells_of_a_verdict_only_when_it_changes(drift: Drifting) -> None:
    drift.create(THREE)
    drift.check()
    assert drift.told() == [("", "IN_SYNC")]
    drift.thing("a")["size"] = 5
    drift.check()
    drift.check()
    assert drift.told()[1:] == [("a", "DRIFTED"), ("", "DRIFTED")]
    drift.thing("a")["size"] = 1
    drift.check()
    assert drift.told()[3:] == [("a", "IN_SYNC"), ("", "IN_SYNC")]


def test_a_secret_is_only_named(drift: Drifting) -> None:
    drift.create(THREE)
    drift.thing("b")["secret"] = "changed-by-hand"
    drift.thing("b")["link"] = "https://u:changed-by-hand@host/hush-hush"
    check = drift.check()
    found = drift.findings(check)["b"]
    told = {each.path[0]: each for each in found.differences}
    assert told["secret"].hidden
    assert told["secret"].live == "(hidden)"
    assert told["link"].live == "https://u:(hidden)@host/(hidden)"
    drift.world.behave["b"] = _raises(ResourceFailure("password hush-hush was refused"))
    assert "hush-hush" not in drift.findings(drift.check())["b"].reason
    drift.world.behave.clear()
    drift.check()
    assert "changed-by-hand" not in drift.everything()
    assert "hush-hush" not in drift.everything()
    drift.repair()
    assert "changed-by-hand" not in drift.everything()
    assert drift.thing("b")["secret"] == "hush-hush"


def test_old_checks_go_with_the_events(drift: Drifting, bench: Bench) -> None:
    drift.create(THREE)
    drift.thing("a")["size"] = 5
    check = drift.check()
    with bench.store.transaction() as tx:
        tx.forget(*[bench.clock.now() + 1] * 3)
    assert drift.checks() == []
    assert drift.findings(check) == {}
    assert drift.now()["a"] == "DRIFTED"


def test_what_tells_nothing_of_what_the_template_sets_is_unknown(drift: Drifting) -> None:
    drift.create(THREE + "    d: {type: Test::Thing}\n")
    for name in "abcd":
        drift.world.behave[name] = lambda resource: {"tags": {"env": "prod", "x": "1"}}
    drift.world.behave["a"] = drift.world.behave["d"] = lambda resource: {}
    found = drift.findings(drift.check())
    assert {name: each.verdict for name, each in found.items()} == {
        "a": "UNKNOWN",
        "b": "UNKNOWN",
        "c": "UNKNOWN",
    }
    assert found["a"].reason == "it told nothing of what the template sets"


def test_a_type_that_gives_none_is_unknown_and_a_value_that_is_none_differs(
    drift: Drifting,
) -> None:
    drift.create(THREE)
    drift.world.behave["a"] = lambda resource: None
    drift.world.behave["b"] = lambda resource: {"size": None}
    found = drift.findings(drift.check())
    assert {name: each.verdict for name, each in found.items()} == {
        "a": "UNKNOWN",
        "b": "DRIFTED",
    }
    assert found["a"].reason == "the type Test::Thing cannot tell what it is"


def test_what_was_not_looked_at_is_told(drift: Drifting) -> None:
    drift.create(THREE)
    drift.world.behave["b"] = lambda resource: {"size": 2}
    drift.world.behave["c"] = lambda resource: {"size": 9}
    drift.check()
    now = {each.path: each for each in drift.reader.drift_now(drift.bench.stack.id)}
    assert {name: (each.verdict, each.unseen) for name, each in now.items()} == {
        "a": ("IN_SYNC", ()),
        "b": ("IN_SYNC", ("link", "secret")),
        "c": ("DRIFTED", ("zone",)),
    }
    drift.world.behave.clear()
    drift.thing("c")["size"] = 3
    drift.check()
    assert all(not each.unseen for each in drift.reader.drift_now(drift.bench.stack.id))


@pytest.mark.parametrize(
    ("template", "live"),
    [
        pytest.param("1", True, id="number, boolean"),
        pytest.param("0", False, id="zero, false"),
        pytest.param("'true'", True, id="text, boolean"),
        pytest.param("[1, 2]", [True, 2], id="in a list"),
        pytest.param("{k: {l: 1}}", {"k": {"l": True}}, id="in a map"),
    ],
)
def test_numbers_and_booleans_differ(drift: Drifting, template: str, live: Any) -> None:
    drift.create(f"x: {{type: Test::Any, properties: {{any: {template}}}}}")
    drift.world.behave["x"] = lambda resource: {"any": live}
    assert drift.check().verdict == "DRIFTED"
    drift.world.behave["x"] = lambda resource: dict(resource.properties.get_stored_values())
    assert drift.check().verdict == "IN_SYNC"


def test_the_same_number_in_another_form_is_in_sync(drift: Drifting) -> None:
    drift.create("x: {type: Test::Any, properties: {any: [1]}}")
    drift.world.behave["x"] = lambda resource: {"any": [1.0]}
    assert drift.check().verdict == "IN_SYNC"


def test_what_is_no_number_is_told_as_text(drift: Drifting) -> None:
    drift.create("x: {type: Test::Any, properties: {any: {a: 1, b: 2}}}")
    drift.world.behave["x"] = lambda resource: {"any": {"a": float("nan"), "b": float("-inf")}}
    told = drift.findings(drift.check())["x"].differences
    assert {each.path: each.live for each in told} == {("any", "a"): "nan", ("any", "b"): "-inf"}


def _runs_for_ever(resource: Resource) -> Any:
    resource.context.observation["run"] = resource.name
    raise NotReady(1.0)


def test_what_was_begun_for_a_look_that_is_given_up_is_cancelled(drift: Drifting) -> None:
    drift.create(THREE)
    drift.world.behave["a"] = _runs_for_ever
    assert drift.findings(drift.check())["a"].verdict == "UNKNOWN"
    assert drift.world.cancelled == [("a", {"run": "a"})]


def test_a_look_that_comes_to_its_end_is_not_cancelled(drift: Drifting) -> None:
    drift.create(THREE)

    def behave(resource: Resource) -> Any:
        if resource.context.observation.setdefault("run", 1) == 1:
            resource.context.observation["run"] = 2
            raise NotReady(1.0)
        return resource.properties.get_stored_values()

    drift.world.behave["a"] = behave
    assert drift.check().verdict == "IN_SYNC"
    assert drift.world.cancelled == []


def test_a_cancellation_that_breaks_hurts_nothing(drift: Drifting) -> None:
    drift.create(THREE)
    drift.world.behave["a"] = _runs_for_ever
    drift.world.cancelled = None  # type: ignore[assignment]
    check = drift.check()
    assert (check.status, drift.findings(check)["a"].verdict) == ("COMPLETE", "UNKNOWN")


def test_the_newest_verdicts_are_found_without_reading_every_check(
    drift: Drifting, monkeypatch: pytest.MonkeyPatch
) -> None:
    drift.create(THREE)
    drift.check("b")
    for _ in range(45):
        drift.check()
    drift.thing("a")["size"] = 9
    drift.check("a")
    reader, read = drift.reader, []
    every = reader._all

    def counting(statement: str, *values: Any) -> Any:
        found = every(statement, *values)
        if "FROM drift_check " in statement:
            read.append(len(found))
        return found

    monkeypatch.setattr(reader, "_all", counting)
    now = {each.path: each for each in reader.drift_now(drift.bench.stack.id)}
    assert {path: each.verdict for path, each in now.items()} == {
        "a": "DRIFTED",
        "b": "IN_SYNC",
        "c": "IN_SYNC",
    }
    assert sum(read) < 45
    newest, before, *_ = drift.checks()
    assert [now[path].checked_at for path in "abc"] == [
        newest.started_at,
        before.started_at,
        before.started_at,
    ]


def test_what_only_an_old_check_has_looked_at_has_its_verdict(drift: Drifting) -> None:
    drift.create(THREE)
    oldest = drift.check()
    for _ in range(45):
        drift.check("a")
    now = {each.path: each for each in drift.reader.drift_now(drift.bench.stack.id)}
    assert (now["b"].verdict, now["b"].checked_at) == ("IN_SYNC", oldest.started_at)
