"""One configuration on several servers."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.builtin_resources.software.deployment_group import (
    SoftwareDeploymentGroup,
    StructuredDeploymentGroup,
)
from zonda.hooks.testing import NestedLifecycle

OUTPUTS = {"deploy_stdout": "out", "deploy_stderr": "", "deploy_status_code": 0, "own": {"k": 1}}


def made(
    servers: dict[str, str], cls: type[Any] = SoftwareDeploymentGroup, **policy: Any
) -> NestedLifecycle:
    properties = {"servers": servers, "config": "the-config", "input_values": {"a": 1}}
    life = NestedLifecycle(cls, properties, update_policy=policy, attributes_of=lambda _: OUTPUTS)
    life.validate()
    life.create()
    return life


@pytest.mark.parametrize(
    ("cls", "kind"),
    [
        pytest.param(SoftwareDeploymentGroup, "OS::Heat::SoftwareDeployment", id="software"),
        pytest.param(StructuredDeploymentGroup, "OS::Heat::StructuredDeployment", id="structured"),
    ],
)
def test_each_server_has_a_deployment(cls: type[Any], kind: str) -> None:
    life = made({"web": "id-1", "db": "id-2"}, cls)
    shared = {"config": "the-config", "input_values": {"a": 1}}
    template = life.steps[0].template
    assert template is not None
    assert template["resources"] == {
        "web": {"type": kind, "properties": {**shared, "server": "id-1"}},
        "db": {"type": kind, "properties": {**shared, "server": "id-2"}},
    }


def test_a_server_that_goes_takes_its_deployment_along() -> None:
    life = made({"a": "1", "b": "2", "c": "3"})
    kept = life.child.member("c")
    life.update({"servers": {"a": "1", "c": "3"}, "config": "the-config", "input_values": {"a": 1}})
    assert [member.name for member in life.child.members()] == ["a", "c"]
    assert life.child.member("c") is kept


def test_attributes_are_maps_by_server() -> None:
    life = made({"a": "1", "b": "2"})
    assert life.attribute("deploy_stdouts") == {"a": "out", "b": "out"}
    assert life.attribute("deploy_status_codes", "b") == 0
    assert life.attribute("own") == {"a": {"k": 1}, "b": {"k": 1}}
    assert life.attribute("own", "a", "k") == 1


def test_what_the_template_reads_becomes_maps() -> None:
    life = NestedLifecycle(SoftwareDeploymentGroup, {"servers": {"a": "1"}})
    life.context.paths = frozenset({("deploy_stdouts", "a"), ("own",)})
    life.create()
    template = life.steps[0].template
    assert template is not None
    assert template["outputs"] == {
        "deploy_stdouts, a": {"value": {"a": {"get_attr": ["a", "deploy_stdout"]}}},
        "own": {"value": {"a": {"get_attr": ["a", "own"]}}},
    }


def test_in_batches() -> None:
    life = made({"a": "1", "b": "2", "c": "3"}, batch_create={"max_batch_size": 2, "pause_time": 3})
    assert [(len((s.template or {})["resources"]), s.pause) for s in life.steps] == [(2, 0), (3, 3)]
