"""Moves in the engine: crashes at every step, and operations that run meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CancelStack, CreateStack, DeleteStack, UpdateStack
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store

MOVED = "zonda: {moved: {a: x}}\n"


def template(name: str, value: str = "one", last: str = "Test::Idempotent") -> str:
    return f"""\
{name}: {{type: Test::Idempotent, properties: {{value: {value}}}}}
user: {{type: Test::Idempotent, properties: {{value: {{get_resource: {name}}}}}}}
last: {{type: {last}, depends_on: user, properties: {{value: {value}}}}}
"""


class Life:
    """One life, with a crash after so many moves of the engine."""

    def __init__(self, make: Any, crash_after: int) -> None:
        self.store = open_store(":memory:", sealer=Sealer(make_key()))
        self.bench = make(self.store)
        self._left = crash_after
        self.crashed = False

    def run(self, action: Any) -> Any:
        stack_id = self.bench.engine.begin(action).stack_id
        while self.bench.engine._run_once():
            self._left -= 1
            if self._left == 0:
                self.crashed = True
                self.bench.restart().recover()
        return self.bench.engine.reader.stack(stack_id)

    def update(self, text: str, **given: Any) -> Any:
        bundle = self.bench.bundle(text, environment=MOVED)
        return self.run(UpdateStack("s", bundle, **given))

    def ids(self) -> dict[str, str]:
        return {row.name: row.id for row in self.bench.resource_rows()}


@pytest.mark.parametrize("fails", [False, True], ids=["works", "goes-back"])
@pytest.mark.parametrize("first", range(3))
def test_a_crash_at_every_step_of_a_move_loses_and_doubles_nothing(
    bench: Any, first: int, *, fails: bool
) -> None:
    after, crashed = first + 1, True
    while crashed:
        life = Life(type(bench), after)
        made = life.run(CreateStack("s", life.bench.bundle(template("a"))))
        assert made.state == "CREATE_COMPLETE", after
        before = life.ids()
        if fails:
            life.bench.fails("last", "handle_update")
        ended = life.update(template("x", "two"), rollback=fails)
        if fails:
            assert ended.state == "ROLLBACK_COMPLETE", after
            life.bench.heals("last", "handle_update")
        name = "a" if ended.action == "ROLLBACK" else "x"
        assert life.ids()[name] == before["a"], (after, ended.state)
        assert life.ids().keys() == {name, "user", "last"}, (after, ended.state)
        assert "handle_create" not in life.bench.journal.of("x"), after
        again = life.update(template("x", "three"))
        assert again.state == "UPDATE_COMPLETE", after
        assert life.ids()["x"] == before["a"], after
        assert life.run(DeleteStack("s")).state == "DELETE_COMPLETE", after
        crashed = life.crashed
        life.store.close()
        after += 3


def test_names_go_back_while_the_operation_of_what_was_moved_still_runs(bench: Any) -> None:
    bench.create("a: {type: Test::Slow, properties: {value: one}}")
    before = {row.name: row.id for row in bench.resource_rows()}
    ends = False
    for name in ("a", "x"):
        bench.journal.behave[name, "check"] = lambda resource: ends
    bundle = bench.bundle("x: {type: Test::Slow, properties: {value: two}}", environment=MOVED)
    bench.engine.begin(UpdateStack("s", bundle))
    while not any(row.op for row in bench.resource_rows()):
        assert bench.engine._run_once()
    bench.steps(3)
    assert [(row.name, row.id, row.op) for row in bench.resource_rows()] == [
        ("x", before["a"], "UPDATE")
    ]

    bench.engine.begin(CancelStack("s", True))
    bench.restart().recover()
    [row] = bench.resource_rows()
    assert (row.name, row.id) == ("a", before["a"])
    ends = True
    while bench.engine._run_once():
        pass
    assert {row.name: row.id for row in bench.resource_rows()} == before
    assert bench.resource("a").properties["value"] == "one"
    assert bench.stack.state == "ROLLBACK_COMPLETE"


def test_a_hidden_value_of_what_was_moved_stays_hidden(bench: Any) -> None:
    parameters = "parameters: {word: {type: string, hidden: true, default: hush-hush}}\n"
    text = "NAME: {type: Test::Box, properties: {value: {get_param: word}}}"
    bench.create(text.replace("NAME", "a"), rest=parameters)
    bench.update(text.replace("NAME", "x"), rest=parameters, environment=MOVED)
    view = bench.resource("x")
    assert "hush" not in repr(view)
    bench.fails("x", "handle_delete", RuntimeError("hush-hush is wrong"))
    bench.delete()
    assert "hush" not in str([event.reason for event in bench.engine.reader.events(view.stack_id)])
