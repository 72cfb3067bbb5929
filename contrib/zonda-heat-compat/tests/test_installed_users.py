"""Warnings about what needs users of a stack: told with their place, before anything is made."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

from zonda.hooks import ResourceDefinition, ValidationErrors

from zonda_heat_compat import plugin
from zonda_heat_compat.adapter import Adapted, adapted

assert plugin, "it lends the name heat"


class Properties(dict[str, Any]):
    """The properties of a resource of Heat's; no finder was asked."""

    finders = SimpleNamespace(list_unchecked=lambda props: [])
    held = SimpleNamespace(props={})


def validate(heat_class: type[Any], **properties: str) -> list[tuple[Any, ...]]:
    """The codes and places of the warnings."""

    class Heat(heat_class):  # type: ignore[misc]
        def __init__(self) -> None:
            self.name, self.properties = "r", Properties(properties)

        def type(self) -> str:
            return "X"

        def validate(self) -> None:
            """Nothing is wrong with it."""

    Heat.__module__ = "tests"
    made = adapted(heat_class)
    assert isinstance(made, type)
    resource: Adapted = made("r", ResourceDefinition("r", "X"), SimpleNamespace())  # type: ignore[arg-type]
    resource._heat = Heat()
    try:
        resource.validate()
    except ValidationErrors as error:
        return [(each.code, *each.path) for each in error.errors]
    return []


@pytest.mark.parametrize(
    ("form", "transport", "is_told"),
    [
        ("SOFTWARE_CONFIG", "POLL_SERVER_CFN", True),
        ("SOFTWARE_CONFIG", "POLL_SERVER_HEAT", True),
        ("SOFTWARE_CONFIG", "ZAQAR_MESSAGE", True),
        ("SOFTWARE_CONFIG", "POLL_TEMP_URL", False),
        ("HEAT_CFNTOOLS", "POLL_SERVER_CFN", False),
        ("RAW", "POLL_SERVER_CFN", False),
    ],
)
def test_an_agent_that_cannot_sign_in(form: str, transport: str, is_told: bool) -> None:
    from heat.engine.resources.openstack.nova.server import Server

    found = validate(Server, user_data_format=form, software_config_transport=transport)
    assert found == [("ZON617", "resources", "r", "properties", "user_data_format")] * is_told


def test_a_user_who_cannot_sign_in() -> None:
    from heat.engine.resources.aws.iam.user import AccessKey, User
    from heat.engine.resources.openstack.neutron.net import Net

    assert validate(User) == validate(AccessKey) == [("ZON617", "resources", "r")]
    assert validate(Net) == []


TEMPLATE = """
heat_template_version: 2018-08-31
resources: {user: {type: AWS::IAM::User}}
"""


def test_a_plan_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from zonda.core.cli.main import main

    (tmp_path / "t.yaml").write_text(TEMPLATE)
    monkeypatch.setenv("ZONDA_HOME", str(tmp_path / "home"))
    assert main(["stack", "plan", "-t", str(tmp_path / "t.yaml"), "s"]) == 0
    shown = capsys.readouterr()
    assert "t.yaml:3:13: AWS::IAM::User names nobody who could sign in" in shown.out + shown.err
