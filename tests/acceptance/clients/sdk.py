"""The orchestration proxy of openstacksdk, from the creation of a stack to its end.

Run as ``python sdk.py URL``; ends with 0 if each answer was the expected one.
"""

import sys

import catalog
import openstack

URL = sys.argv[1]
TEMPLATE = """\
heat_template_version: 2018-08-31
parameters: {n: {type: number, default: 8}}
resources:
  r: {type: OS::Heat::RandomString, properties: {length: {get_param: n}}}
  t: {type: OS::Heat::TestResource, properties: {value: {get_file: words.txt}}}
outputs: {o: {value: {get_attr: [r, value]}}}
"""


def main():
    """All calls in their order."""
    cloud = openstack.connect(
        auth_url=catalog.start(URL),
        username="u",
        password="p",
        project_name="default",
        user_domain_id="d",
        project_domain_id="d",
        region_name="R",
    )
    heat = cloud.orchestration
    files = {"words.txt": "some words"}
    sources = {"template": TEMPLATE, "files": files, "environment": {"parameters": {"n": 9}}}
    preview = heat.create_stack(preview=True, name="before", **sources)
    assert preview.name == "before", preview
    made = heat.create_stack(name="sdk", tags="a,b", timeout_mins=5, **sources)
    stack = heat.wait_for_status(made, "CREATE_COMPLETE", ["CREATE_FAILED"], 0.2, 60)
    assert heat.find_stack("sdk").id == stack.id
    assert heat.find_stack("nothing") is None
    stack = heat.get_stack(stack)
    assert stack.parameters["n"] == "9", stack.parameters
    assert len(stack.outputs[0]["output_value"]) == 9, stack.outputs
    assert [each.name for each in heat.stacks(tags="a")] == ["sdk"]
    assert {each.name for each in heat.resources(stack)} == {"r", "t"}
    assert heat.get_stack_template(stack).resources["r"]["type"] == "OS::Heat::RandomString"
    assert heat.get_stack_environment(stack).parameters["n"] == 9
    assert heat.get_stack_files(stack) == files
    assert {each.resource_name for each in heat.stack_events(stack)} == {"sdk", "r", "t"}
    assert heat.stack_events(stack, resource_name="r")
    assert heat.validate_template(TEMPLATE).parameters["n"]["Type"] == "Number"
    update_and_keep(heat, stack, files)
    use_software(heat)
    heat.delete_stack(stack)
    heat.wait_for_delete(stack, 0.2, 60)


def update_and_keep(heat, stack, files):
    """Update a stack, act on it, keep a snapshot."""
    heat.update_stack(stack.id, name="sdk", template=TEMPLATE, files=files, parameters={"n": 10})
    heat.wait_for_status(heat.get_stack(stack), "UPDATE_COMPLETE", ["UPDATE_FAILED"], 0.2, 60)
    heat.check_stack(stack)
    heat.wait_for_status(heat.get_stack(stack), "CHECK_COMPLETE", ["CHECK_FAILED"], 0.2, 60)
    heat.suspend_stack(stack)
    heat.wait_for_status(heat.get_stack(stack), "SUSPEND_COMPLETE", ["SUSPEND_FAILED"], 0.2, 60)
    heat.resume_stack(stack)
    heat.wait_for_status(heat.get_stack(stack), "RESUME_COMPLETE", ["RESUME_FAILED"], 0.2, 60)
    assert heat.export_stack(stack)["name"] == "sdk"


def use_software(heat):
    """Make, change and delete a configuration and its deployment."""
    config = heat.create_software_config(name="c", group="script", config="true")
    assert heat.get_software_config(config).config == "true"
    assert config.id in {each.id for each in heat.software_configs()}
    made = heat.create_software_deployment(config_id=config.id, server_id="s", action="CREATE")
    made = heat.update_software_deployment(made, status="COMPLETE")
    assert heat.get_software_deployment(made).status == "COMPLETE"
    assert made.id in {each.id for each in heat.software_deployments(server_id="s")}
    heat.delete_software_deployment(made)
    heat.delete_software_config(config)


main()
