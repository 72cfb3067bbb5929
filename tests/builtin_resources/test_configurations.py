"""``OS::Heat::SoftwareConfig`` and its relatives: what they say, and that they never change."""

from __future__ import annotations

from email import message_from_string
from typing import Any

import pytest

from zonda.builtin_resources.software.component import SoftwareComponent
from zonda.builtin_resources.software.config import CloudConfig, SoftwareConfig, StructuredConfig
from zonda.builtin_resources.software.deployed_server import DeployedServer
from zonda.builtin_resources.software.multipart_mime import MultipartMime
from zonda.hooks.errors import ResourceFailure, TemplateError, ValidationErrors
from zonda.hooks.resources.resource import Resource
from zonda.hooks.testing import FakeContext, Lifecycle


def made(cls: type[Resource], properties: dict[str, Any], *others: Lifecycle) -> Lifecycle:
    context = FakeContext()
    context.others = {str(index): other.instance() for index, other in enumerate(others)}
    lifecycle = Lifecycle(cls, properties, context=context)
    lifecycle.validate()
    lifecycle.create()
    return lifecycle


@pytest.mark.parametrize(
    ("cls", "properties", "config"),
    [
        pytest.param(SoftwareConfig, {"config": "#!/bin/sh"}, "#!/bin/sh", id="text"),
        pytest.param(SoftwareConfig, {}, None, id="no-text"),
        pytest.param(SoftwareConfig, {"config": ""}, "", id="empty-text"),
        pytest.param(
            StructuredConfig,
            {"config": {"a": {"get_input": "x"}}},
            {"a": {"get_input": "x"}},
            id="map",
        ),
        pytest.param(StructuredConfig, {}, None, id="no-map"),
        pytest.param(CloudConfig, {}, "#cloud-config\nnull\n...\n", id="no-cloud-config"),
        pytest.param(
            CloudConfig, {"cloud_config": {}}, "#cloud-config\n{}\n", id="empty-cloud-config"
        ),
        pytest.param(
            CloudConfig,
            {"cloud_config": {"b": ["ü", {"z": 1, "y": None}], "a": True}},
            '#cloud-config\na: true\nb:\n- "\\xFC"\n- y: null\n  z: 1\n',
            id="cloud-config-sorted-and-ascii",
        ),
        pytest.param(
            SoftwareComponent, {"configs": [{"tool": "script"}]}, None, id="component-as-in-heat"
        ),
    ],
)
def test_the_attribute_is_the_configuration(
    cls: type[Resource], properties: dict[str, Any], config: Any
) -> None:
    lifecycle = made(cls, properties)
    assert lifecycle.attribute("config") == config
    assert lifecycle.reference == lifecycle.uuid


@pytest.mark.parametrize(
    ("cls", "before", "after"),
    [
        pytest.param(SoftwareConfig, {"config": "a"}, {"config": "b"}, id="text"),
        pytest.param(SoftwareConfig, {}, {"group": "script"}, id="group"),
        pytest.param(SoftwareConfig, {}, {"inputs": [{"name": "i"}]}, id="inputs"),
        pytest.param(SoftwareConfig, {}, {"options": {"a": 1}}, id="options"),
        pytest.param(StructuredConfig, {"config": {}}, {"config": {"a": 1}}, id="map"),
        pytest.param(CloudConfig, {}, {"cloud_config": {"a": 1}}, id="cloud-config"),
        pytest.param(MultipartMime, {}, {"parts": [{"config": "a"}]}, id="parts"),
        pytest.param(
            SoftwareComponent,
            {"configs": [{"tool": "a"}]},
            {"configs": [{"tool": "b"}]},
            id="component",
        ),
    ],
)
def test_every_change_makes_another_one(
    cls: type[Resource], before: dict[str, Any], after: dict[str, Any]
) -> None:
    lifecycle = made(cls, before)
    first = lifecycle.reference
    assert lifecycle.update(after) == "replaced"
    assert lifecycle.reference != first


def test_what_a_deployment_is_given() -> None:
    config: Any = made(
        SoftwareConfig,
        {
            "group": "script",
            "config": "echo",
            "inputs": [{"name": "a", "default": {"x": 1}, "type": "Json"}, {"name": "b"}],
            "outputs": [{"name": "o", "error_output": True}],
        },
    ).instance()
    given = config.software_config()
    assert given["group"] == "script"
    assert [(each["name"], each.get("default")) for each in given["inputs"]] == [
        ("a", {"x": 1}),
        ("b", None),
    ]
    assert given["outputs"] == [{"name": "o", "type": "String", "error_output": True}]
    assert given["options"] == {}


@pytest.mark.parametrize(
    ("cls", "properties", "wrong"),
    [
        pytest.param(SoftwareConfig, {"inputs": [{}]}, "Property name not assigned", id="no-name"),
        pytest.param(
            SoftwareConfig,
            {"outputs": [{"name": "o", "type": "string"}]},
            "allowed value",
            id="type",
        ),
        pytest.param(SoftwareComponent, {}, "configs not assigned", id="no-configs"),
        pytest.param(SoftwareComponent, {"configs": []}, "length (0)", id="empty-configs"),
        pytest.param(SoftwareComponent, {"configs": [{}]}, "tool not assigned", id="no-tool"),
        pytest.param(
            SoftwareComponent,
            {"configs": [{"tool": "a"}, {"tool": "b", "actions": ["UPDATE"]}]},
            "more than one configuration for the same action",
            id="action-twice",
        ),
        pytest.param(
            DeployedServer, {"software_config_transport": "POST"}, "allowed value", id="transport"
        ),
        pytest.param(
            DeployedServer,
            {"deployment_swift_data": {"container": ""}},
            "length (0)",
            id="container",
        ),
    ],
)
def test_what_is_refused(cls: type[Resource], properties: dict[str, Any], wrong: str) -> None:
    with pytest.raises((ValidationErrors, TemplateError)) as caught:
        Lifecycle(cls, properties).validate()
    found: Any = caught.value
    assert wrong in str(getattr(found, "errors", [found])[0])


def test_a_component_may_have_actions_that_nobody_knows() -> None:
    made(SoftwareComponent, {"configs": [{"tool": "a", "actions": ["PAINT"]}]})


# -- OS::Heat::MultipartMime


def parts_of(lifecycle: Lifecycle) -> list[tuple[str, str | None, str]]:
    message = message_from_string(lifecycle.attribute("config"))
    payload: Any = message.get_payload()
    return [
        (part.get_content_type(), part.get_filename(), part.get_payload(decode=True).decode())
        for part in payload
    ]


def test_parts_are_texts_and_configurations() -> None:
    cloud = made(CloudConfig, {"cloud_config": {"a": 1}})
    mime = made(
        MultipartMime,
        {
            "parts": [
                {"config": "echo ü", "subtype": "x-shellscript"},
                {"config": cloud.reference, "filename": "cloud-config.txt"},
                {"config": "0" * 36},
            ]
        },
        cloud,
    )
    assert parts_of(mime) == [
        ("text/x-shellscript", None, "echo ü"),
        ("text/cloud-config", "cloud-config.txt", "#cloud-config\na: 1\n"),
        ("text/plain", None, "0" * 36),
    ]


def test_a_message_in_a_message_gives_its_parts() -> None:
    inner = made(MultipartMime, {"parts": [{"config": "ä", "subtype": "x"}, {"config": "b"}]})
    outer = made(
        MultipartMime,
        {
            "parts": [
                {"config": inner.reference, "type": "multipart"},
                {"config": "no message", "type": "multipart"},
                {"config": "c"},
            ]
        },
        inner,
    )
    assert parts_of(outer) == [
        ("text/x", None, "ä"),
        ("text/plain", None, "b"),
        ("text/plain", None, "c"),
    ]


def test_a_message_of_nothing() -> None:
    assert "multipart/mixed" in made(MultipartMime, {}).attribute("config")


def test_a_map_is_no_part() -> None:
    structured = made(StructuredConfig, {"config": {"a": 1}})
    with pytest.raises(ResourceFailure, match="is a map"):
        made(MultipartMime, {"parts": [{"config": structured.reference}]}, structured)


# -- OS::Heat::DeployedServer


def test_a_deployed_server_has_an_id_of_its_own_and_a_name() -> None:
    named, nameless = made(DeployedServer, {"name": "n"}), made(DeployedServer, {})
    assert named.attribute("name") == "n"
    assert nameless.attribute("name").startswith("teststack-")
    assert named.attribute("os_collect_config") == {}
    assert named.reference == named.uuid
    assert named.update({"name": "m", "software_config_transport": "POLL_TEMP_URL"}) == "updated"
    assert named.attribute("name") == "m"


# -- in a template


def test_what_a_hidden_parameter_is_made_part_of_is_not_shown(waiting: Any) -> None:
    template = """
parameters: {secret: {type: string, hidden: true}}
resources:
  soft: {type: OS::Heat::SoftwareConfig, properties: {config: {get_param: secret}}}
  cloud: {type: OS::Heat::CloudConfig, properties: {cloud_config: {p: {get_param: secret}}}}
  mime: {type: OS::Heat::MultipartMime, properties: {parts: [{config: {get_param: secret}}]}}
outputs:
  soft: {value: {get_attr: [soft, config]}}
  cloud: {value: {get_attr: [cloud, config]}}
  mime: {value: {get_attr: [mime, config]}}
"""
    text = "heat_template_version: 2018-08-31\n" + template
    assert waiting.stack.create(text, secret="hush-hush").state == "CREATE_COMPLETE"
    assert waiting.stack.outputs == {"soft": "(hidden)", "cloud": "(hidden)", "mime": "(hidden)"}


def test_a_configuration_made_in_the_same_moment_is_found(waiting: Any) -> None:
    template = """
resources:
  cloud: {type: OS::Heat::CloudConfig, properties: {cloud_config: {a: 1}}}
  id: {type: OS::Heat::Value, properties: {value: {get_resource: cloud}}}
  mime:
    type: OS::Heat::MultipartMime
    properties: {parts: [{config: {get_attr: [id, value]}, subtype: cloud-config}]}
outputs:
  mime: {value: {get_attr: [mime, config]}}
"""
    text = "heat_template_version: 2018-08-31\n" + template
    assert waiting.stack.create(text).state == "CREATE_COMPLETE"
    assert "#cloud-config\na: 1" in waiting.stack.outputs["mime"]
