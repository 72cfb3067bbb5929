"""Signals create nothing in suspended nested stacks."""

from __future__ import annotations

import pytest
from tests.engine.conftest import Bench
from tests.engine.nested.test_signals import Some

from zonda.core.engine.actions import (
    CheckStack,
    CreateStack,
    ResumeStack,
    SignalResource,
    SuspendStack,
)
from zonda.hooks.errors import NotSupported


@pytest.fixture
def asleep(bench: Bench) -> Bench:
    bench.types["Test::Some"] = Some
    bundle = bench.bundle("g: {type: Test::Some}")
    bench.run(CreateStack("s", bundle, rollback=False))
    assert bench.run(SuspendStack("s")).state == "SUSPEND_COMPLETE"
    return bench


def members(bench: Bench) -> dict[str, str]:
    child = bench.engine.reader.tree(bench.stack.id)[1]
    rows = bench.engine.reader.resource_rows(child.id)
    return {row.name: f"{row.action}_{row.status}" for row in rows}


def test_what_is_suspended_is_not_scaled(asleep: Bench) -> None:
    """It was, and what was made then ran."""
    with pytest.raises(
        NotSupported, match="Signal resource during SUSPEND is not supported"
    ) as caught:
        asleep.run(SignalResource("s", "g", {}))
    assert caught.value.hint == "Resume the stack first."
    assert members(asleep) == {"m0": "SUSPEND_COMPLETE"}
    owner = asleep.resource_rows()[0]
    assert asleep.engine.reader.read_sealed_data(owner.id) == []


def test_nor_is_it_after_a_check(asleep: Bench) -> None:
    asleep.run(CheckStack("s"))
    with pytest.raises(NotSupported, match="suspended"):
        asleep.run(SignalResource("s", "g", {}))


def test_it_is_scaled_once_it_is_resumed(asleep: Bench) -> None:
    asleep.run(ResumeStack("s"))
    asleep.run(SignalResource("s", "g", {}))
    assert sorted(members(asleep)) == ["m0", "m1"]
