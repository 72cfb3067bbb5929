"""How many looks may hang: of one resource, of one stack, of all."""

from __future__ import annotations

from types import SimpleNamespace

from zonda.core.engine.drift.check import Check
from zonda.core.engine.drift.hanging import Hanging
from zonda.core.store.rows import DriftCheckRow


def of(stack_id: str) -> Check:
    return Check(DriftCheckRow(f"check-{stack_id}", stack_id))


def look(key: str) -> SimpleNamespace:
    class Look(SimpleNamespace):
        __hash__ = object.__hash__

    return Look(key=key)


def test_of_one_resource_one_look_hangs_and_of_a_stack_and_of_all_so_many() -> None:
    hanging = Hanging(of_stack=2, of_all=3)
    lost: list[int] = []
    hanging.spare = lost.append
    first = look("a")
    hanging.add(of("s"), first)
    assert hanging.forbids(of("s"), look("a")) == "an earlier look at it has not come back"
    assert hanging.forbids(of("s"), look("b")) == ""
    hanging.add(of("s"), look("b"))
    assert "2 earlier looks at other resources of the stack" in hanging.forbids(of("s"), look("c"))
    assert hanging.forbids(of("t"), look("d")) == ""
    hanging.add(of("t"), look("d"))
    assert "3 earlier looks" in hanging.forbids(of("t"), look("e"))
    hanging.drop(first)
    hanging.drop(look("never hung"))
    assert hanging.forbids(of("s"), look("a")) == ""
    assert lost == [1, 1, 1, -1]
