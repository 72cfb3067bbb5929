"""python-heatclient as a library, in the way of services that keep their stacks by it.

Magnum and Tacker read a template with its files and environments, send all of it, and ask for the
state, the outputs and the resources of nested stacks until it is done. Run as
``python library.py URL FOLDER``, in which ``main.yaml`` and ``environment.yaml`` stand.
"""

import pathlib
import sys
import time

from heatclient import client, exc
from heatclient.common import template_utils

URL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def wait(heat, stack_id, state):
    """Ask until a stack is at rest; it must be in a state then."""
    while True:
        stack = heat.stacks.get(stack_id, resolve_outputs=False)
        if stack.status != "IN_PROGRESS":
            assert stack.stack_status == state, (stack.stack_status, stack.stack_status_reason)
            return
        time.sleep(0.2)


def main():
    """All calls in their order."""
    heat = client.Client("1", endpoint=URL, token="any")
    files, template = template_utils.get_template_contents(str(FOLDER / "main.yaml"))
    names = []
    read = template_utils.process_multiple_environments_and_files
    more, environment = read([str(FOLDER / "environment.yaml")], env_list_tracker=names)
    fields = {
        "stack_name": "cluster-abc",
        "parameters": {"count": 2},
        "environment_files": names,
        "template": template,
        "files": {**files, **more},
        "timeout_mins": 30,
    }
    assert environment, "the environment is read"
    heat.stacks.validate(template=template, files=fields["files"], environment=environment)
    made = heat.stacks.create(**fields)["stack"]["id"]
    wait(heat, made, "CREATE_COMPLETE")
    stack = heat.stacks.get(made)
    outputs = {each["output_key"]: each["output_value"] for each in stack.outputs}
    assert len(outputs["members"]) == 2, outputs
    flat = heat.resources.list(made, nested_depth=3, with_detail=True)
    assert len([each for each in flat if each.resource_name == "server"]) == 2
    group = next(each for each in flat if each.resource_name == "group")
    assert heat.stacks.get(group.physical_resource_id).parent == made
    heat.stacks.update(made, existing=True, parameters={"count": 3})
    wait(heat, made, "UPDATE_COMPLETE")
    outputs = {each["output_key"]: each["output_value"] for each in heat.stacks.get(made).outputs}
    assert len(outputs["members"]) == 3, outputs
    heat.resources.mark_unhealthy(made, "handle", True, "a test")
    heat.resources.signal(made, "handle", {"status": "SUCCESS", "id": "1"})
    assert any(each.stack_name == "cluster-abc" for each in heat.stacks.list(show_nested=True))
    assert list(heat.events.list(made, nested_depth=2, limit=5))
    refuse_what_is_wrong(heat, fields)
    heat.stacks.delete(made)
    while True:
        try:
            if heat.stacks.get(made).stack_status == "DELETE_COMPLETE":
                return
        except exc.HTTPNotFound:
            return
        time.sleep(0.2)


def refuse_what_is_wrong(heat, fields):
    """Errors have the classes and sentences that services look at."""
    refuse(exc.HTTPConflict, "already exists", lambda: heat.stacks.create(**fields))
    missing = "The Stack (nothing) could not be found"
    refuse(exc.HTTPNotFound, missing, lambda: heat.stacks.get("nothing"))


def refuse(kind, sentence, call):
    """The call has to end with an error of this class."""
    try:
        call()
    except kind as error:
        said = str(error)
    else:
        said = "nothing"
    assert sentence in said, said


main()
