"""The rules that zonda has for plug-ins, on every type: what ``zonda plugin check`` runs."""

from __future__ import annotations

import pytest
from zonda.hooks import conformance

from zonda_files.checking import World
from zonda_files.plugin import zonda_resource_types


@pytest.mark.parametrize("rule", conformance.rules(zonda_resource_types(), World), ids=str)
def test_a_type_keeps(rule: conformance.Rule) -> None:
    rule()
