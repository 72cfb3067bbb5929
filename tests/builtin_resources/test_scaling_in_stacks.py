"""Scaling groups, stacks within stacks, instances and deployments in the engine."""

from __future__ import annotations

import textwrap

import pytest

from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors, ZondaError

from .lives import Life

TEST, VALUE = "OS::Heat::TestResource", "OS::Heat::Value"


# -- scaling ------------------------------------------------------------------------------------


def scaling(value: str = "a", more: str = "", least: int = 1) -> str:
    return f"""
        resources:
          g:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: {least}
              max_size: 6
              resource: {{type: {TEST}, properties: {{value: "{value}"}}}}
              {more}
          up:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {{get_resource: g}}
              adjustment_type: change_in_capacity
              scaling_adjustment: 2
          down:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {{get_resource: g}}
              adjustment_type: change_in_capacity
              scaling_adjustment: -1
          r: {{type: {VALUE}, properties: {{value: {{get_attr: [g, outputs_list, output]}}}}}}
        outputs:
          size: {{value: {{get_attr: [g, current_size]}}}}
          list: {{value: {{get_attr: [g, outputs_list, output]}}}}
          refs: {{value: {{get_attr: [g, refs]}}}}
        """


def test_signals_scale_a_group_up_and_down(life: Life) -> None:
    life.create(scaling())
    (oldest,) = life.outputs["refs"]
    assert life.signal("up").state == "CREATE_COMPLETE"
    assert life.outputs["size"] == 3
    assert life.outputs["refs"][0] == oldest
    life.signal("down")
    assert life.outputs["size"] == 2
    assert oldest not in life.outputs["refs"]


def test_a_signal_in_the_cooldown_is_passed_over(life: Life) -> None:
    life.create(scaling(more="cooldown: 600"))
    since = life.now
    life.signal("up")
    assert life.outputs["size"] == 1
    assert life.now == since
    life.stack.clock.advance(601)
    life.signal("up")
    life.signal("up")
    assert life.outputs["size"] == 3


def test_an_update_changes_members_one_after_the_other_and_keeps_the_size(life: Life) -> None:
    life.create(scaling())
    life.signal("up")
    before = life.outputs["refs"]
    assert life.update(scaling("b")).state == "UPDATE_COMPLETE"
    assert life.outputs["list"] == ["b", "b", "b"]
    assert life.outputs["refs"] == before


def test_a_failed_scaling_does_not_fail_the_stack_and_may_be_signalled_again(life: Life) -> None:
    life.create(scaling('a", fail: "true', least=0))
    for _ in range(2):
        since = life.now
        assert life.signal("up").state == "CREATE_COMPLETE"
        assert ("SIGNAL_FAILED", "resources.g.resources") in {
            (f"{each.action}_{each.status}", each.reason.partition(": ")[2][:21])
            for each in life.engine.reader.events(life.child_of_root, after=since)
        }
        assert life.outputs["size"] == 0
    assert life.update(scaling("a", least=0)).state == "UPDATE_COMPLETE"
    assert life.members("g") == {}
    life.signal("up")
    assert life.outputs["size"] == 2


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param("max_size: WRONG", {"max_size"}, id="no-comparison-with-what-has-no-value"),
        pytest.param("cooldown: WRONG", {"cooldown", "max_size not assigned"}, id="a-size-missing"),
        pytest.param("max_size: a, cooldown: WRONG", {"cooldown", "max_size"}, id="no-number"),
    ],
)
def test_sizes_are_told_of_beside_a_value_that_cannot_be_made(
    life: Life, sizes: str, expected: set[str]
) -> None:
    given = sizes.replace("WRONG", "{str_split: [a, {}]}")
    text = f"""
        resources:
          g:
            type: OS::Heat::AutoScalingGroup
            properties: {{resource: {{type: OS::Heat::None}}, min_size: 1, {given}}}
        """
    with pytest.raises(ValidationErrors) as raised:
        life.create(text)
    found = [str(fault) for fault in raised.value.errors]
    assert len(found) == len(expected)
    assert all(any(part in fault for fault in found) for part in expected), found


def test_a_policy_of_no_group_is_told_of_as_that(life: Life) -> None:
    text = scaling().replace("{get_resource: g}", "nobody", 1)
    life.create(text)
    with pytest.raises(ZondaError) as raised:
        life.signal("up")
    expected = 'NotFound: resources.up: Alarm up could not find scaling group named "nobody"'
    assert str(raised.value) == expected


def test_a_policy_finds_a_group_in_a_nested_stack(inline: InlineStack) -> None:
    workers = """
        resources:
          g:
            type: OS::Heat::AutoScalingGroup
            properties: {min_size: 1, max_size: 3, resource: {type: OS::Heat::TestResource}}
        outputs:
          group: {value: {get_resource: g}}
          size: {value: {get_attr: [g, current_size]}}
        """
    life = Life(inline, {"workers.yaml": workers})
    life.create(
        """
        resources:
          w: {type: workers.yaml}
          p:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {get_attr: [w, group]}
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
        outputs:
          size: {value: {get_attr: [w, size]}}
        """
    )
    life.signal("p")
    assert life.outputs == {"size": 2}


def test_what_is_secret_stays_so_among_the_members(life: Life) -> None:
    life.create(
        """
        parameters: {secret: {type: string, hidden: true, default: hush-hush}}
        resources:
          g:
            type: OS::Heat::ResourceGroup
            properties:
              count: 2
              resource_def:
                type: OS::Heat::TestResource
                properties: {value: {list_join: [" ", [{get_param: secret}, "%index%"]]}}
        outputs:
          all: {value: {get_attr: [g, output]}}
          one: {value: {get_attr: [g, resource.0, output]}}
          refs: {value: {get_attr: [g, refs]}}
        """
    )
    assert (life.outputs["all"], life.outputs["one"]) == ("(hidden)", "(hidden)")
    assert len(life.outputs["refs"]) == 2
    assert "hush-hush" not in repr(life.members("g"))


SECRET = "parameters: {secret: {type: string, hidden: true, default: hush-hush}}"


@pytest.mark.parametrize(
    "resources",
    [
        pytest.param(
            """
          g:
            type: Zonda::ForEach
            properties:
              for_each: {a: {get_param: secret}}
              resource_def: {type: OS::Heat::TestResource, properties: {value: "is %value%"}}
            """,
            id="values-of-keys",
        ),
        pytest.param(
            """
          lc:
            type: AWS::AutoScaling::LaunchConfiguration
            properties: {UserData: {get_param: secret}}
          g:
            type: OS::Heat::InstanceGroup
            properties:
              AvailabilityZones: []
              LaunchConfigurationName: {get_resource: lc}
              Size: 1
            """,
            id="of-a-launch-configuration",
        ),
    ],
)
def test_a_secret_that_members_are_given_under_another_name(
    inline: InlineStack, resources: str
) -> None:
    instance = """
        parameters: {UserData: {type: string}, Tags: {type: json}}
        resources: {t: {type: OS::Heat::TestResource, properties: {value: {get_param: UserData}}}}
        outputs: {PublicIp: {value: {get_attr: [t, output]}}}
        """
    life = Life(inline, {"instance.yaml": instance})
    life.environment = "resource_registry: {AWS::EC2::Instance: instance.yaml}"
    name = "InstanceList" if "InstanceGroup" in resources else "output"
    indented = textwrap.indent(textwrap.dedent(resources).strip(), "  ")
    text = (
        f"{SECRET}\nresources:\n{indented}\noutputs:\n  o: {{value: {{get_attr: [g, {name}]}}}}\n"
    )
    assert life.create(text).state == "CREATE_COMPLETE"
    assert life.outputs["o"] in ("(hidden)", {"a": "(hidden)"})
    assert "hush-hush" not in repr((life.members("g"), life.stack.resources))


def test_scaling_outlives_a_restart(life: Life) -> None:
    life.create(scaling(more="cooldown: 600"))
    life.stack.restart()
    life.engine = life.stack.engine
    life.signal("up")
    assert life.outputs["size"] == 1
    life.stack.clock.advance(601)
    life.signal("up")
    assert life.outputs["size"] == 3


# -- stacks within stacks -----------------------------------------------------------------------


CHILD = """
    parameters: {p: {type: string}}
    resources: {t: {type: OS::Heat::TestResource, properties: {value: {get_param: p}}}}
    outputs: {o: {value: {get_attr: [t, output]}}}
    """


def test_a_stack_of_a_template_that_is_given_as_text(inline: InlineStack) -> None:
    life = Life(inline, {"child.yaml": CHILD})
    text = """
        resources:
          s:
            type: OS::Heat::Stack
            properties: {template: {get_file: child.yaml}, parameters: {p: hello}}
        outputs:
          o: {value: {get_attr: [s, outputs, o]}}
          all: {value: {get_attr: [s, outputs]}}
          name: {value: {get_attr: [s, stack_name]}}
        """
    assert life.create(text).state == "CREATE_COMPLETE"
    assert life.outputs["o"] == "hello"
    assert life.outputs["all"] == {"o": "hello"}
    assert life.outputs["name"] == life.child("s").name
    assert life.update(text.replace("hello", "bye")).state == "UPDATE_COMPLETE"
    assert life.outputs["all"] == {"o": "bye"}


def test_cloudformations_stack_of_a_file(inline: InlineStack) -> None:
    life = Life(inline, {"child.yaml": CHILD})
    text = """
        resources:
          s:
            type: AWS::CloudFormation::Stack
            properties: {TemplateURL: child.yaml, Parameters: {p: hello}}
        outputs:
          o: {value: {get_attr: [s, Outputs.o]}}
        """
    assert life.create(text).state == "CREATE_COMPLETE"
    assert life.outputs["o"] == "hello"


def test_a_fault_in_the_text_is_found_before_anything_is_made(life: Life) -> None:
    text = """
        resources:
          s:
            type: OS::Heat::Stack
            properties: {template: "heat_template_version: 2018-08-31\\nresources: {a: {type: X}}"}
        """
    with pytest.raises(ZondaError, match=r"Resource Type \(X\) could not be found"):
        life.create(text)


# -- instances and deployments ------------------------------------------------------------------


def test_instances_are_what_the_registry_says(inline: InlineStack) -> None:
    instance = """
        parameters: {ImageId: {type: string}, Tags: {type: json}}
        resources: {t: {type: OS::Heat::TestResource, properties: {value: {get_param: ImageId}}}}
        outputs: {PublicIp: {value: {get_attr: [t, output]}}}
        """
    life = Life(inline, {"instance.yaml": instance})
    life.environment = "resource_registry: {AWS::EC2::Instance: instance.yaml}"
    text = """
        resources:
          lc: {type: AWS::AutoScaling::LaunchConfiguration, properties: {ImageId: one}}
          g:
            type: OS::Heat::InstanceGroup
            properties:
              AvailabilityZones: []
              LaunchConfigurationName: {get_resource: lc}
              Size: 2
          a:
            type: AWS::AutoScaling::AutoScalingGroup
            update_policy: {AutoScalingRollingUpdate: {MaxBatchSize: 1}}
            properties:
              AvailabilityZones: []
              LaunchConfigurationName: {get_resource: lc}
              MinSize: 1
              MaxSize: 3
          p:
            type: AWS::AutoScaling::ScalingPolicy
            properties:
              AutoScalingGroupName: {get_resource: a}
              AdjustmentType: ExactCapacity
              ScalingAdjustment: 2
        outputs:
          g: {value: {get_attr: [g, InstanceList]}}
          a: {value: {get_attr: [a, InstanceList]}}
        """
    assert life.create(text).state == "CREATE_COMPLETE"
    life.signal("p")
    assert life.outputs == {"g": "one,one", "a": "one,one"}
    assert life.update(text.replace("ImageId: one", "ImageId: two")).state == "UPDATE_COMPLETE"
    assert life.outputs == {"g": "one,one", "a": "two,two"}


def test_a_deployment_for_each_server(life: Life) -> None:
    text = """
        resources:
          config: {type: OS::Heat::SoftwareConfig, properties: {config: "echo"}}
          d:
            type: OS::Heat::SoftwareDeploymentGroup
            properties:
              config: {get_resource: config}
              servers: {web: id-1, db: id-2}
              signal_transport: NO_SIGNAL
        outputs:
          codes: {value: {get_attr: [d, deploy_status_codes]}}
        """
    assert life.create(text).state == "CREATE_COMPLETE"
    assert set(life.members("d")) == {"web", "db"}
    assert set(life.outputs["codes"]) == {"web", "db"}
