"""Hidden values stand in no part of a reason."""

from __future__ import annotations

from zonda.core.engine.plugins.reasons import Secrets, format_reason, report_error
from zonda.core.template.syntax.redactor import Redactor
from zonda.hooks.errors import ResourceFailure, TemplateError


def test_a_reason_names_the_port_that_could_not_be_reached() -> None:
    secrets = Secrets()
    secrets.values = [5432, "hunter2"]
    error = OSError("postgres://u:hunter2@db:5432/x, port 5432: refused, pin 5432")
    assert format_reason("a", error, secrets) == (
        "OSError: resources.a: postgres://u:(hidden)@db:5432/x, port 5432: refused, pin (hidden)"
    )


def test_a_hidden_value_that_crosses_the_cut_is_taken_out() -> None:
    secrets = Secrets()
    secrets.values = [5000 * "ab"]
    assert format_reason("a", ResourceFailure(f"no: {secrets.values[0]}"), secrets) == (
        "resources.a: no: (hidden)"
    )


def test_a_fault_names_the_port_that_could_not_be_reached() -> None:
    fault = TemplateError("http://db:5432/x is no file, 5432 neither", at=("resources", "a"))
    shown = Redactor(["5432"], lambda name: {})(fault)
    assert shown.message == "http://db:5432/x is no file, (hidden) neither"


def test_the_name_of_a_class_tells_no_hidden_value() -> None:
    secrets = Secrets()
    secrets.values = ["hunter2"]
    for base in (ValueError, AttributeError, ResourceFailure):
        cls = type("Wrong_hunter2", (base,), {"heat_type": "Bad_hunter2"})
        for error in (cls("no"), type("Wrong_hunter2", (base,), {})("no")):
            assert "hunter2" not in repr(report_error("a", error, secrets))
    cls = type("Wrong_hunter2", (ValueError,), {})
    assert format_reason("a", cls("no"), secrets) == "Wrong_(hidden): resources.a: no"


def test_the_label_of_a_fault_tells_no_hidden_value() -> None:
    fault = TemplateError("no", label="Wrong_hunter2", heat_type="Wrong_hunter2")
    shown = Redactor(["hunter2"], lambda name: {})(fault)
    assert (shown.label, shown.heat_type) == ("Wrong_(hidden)", "Wrong_(hidden)")
