"""Instances that a plan touches; states; actions and answers as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonda.core.engine import actions
from zonda.core.engine.actions import wire
from zonda.core.engine.model import states
from zonda.core.engine.model.plan import Desired
from zonda.core.engine.plan.scope import find_affected
from zonda.core.engine.plugins.redaction import scrub
from zonda.core.store.schema.rows import PlanRow
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import Conflict, NotFound, Place, TemplateError, ValidationErrors


def row(
    name: str,
    hash_: str = "h",
    *,
    key: str = "",
    want: str = "PRESENT",
    action: str = "CREATE",
    status: str = "COMPLETE",
    op: str = "",
    dirty: int = 0,
) -> PlanRow:
    made = None if (action, status) == ("CREATE", "FAILED") else "template"
    return PlanRow(key or name, name, want, hash_, action, status, hash_, made, None, op, dirty)


def wanted(name: str, *requires: str, hash_: str = "h", always: bool = False) -> Desired:
    return Desired(name, "T", hash_, requires, always)


CHAIN = [wanted("a"), wanted("b", "a"), wanted("c", "b"), wanted("d")]
ROWS = [row("a"), row("b"), row("c"), row("d")]


@pytest.mark.parametrize(
    ("rows", "asked", "dirty", "waiting"),
    [
        pytest.param(ROWS, CHAIN, set(), {}, id="nothing to do"),
        pytest.param(
            ROWS,
            [CHAIN[0], wanted("b", "a", hash_="new"), *CHAIN[2:]],
            {"b"},
            {"b": 0, "c": 1},
            id="one changed: it and what requires it",
        ),
        pytest.param(
            [row("a", status="FAILED"), *ROWS[1:]], CHAIN, {"a"}, {"a": 0, "b": 1, "c": 1},
            id="one failed",
        ),
        pytest.param(
            [*ROWS[:3], row("d", op="UPDATE")], CHAIN, {"d"}, {"d": 0}, id="one is running"
        ),
        pytest.param(
            [*ROWS[:2], row("c", dirty=1), ROWS[3]], CHAIN, {"c"}, {"c": 0}, id="dirty from before"
        ),
        pytest.param(
            ROWS[:3], CHAIN, {"d"}, {"d": 0}, id="one is new"
        ),
        pytest.param(
            [row("a", want="ABSENT"), *ROWS[1:]],
            CHAIN,
            {"a", "b"},
            {"a": 0, "b": 1, "c": 1},
            id="an old instance comes back: its users must look",
        ),
        pytest.param(
            ROWS, [*CHAIN[:3], wanted("d", always=True)], {"d"}, {"d": 0}, id="always updated"
        ),
        pytest.param(
            [*ROWS[:3], row("d", action="DELETE", status="FAILED")],
            CHAIN,
            {"d"},
            {"d": 0},
            id="one whose deletion failed is made anew",
        ),
    ],
)  # fmt: skip
def test_the_cone_is_what_is_dirty_and_all_that_requires_it(
    rows: list[PlanRow], asked: list[Desired], dirty: set[str], waiting: dict[str, int]
) -> None:
    found = find_affected(rows, asked)
    assert set(found.dirty) == dirty
    assert found.waiting == waiting


def test_the_instance_that_is_as_wanted_is_chosen_before_the_present_one() -> None:
    old, new = row("a", "old", key="1", want="ABSENT"), row("a", "new", key="2")
    assert find_affected([old, new], [wanted("a", hash_="old")]).chosen["a"] is old
    assert find_affected([old, new], [wanted("a", hash_="other")]).chosen["a"] is new


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sets(st.integers(0, 7))), max_size=8))
def test_a_plan_of_what_is_there_is_empty(drawn: list[tuple[str, set[int]]]) -> None:
    asked = [
        wanted(f"r{index}", *(f"r{n}" for n in sorted(requires) if n < index), hash_=hash_)
        for index, (hash_, requires) in enumerate(drawn)
    ]
    rows = [row(item.name, item.hash) for item in asked]
    assert find_affected(rows, asked).waiting == {}


# -- states -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "event", "after"),
    [
        ("", "begin", "STARTING"),
        ("STARTING", "started", "POLLING"),
        ("STARTING", "finished", ""),
        ("POLLING", "polled", "POLLING"),
        ("POLLING", "failed", ""),
    ],
)
def test_an_operation_moves_as_the_table_says(state: str, event: str, after: str) -> None:
    assert states.advance_state(state, event) == after


@pytest.mark.parametrize(("state", "event"), [("", "finished"), ("POLLING", "begin"), ("", "x")])
def test_other_moves_are_a_bug(state: str, event: str) -> None:
    with pytest.raises(states.IllegalTransition):
        states.advance_state(state, event)


def test_nothing_is_updated_after_its_deletion() -> None:
    with pytest.raises(states.IllegalTransition):
        states.check_may_follow("DELETE", "COMPLETE", "UPDATE")


# -- actions and answers ----------------------------------------------------------------------

BUNDLE = Bundle("text", parameters={"a": [1]}, environment_files=(("e", "x"),), files={"f": "g"})


@pytest.mark.parametrize(
    "action",
    [
        actions.CreateStack("s", BUNDLE, 5, True, ("a", "b")),
        actions.UpdateStack("s", BUNDLE, existing=True, rollback=False),
        actions.DeleteStack("s"),
        actions.SuspendStack("s"),
        actions.ResumeStack("s"),
        actions.CheckStack("s"),
        actions.CancelStack("s", rollback=True),
        actions.SignalResource("s", "r", {"a": 1}),
    ],
    ids=lambda action: type(action).__name__,
)
def test_an_action_travels_as_text(action: actions.Action) -> None:
    assert actions.from_json(actions.to_json(action)) == action


def test_an_answer_travels_as_text() -> None:
    accepted = actions.Accepted("id", 3, "name")
    assert actions.parse_answer(wire.format_accepted(accepted)) == accepted


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(NotFound("Stack", "s"), id="not found"),
        pytest.param(Conflict("busy", hint="wait"), id="conflict"),
        pytest.param(
            ValidationErrors(
                [TemplateError("bad", path=("a", 0), place=Place("f", 1, 2), code="ZON123")]
            ),
            id="template",
        ),
    ],
)
def test_a_refusal_travels_as_text(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        actions.parse_answer(wire.format_error(error))
    assert str(caught.value) == str(error)
    assert caught.value.hint == error.hint  # type: ignore[attr-defined]
    assert caught.value.code == error.code  # type: ignore[attr-defined]
    assert getattr(caught.value, "place", None) == getattr(error, "place", None)


def test_a_bug_does_not_tell_its_secrets_to_other_processes() -> None:
    assert "hush" not in wire.format_error(ValueError("hush"))


@pytest.mark.parametrize(
    ("text", "secrets", "shown"),
    [
        pytest.param("key abcd-1", ["abcd", "abcd-1"], "key (hidden)", id="the longest first"),
        pytest.param("a is a", ["a"], "a is a", id="too short to be a secret"),
        pytest.param("x 12345 y", [{"k": [12345]}], "x (hidden) y", id="inside data"),
    ],
)
def test_secrets_are_scrubbed(text: str, secrets: list[object], shown: str) -> None:
    assert scrub(text, secrets) == shown
