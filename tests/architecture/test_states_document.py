"""docs/reference/states.md shows the engine's tables of states as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from zonda.core.engine.model import states

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "states.md"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(heads), ["---"] * len(list(heads)), *map(list, rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def operation() -> str:
    rows = ([old or "none", event, new or "none"] for (old, event), new in states.OPERATION.items())
    return table(["operation", "event", "becomes"], rows)


def listed(heads: Iterable[str], relation: Mapping[str, frozenset[str]]) -> str:
    rows = ([key, ", ".join(sorted(values)) or "nothing"] for key, values in relation.items())
    return table(heads, rows)


TABLES = {
    "operation": operation(),
    "follows": listed(["action on a resource", "may begin after"], states.FOLLOWS),
    "phase": table(["action on a stack", "begins with"], map(list, states.FIRST_PHASE.items())),
    "overtakes": listed(["action asked for", "may overtake"], states.OVERTAKES),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_documented_as_it_is(name: str) -> None:
    assert TABLES[name] in DOCUMENT.read_text()
