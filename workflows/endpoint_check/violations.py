"""Violations of the ``http`` contract: what it expects, what came instead, what to do."""

from __future__ import annotations

from zonda.hooks import conformance, truncate_middle


class Violated(conformance.Violated):
    """A rule is not kept."""

    def __init__(self, expected: str, came: str, do: str) -> None:
        super().__init__(truncate_middle(came), do, expected)


class Hint(Violated):
    """A rule is kept; something could be better."""

    verdict = conformance.HINT
