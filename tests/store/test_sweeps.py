"""What is asked every second looks at what runs, not at every row there is."""

from __future__ import annotations

import sqlite3

import pytest

from zonda.core.store.schema.prepared import SCHEMA, SQL


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        pytest.param("overdue", "ix_resource_running", id="operations-past-their-deadline"),
        pytest.param("paused_too_long", "ix_resource_hook_until", id="breakpoints-past-theirs"),
        pytest.param("stacks_overdue", "ix_stack_busy", id="stacks-past-their-deadline"),
        pytest.param("protected_of_tree", "ix_resource_protected", id="what-is-protected"),
        pytest.param("stacks_pending", "ix_stack_next", id="stacks-that-are-owed-a-plan"),
    ],
)
def test_a_sweep_uses_its_index(statement: str, index: str) -> None:
    connection = sqlite3.connect(":memory:")
    for text in SCHEMA:
        connection.execute(text)
    values = (1.0,) * SQL[statement].count("?")
    steps = connection.execute(f"EXPLAIN QUERY PLAN {SQL[statement]}", values).fetchall()
    connection.close()
    assert [step for step in steps if index in step[3]]
    assert not [step for step in steps if step[3].startswith("SCAN") and index not in step[3]]


def test_owners_that_are_behind_are_found_by_their_index() -> None:
    connection = sqlite3.connect(":memory:")
    for text in SCHEMA:
        connection.execute(text)
    steps = connection.execute(f"EXPLAIN QUERY PLAN {SQL['behind']}").fetchall()
    connection.close()
    assert "ix_resource_behind" in steps[0][3]


def test_what_is_unfinished_is_found_without_a_look_at_every_row() -> None:
    connection = sqlite3.connect(":memory:")
    for text in SCHEMA:
        connection.execute(text)
    steps = [step[3] for step in connection.execute(f"EXPLAIN QUERY PLAN {SQL['runnable']}")]
    connection.close()
    # what runs by the index of that, what is ready by that of the stacks that are there
    indexes = ("ix_resource_running", "uq_stack_live_name")
    scans = [step for step in steps if step.startswith("SCAN")]
    assert [index for step in scans for index in indexes if index in step] == list(indexes)
    assert len(scans) == 2
    assert [step for step in steps if "ix_resource_stack (stack_id=? AND open=?)" in step]


def test_templates_that_nobody_uses_are_found_in_one_pass() -> None:
    connection = sqlite3.connect(":memory:")
    for text in SCHEMA:
        connection.execute(text)
    found = {}
    for name in ("delete_unused_templates", "delete_old_stacks"):
        values = (1.0,) * SQL[name].count("?")
        steps = connection.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", values).fetchall()
        inside = {step[0] for step in steps if step[3].startswith("CORRELATED")}
        found[name] = [step[3] for step in steps if step[1] in inside and "SCAN" in step[3]]
    connection.close()
    assert found == {"delete_unused_templates": [], "delete_old_stacks": []}


#: What is looked at from end to end: what runs or is live, and the sinks of the settings.
WHOLE = (
    "ix_resource_running",
    "ix_resource_behind",
    "ix_stack_next",
    "uq_stack_live_name",
    "uq_drift_check_running",
    "SCAN sink",
    "SCAN member",
    "SCAN CONSTANT ROW",
    "VIRTUAL TABLE",
)
#: Once an hour: which template is still used, each table being gone through once. And once in the
#: life of a copy: which of its stacks have something to do.
HOURLY = {"delete_unused_templates", "delete_old_stacks", "delete_old_page_states"}
ONCE = {"duties_owed"}


@pytest.mark.parametrize("statement", sorted(SQL.keys() - HOURLY - ONCE))
def test_no_statement_goes_through_a_table_that_grows(statement: str) -> None:
    connection = sqlite3.connect(":memory:")
    for text in SCHEMA:
        connection.execute(text)
    values = (1.0,) * SQL[statement].count("?")
    steps = connection.execute(f"EXPLAIN QUERY PLAN {SQL[statement]}", values).fetchall()
    connection.close()
    scans = [step[3] for step in steps if step[3].startswith("SCAN")]
    assert [step for step in scans if not any(each in step for each in WHOLE)] == []


def test_old_events_are_deleted_without_a_look_at_those_that_are_kept() -> None:
    connection = sqlite3.connect(":memory:")
    for text in SCHEMA:
        connection.execute(text)
    rows = [("id", "s", "n", 1, None, "", "", None, "a", "s", "r", float(at)) for at in range(50)]
    connection.executemany(SQL["insert_event"], rows)
    looked: list[object] = []
    connection.create_function("seen", 1, lambda at: looked.append(at) or at)
    watched = SQL["delete_old_events"].replace("kept.at >=", "seen(kept.at) >=")
    assert connection.execute(watched, (3.0,)).rowcount == 3
    assert looked == [0.0, 1.0, 2.0, 3.0]
    assert connection.execute(SQL["delete_old_events"], (99.0,)).rowcount == 47
    connection.close()
