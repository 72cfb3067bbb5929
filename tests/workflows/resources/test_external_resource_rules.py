"""``OS::Mistral::ExternalResource`` on trial by the conformance kit, with a scripted runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zonda.hooks import conformance
from zonda.hooks.runners import Running, Succeeded
from zonda.hooks.testing import FakeContext, FakeRunner
from zonda.workflows.resources.external_resource import ExternalResource

ACTIONS = {action: {"workflow": action.lower()} for action in ("CREATE", "UPDATE", "DELETE")}


class Workflows(conformance.Backend):
    """A runner whose workflows run for one poll, and always work."""

    def __init__(self) -> None:
        answers = [Running(), Succeeded({"resource_id": "x1"})]
        self.runner = FakeRunner({each["workflow"]: answers for each in ACTIONS.values()})

    def context(self) -> FakeContext:
        return FakeContext(runners={"default": self.runner})

    def properties(self, type_name: str) -> Mapping[str, Any]:
        return {"actions": ACTIONS}

    def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
        fewer = {action: ACTIONS[action] for action in ("CREATE", "DELETE")}
        return {"actions": [fewer], "input": [{"a": 1}]}


def test_the_type_keeps_the_rules() -> None:
    report = conformance.check(ExternalResource, "OS::Mistral::ExternalResource", Workflows)
    report.raise_if_failed()
    passed = {row.check for row in report.rows if row.verdict == conformance.PASSED}
    assert {"create", "restart between all calls", "crash in create", "crash in update"} <= passed
