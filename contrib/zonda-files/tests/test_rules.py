"""The rules that zonda has for plug-ins, on every type: what ``zonda plugin check`` runs."""

from __future__ import annotations

from typing import Any

import pytest
from zonda.hooks import conformance

from zonda_files.checking import World
from zonda_files.plugin import zonda_resource_types


@pytest.mark.parametrize(("name", "cls"), zonda_resource_types().items())
def test_a_type_keeps_the_rules(name: str, cls: Any) -> None:
    report = conformance.check(cls, name, World)
    assert [row for row in report.rows if row.verdict == "fail"] == []
    assert sum(row.verdict == "pass" for row in report.rows) > 20
