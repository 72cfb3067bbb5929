"""Reasons keep the port of an address where a hidden value is the same by chance."""

from __future__ import annotations

from zonda.core.engine.reasons import Secrets, reason_for
from zonda.core.template.masking import Masker
from zonda.hooks.errors import TemplateError


def test_a_reason_names_the_port_that_could_not_be_reached() -> None:
    secrets = Secrets()
    secrets.values = [5432, "hunter2"]
    error = OSError("postgres://u:hunter2@db:5432/x, port 5432: refused, pin 5432")
    assert reason_for("a", error, secrets) == (
        "OSError: resources.a: postgres://u:(hidden)@db:5432/x, port 5432: refused, pin (hidden)"
    )


def test_a_fault_names_the_port_that_could_not_be_reached() -> None:
    fault = TemplateError("http://db:5432/x is no file, 5432 neither", at=("resources", "a"))
    shown = Masker(["5432"], lambda name: {})(fault)
    assert shown.message == "http://db:5432/x is no file, (hidden) neither"
