"""The conformance kit: does a resource type keep what the plug-in API asks of it?

``zonda plugin check`` runs it; authors of plug-ins run it from their own tests::

    from zonda.hooks import conformance as kit

    def test_the_disk_keeps_the_rules() -> None:
        kit.check(Disk, "Acme::Disk", DiskBackend).raise_if_failed()

A ``Backend`` stands for the outside world: a fake one, or a real one that may be used up. Without
one only what needs no outside world is checked. Values come from the schema; with hypothesis
installed (``pip install 'zonda[check]'``) also at random.
"""

from .backend import Backend
from .report import FAILED, NOT_APPLICABLE, PASSED, NotApplicable, Report, Row
from .runner import check

__all__ = [
    "FAILED",
    "NOT_APPLICABLE",
    "PASSED",
    "Backend",
    "NotApplicable",
    "Report",
    "Row",
    "check",
]
