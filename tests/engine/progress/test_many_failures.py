"""The status of a stack in which very many resources have failed."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import CheckStack
from zonda.core.engine.progress.progress import MORE, MOST_REASONS
from zonda.hooks.errors import ResourceFailure


def test_a_stack_keeps_so_many_reasons_and_says_that_there_are_more(bench: Any) -> None:
    count = MOST_REASONS + 5

    def fail(resource: Any) -> None:
        raise ResourceFailure("no")

    bench.create("".join(f"r{number}: {{type: Test::Box}}\n" for number in range(count)))
    for number in range(count):
        bench.journal.behave[f"r{number}", "handle_check"] = fail
    stack = bench.run(CheckStack("s"))
    assert stack.state == "CHECK_FAILED"
    assert stack.status_reason.count("no'") == MOST_REASONS
    assert stack.status_reason.count(MORE) == 1
    assert bench.resource(f"r{count - 1}").state == "CHECK_FAILED"
