"""Event types that a sink may name are those that the engine sends."""

from __future__ import annotations

import pytest

from zonda.core.app.app import builtin_kinds
from zonda.core.engine.model import states
from zonda.core.engine.progress import history
from zonda.core.settings import section_checks
from zonda.core.store.schema import words
from zonda.hooks.resources.resource import Resource


def test_every_action_and_state_of_an_event_is_known() -> None:
    told = {*states.FOLLOWS, *states.FIRST_PHASE, *history.ASIDE, *Resource.ACTIONS, "DRIFT"}
    assert told == set(section_checks.ACTIONS)
    assert set(Resource.STATUSES) == set(section_checks.STATUSES)
    verdicts = {words.IN_SYNC, words.DRIFTED, words.MISSING}
    verdicts |= {words.UNKNOWN, words.FAILED}
    assert verdicts == set(section_checks.VERDICTS)


@pytest.mark.parametrize("name", ["DRIFT", "drift_missing", "*_FAILED", "CREATE_*", "*", "?NIT"])
def test_names_and_patterns_of_events(name: str) -> None:
    section = {"kind": "log", "events": [name]}
    assert section_checks.find_faults("sinks", section, builtin_kinds()["sinks"]) == []
