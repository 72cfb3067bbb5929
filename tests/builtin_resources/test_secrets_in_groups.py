"""A secret that comes to members under another name, as a name, or within a whole template."""

from __future__ import annotations

import pytest
from tests.engine.conftest import showing

from zonda.core.engine.actions import CreateStack
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.preview import build_preview
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors

from .lives import Life

SECRET = "hush-hush-1"
HEAD = f"""
        parameters:
          s: {{type: string, hidden: true, default: {SECRET}}}
          list: {{type: comma_delimited_list, hidden: true, default: "{SECRET},b"}}
          map: {{type: json, hidden: true, default: {{a: {{pw: {SECRET}, count: {SECRET}}}}}}}
          text:
            type: string
            hidden: true
            default: "{{heat_template_version: 2018-08-31, outputs: {{o: {{value: {SECRET}}}}}}}"
"""
FILES = {
    "child.yaml": """
        parameters: {p: {type: string}, q: {type: string, default: qq}}
        resources: {t: {type: OS::Heat::TestResource, properties: {value: {get_param: p}}}}
        outputs: {o: {value: {get_attr: [t, output]}}, q: {value: {get_param: q}}}
        """,
    "counted.yaml": """
        parameters: {pw: {type: string}, count: {type: string}}
        outputs: {o: {value: {get_param: count}}}
        """,
    "facade.yaml": """
        resources: {v: {type: OS::Heat::Value, properties: {value: {resource_facade: metadata}}}}
        outputs: {o: {value: {get_attr: [v, value]}}}
        """,
    "between.yaml": """
        parameters: {p: {type: string}}
        resources: {f: {type: facade.yaml, metadata: {m: {get_param: p}}}}
        outputs: {o: {value: {get_attr: [f, o]}}}
        """,
    "instance.yaml": """
        parameters: {ImageId: {type: string}, SubnetId: {type: string}, Tags: {type: json}}
        resources: {t: {type: OS::Heat::TestResource, properties: {value: {get_param: SubnetId}}}}
        outputs: {PublicIp: {value: {get_param: SubnetId}}}
        """,
}
VALUE = 'resource_def: {type: OS::Heat::Value, properties: {value: "%key% %value%"}}'


@pytest.fixture
def told(inline: InlineStack) -> Life:
    made = Life(inline, FILES)
    made.environment = "resource_registry: {AWS::EC2::Instance: instance.yaml}"
    return made


def everything(life: Life) -> str:
    """All that is shown of a stack and of what is nested in it, and the rows of the store."""
    engine, shown = life.engine, list[object]()
    for stack in engine.reader.tree(life.child_of_root):
        shown += [stack, showing(engine).parameters(stack.id), showing(engine).outputs(stack.id)]
        shown += engine.reader.resources(stack.id)
        shown += engine.reader.events(stack.id, limit=10_000)
    return repr(shown)


def stored(life: Life) -> str:
    return "".join(life.stack._store._connection.iterdump())


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("resources", "reads"),
    [
        pytest.param(
            "g: {type: AWS::CloudFormation::Stack, properties: "
            "{TemplateURL: child.yaml, Parameters: {p: {get_param: s}}}}",
            "[g, Outputs.o]",
            id="parameters of a file",
        ),
        pytest.param(
            "g: {type: OS::Heat::Stack, properties: "
            "{template: {get_file: child.yaml}, parameters: {p: {get_param: s}}}}",
            "[g, outputs, o]",
            id="parameters of a text",
        ),
        pytest.param(
            "g: {type: OS::Heat::Stack, properties: {template: {get_param: text}}}",
            "[g, outputs, o]",
            id="a whole template",
        ),
        pytest.param(
            "g: {type: OS::Heat::ResourceGroup, properties: {removal_policies: "
            "[{resource_list: [{get_param: s}]}], resource_def: {type: OS::Heat::None}}}",
            "[g, removed_rsrc_list]",
            id="removed names",
        ),
        pytest.param(
            "g: {type: OS::Heat::ResourceGroup, properties: {resource_def: "
            "{type: facade.yaml, metadata: {m: {get_param: s}}}}}",
            "[g, o]",
            id="metadata of members",
        ),
        pytest.param(
            "g: {type: between.yaml, properties: {p: {get_param: s}}}",
            "[g, o]",
            id="metadata further below",
        ),
        pytest.param(
            "g: {type: OS::Heat::ResourceChain, properties: {resources: [counted.yaml], "
            "resource_properties: {get_param: [map, a]}}}",
            "[g, o]",
            id="all properties at once",
        ),
        pytest.param(
            "g: {type: OS::Heat::ResourceGroup, properties: {resource_def: "
            "{type: counted.yaml, properties: {get_param: [map, a]}}}}",
            "[g, o]",
            id="a name that the group has, too",
        ),
        pytest.param(
            "lc: {type: AWS::AutoScaling::LaunchConfiguration, properties: {ImageId: one}}\n"
            "          g: {type: AWS::AutoScaling::AutoScalingGroup, properties: {MinSize: 1, "
            "AvailabilityZones: [], LaunchConfigurationName: {get_resource: lc}, MaxSize: 1, "
            "VPCZoneIdentifier: [{get_param: s}]}}",
            "[g, InstanceList]",
            id="a subnet",
        ),
        pytest.param(
            "g: {type: Zonda::ForEach, properties: {for_each: {a: {get_param: s}}, " + VALUE + "}}",
            "[g, value]",
            id="a value of a key",
        ),
        pytest.param(
            "g: {type: Zonda::ForEach, properties: {for_each: {get_param: map}, " + VALUE + "}}",
            "[g, value]",
            id="a map with its keys",
        ),
    ],
)
def test_a_secret_stays_one_under_another_name(told: Life, resources: str, reads: str) -> None:
    text = f"""{HEAD}
        resources:
          {resources}
        outputs:
          o: {{value: {{get_attr: {reads}}}}}
        """
    action = CreateStack("test", told.bundle(text))
    assert SECRET not in repr(build_document(build_preview(told.engine.services, action)))
    assert told.create(text).state == "CREATE_COMPLETE"
    assert told.outputs["o"] == "(hidden)"
    assert SECRET not in everything(told) + stored(told)


@pytest.mark.parametrize(
    ("owner", "key"),
    [
        pytest.param("Zonda::ForEach", "for_each: [{get_param: s}], " + VALUE, id="an item"),
        pytest.param("Zonda::ForEach", "for_each: {get_param: list}, " + VALUE, id="a list"),
        pytest.param(
            "Zonda::ForEach",
            "for_each: {map_replace: [{a: 1}, {keys: {a: {get_param: s}}}]}, " + VALUE,
            id="a key that is put together",
        ),
        pytest.param(
            "OS::Heat::ResourceGroup",
            "resource_def: {type: Zonda::ForEach, properties: {for_each: [{get_param: s}], "
            "resource_def: {type: OS::Heat::None}}}",
            id="further below",
        ),
        pytest.param(
            "OS::Heat::SoftwareDeploymentGroup",
            "config: c, servers: {map_replace: [{a: 1}, {keys: {a: {get_param: s}}}]}",
            id="a server",
        ),
    ],
)
def test_no_secret_becomes_a_name(told: Life, owner: str, key: str) -> None:
    with pytest.raises(ValidationErrors, match="would make names of what is secret") as raised:
        told.create(HEAD + f"        resources: {{g: {{type: {owner}, properties: {{{key}}}}}}}\n")
    assert SECRET not in str(raised.value)


@pytest.mark.sqlite
def test_no_secret_that_is_made_becomes_a_name(told: Life) -> None:
    text = f"""
        resources:
          r: {{type: OS::Heat::RandomString}}
          g:
            type: Zonda::ForEach
            properties: {{for_each: {{str_split: [",", {{get_attr: [r, value]}}]}}, {VALUE}}}
        """
    stack = told.create(text)
    made = told.stack.resources["r"].attributes["value"]
    assert stack.state == "CREATE_FAILED"
    assert "would make names of what is secret" in stack.status_reason
    names = [each.resource_name for each in told.engine.reader.events(None, limit=100)]
    assert made not in repr(names) + stack.status_reason + stored(told)


@pytest.mark.sqlite
def test_what_no_secret_is_in_is_shown_by_every_path(told: Life) -> None:
    text = f"""{HEAD}
        resources:
          g:
            type: OS::Heat::ResourceGroup
            properties:
              count: 2
              removal_policies: [{{resource_list: [gone]}}]
              resource_def: {{type: child.yaml, properties: {{q: "m%index%", p: {{get_param: s}}}}}}
          e:
            type: Zonda::ForEach
            properties:
              for_each: [x]
              resource_def: {{type: child.yaml, properties: {{q: "%key%", p: {{get_param: s}}}}}}
        outputs:
          list: {{value: {{get_attr: [g, q]}}}}
          map: {{value: {{get_attr: [g, attributes, q]}}}}
          one: {{value: {{get_attr: [g, resource.1, q]}}}}
          dotted: {{value: {{get_attr: [g, resource.1.q]}}}}
          gone: {{value: {{get_attr: [g, removed_rsrc_list]}}}}
          key: {{value: {{get_attr: [e, resource.x, q]}}}}
          no_list: {{value: {{get_attr: [g, o]}}}}
          no_map: {{value: {{get_attr: [g, attributes, o]}}}}
          no_one: {{value: {{get_attr: [g, resource.1, o]}}}}
          no_dotted: {{value: {{get_attr: [g, resource.1.o]}}}}
          no_inside: {{value: {{get_attr: [g, resource.1, resource.t, output]}}}}
        """
    assert told.create(text).state == "CREATE_COMPLETE"
    shown = {"list": ["m0", "m1"], "map": {"0": "m0", "1": "m1"}, "one": "m1", "dotted": "m1"}
    hidden = dict.fromkeys(("no_list", "no_map", "no_one", "no_dotted", "no_inside"), "(hidden)")
    assert told.outputs == {**shown, "gone": ["gone"], "key": "x", **hidden}
    assert SECRET not in everything(told) + stored(told)
