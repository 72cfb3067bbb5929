"""The conformance suites: does a resource type keep what the plug-in API asks of it?

``zonda plugin check`` runs the suite; authors of plug-ins make a test of every rule::

    import pytest
    from zonda.hooks import conformance

    @pytest.mark.parametrize("rule", conformance.rules({"Acme::Disk": Disk}, DiskBackend), ids=str)
    def test_the_disk_keeps(rule: conformance.Rule) -> None:
        rule()

A ``Backend`` stands for the outside world: a fake one, or a real one that may be used up. Without
one only what needs no outside world is checked. Values come from the schema; with hypothesis
installed (``pip install 'zonda[check]'``) also at random.
"""

from .backend import Backend
from .suite import (
    FAILED,
    HINT,
    NOT_APPLICABLE,
    PASSED,
    Kind,
    NotApplicable,
    Report,
    Row,
    Rule,
    Suite,
    Violated,
)
from .type_suite import check, rules

__all__ = [
    "FAILED",
    "HINT",
    "NOT_APPLICABLE",
    "PASSED",
    "Backend",
    "Kind",
    "NotApplicable",
    "Report",
    "Row",
    "Rule",
    "Suite",
    "Violated",
    "check",
    "rules",
]
