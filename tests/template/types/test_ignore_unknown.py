"""Types and custom constraints that are not installed may be warned of instead."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.app.app import build_app
from zonda.core.settings import settings
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import ValidationErrors

TEMPLATE = """\
heat_template_version: 2018-08-31
parameters:
  image: {type: string, default: a, constraints: [{custom_constraint: acme.image}]}
resources:
  a: {type: Acme::Server, properties: {image: {get_param: image}, other: {get_resource: b}}}
  b: {type: nested.yaml}
outputs:
  o: {value: {get_attr: [a, address]}}
"""


@pytest.fixture
def app(tmp_path: Any) -> Any:
    made = build_app(settings.load_settings({"home": str(tmp_path)}, {}))
    yield made
    made.close()


def test_what_is_not_installed_is_a_fault(app: Any) -> None:
    with pytest.raises(ValidationErrors) as caught:
        app.templates.validate(Bundle(TEMPLATE, "t.yaml"))
    assert [str(fault.place) for fault in caught.value.errors] == [
        "t.yaml:3:3",
        "t.yaml:5:7",
        "t.yaml:6:7",
    ]


def test_what_is_not_installed_is_a_warning(app: Any) -> None:
    checked = app.templates.validate(Bundle(TEMPLATE, "t.yaml"), ignore_unknown=True)
    codes = [warning.code for warning in checked.warnings]
    assert codes == ["ZON134", "ZON122", "ZON123"]
    assert [str(warning.place) for warning in checked.warnings][1] == "t.yaml:5:7"


def test_other_faults_stay(app: Any) -> None:
    text = TEMPLATE.replace("get_resource: b", "get_resource: c")
    with pytest.raises(ValidationErrors) as caught:
        app.templates.validate(Bundle(text, "t.yaml"), ignore_unknown=True)
    assert [fault.code for fault in caught.value.errors] == ["ZON120"]
    assert {"ZON122", "ZON123", "ZON134"} <= {each.code for each in caught.value.warnings}
