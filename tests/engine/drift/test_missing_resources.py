"""Resources that a repair has found missing are created anew, also by later actions."""

from __future__ import annotations

import pytest
from tests.engine.conftest import Bench
from tests.engine.drift.test_repeated_repairs import Failing, lose
from tests.engine.drifting import Drifting, Thing

from zonda.core.engine.actions import RetryStack

TWO = """
    first: {type: Test::Thing, properties: {size: 1}}
    then: {type: Test::Looked, properties: {size: 2}, depends_on: first}
"""


class Looked(Thing):
    """Puts right in place what is there; of what is not its update does nothing."""

    repairs_in_place = True

    def needs_replace_failed(self) -> bool:
        return self.drift == "MISSING"

    def handle_update(self, json_snippet: object, tmpl_diff: object, prop_diff: object) -> None:
        self.world.calls.append((self.name, "update"))


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    bench.types["Test::Looked"] = type("Looked", (Looked,), {"world": made.world})
    made.restart()
    made.create(TWO)
    return made


@pytest.mark.parametrize("how", ["update", "retry", "repair"])
def test_what_a_failed_repair_has_not_come_to_is_made_anew(drift: Drifting, how: str) -> None:
    lose(drift, "first")
    lose(drift, "then")
    with Failing(drift):
        assert drift.repair().state == "UPDATE_FAILED"
    drift.world.calls.clear()
    if how == "update":
        drift.bench.update(TWO)
    elif how == "retry":
        drift.engine.run(RetryStack("s"))
    else:
        drift.repair()
    assert drift.bench.stack.state == "UPDATE_COMPLETE"
    assert ("then", "update") not in drift.world.calls
    assert len(drift.world.things) == 2
    assert drift.check().verdict == "IN_SYNC"


def test_what_somebody_has_put_back_meanwhile_is_not_missing_any_more(drift: Drifting) -> None:
    lose(drift, "first")
    lose(drift, "then")
    with Failing(drift):
        assert drift.repair().state == "UPDATE_FAILED"
    drift.world.things[str(drift.bench.resource("then").physical_id)] = {"size": 9}
    drift.repair()
    assert ("then", "update") in drift.world.calls
    assert ("then", "create") not in drift.world.calls
