"""The page of functions keeps step with the table that templates are read by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from zonda.core.functions.versions import build_function_table
from zonda.core.template.source.versions import DATES
from zonda.hooks.function import Function

DOCS = Path(__file__).resolve().parents[2] / "docs"


def changes(conditions: bool) -> Iterator[tuple[str, str, type[Function]]]:
    """(name, the version from which on it means that, what it means); 'gone' is a version, too."""
    known: dict[str, type[Function]] = {}
    for date in DATES:
        table = build_function_table(date)
        found = table.conditions if conditions else table.functions
        for name in sorted(found):
            called = found[name]
            if called is not known.get(name) and (not conditions or name not in table.functions):
                yield name, date, called
            known[name] = called


def rows() -> list[str]:
    """The table, as it stands in the document."""
    found = []
    for conditions in (False, True):
        for name, date, called in changes(conditions):
            where = f"{date}, in conditions" if conditions else date
            text = (called.__doc__ or "").strip().partition("\n")[0]
            found.append(f"| `{name}` | {where} | {text.replace('``', '`')} |")
    return sorted(found)


def test_every_function_is_documented_as_it_is() -> None:
    text = (DOCS / "reference" / "functions.md").read_text()
    expected = rows()
    documented = [line for line in text.splitlines() if re.match(r"\| `[\w:]+` \|", line)]
    assert documented == expected, "\n".join(expected)
