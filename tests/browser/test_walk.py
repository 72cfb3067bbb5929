"""A person's way through the pages: from a template to a repair, with nothing but the browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.browser.conftest import Browser, Server
from tests.browser.templates import SHOP, make_things
from tests.browser.test_watching import find_node, wait_for_state


def write(folder: Path, template: dict[str, Any]) -> Path:
    """A file with a template."""
    file = folder / "template.yaml"
    file.write_text(json.dumps(template))
    return file


def plan_update(page: Any, file: Path) -> None:
    """Go from the page of a stack to the plan of an update."""
    page.get_by_role("link", name="Update", exact=True).click()
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_role("heading", level=1, name="Plan: UPDATE").wait_for()


def apply(page: Any) -> None:
    """Apply the plan that is shown."""
    page.get_by_role("button", name="Apply exactly this").click()
    page.wait_for_url(re.compile(r"/stacks/[^/]+$"))


def open_dialog(page: Any, name: str) -> Any:
    """The dialog of an action of a stack."""
    page.locator(".actions").get_by_role("link", name=name, exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    return dialog


def test_from_a_template_to_a_stack_that_is_cancelled_and_rolled_back(
    page: Any, server: Server, tmp_path: Path
) -> None:
    page.get_by_role("link", name="New stack").first.click()
    page.get_by_label("Name", exact=True).fill("walked")
    page.get_by_label("File", exact=True).set_input_files(write(tmp_path, SHOP))
    page.get_by_role("button", name="Show the plan").click()

    page.get_by_role("heading", level=1, name="Plan: CREATE of walked").wait_for()
    assert page.locator("tr.add").count() >= len(SHOP["resources"])
    stacks = server.send("GET", "/stacks")["stacks"]
    assert "walked" not in [each["stack_name"] for each in stacks]  # a plan does nothing
    apply(page)

    find_node(page, "seeded", "progress").wait_for()
    page.evaluate("window.isTheSame = true")
    server.signal("walked", "handle")
    wait_for_state(page, "CREATE_COMPLETE")
    assert page.evaluate("window.isTheSame") is True

    second = json.loads(json.dumps(SHOP))
    second["resources"]["handle_2"] = {"type": "OS::Heat::WaitConditionHandle"}
    second["resources"]["checked"] = {
        "type": "OS::Heat::WaitCondition",
        "depends_on": "balancer",
        "properties": {"handle": {"get_resource": "handle_2"}, "timeout": 3600},
    }
    second["resources"]["volume"]["properties"]["value"] = "more data"
    plan_update(page, write(tmp_path, second))
    assert page.locator("tr.add").count() == 2
    changed = page.locator("tr.change", has_text="volume")
    assert changed.locator("del").text_content() == '"data"'
    assert changed.locator("ins").text_content() == '"more data"'
    apply(page)
    find_node(page, "checked", "progress").wait_for()

    dialog = open_dialog(page, "Cancel")
    dialog.get_by_label("and leave everything as it is then").check()
    dialog.get_by_role("button", name="Cancel").click()
    page.wait_for_url(re.compile(r"/stacks/[^/]+$"))
    server.signal("walked", "handle_2")  # what has begun is not broken off
    wait_for_state(page, "UPDATE_FAILED")

    dialog = open_dialog(page, "Roll back")
    dialog.get_by_label("to confirm").fill("walked")  # it deletes what the update has made
    dialog.get_by_role("button", name="Roll back").click()
    wait_for_state(page, "ROLLBACK_COMPLETE")
    find_node(page, "checked").wait_for(state="detached")

    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").wait_for()
    page.goto("/ui/p1/stacks")
    page.get_by_role("button", name="Sign in").wait_for()


def test_a_change_by_hand_is_found_and_repaired(page: Any, server: Server) -> None:
    template = make_things(server.things, mended="one", left="two")
    made = server.send("POST", "/stacks", {"stack_name": "drifted", "template": template})
    page.goto(f"/ui/p1/stacks/{made['stack']['id']}")
    wait_for_state(page, "CREATE_COMPLETE")
    server.set_thing("mended", value="changed by hand")

    page.get_by_role("link", name="Findings, check, repair").click()
    page.get_by_role("button", name="Check now").click()
    page.locator('[data-fragment="findings"] [data-state="DRIFTED"]').first.wait_for()
    page.reload()
    findings = page.locator('[data-fragment="findings"]')
    assert findings.locator("del").first.text_content() == '"one"'
    assert findings.locator("ins").first.text_content() == '"changed by hand"'

    page.get_by_role("link", name="Plan a repair").click()
    page.locator("tr.change", has_text="mended").wait_for()
    page.get_by_role("button", name="Repair this").click()
    page.wait_for_url(re.compile(r"/stacks/[^/]+$"))
    wait_for_state(page, "UPDATE_COMPLETE")
    assert json.loads((server.things / "mended.json").read_text())["value"] == "one"


def test_a_stack_is_deleted_only_by_its_name(page: Any, browser: Browser, server: Server) -> None:
    template = make_things(server.things, deleted="one")
    made = server.send("POST", "/stacks", {"stack_name": "unwanted", "template": template})
    page.goto(f"/ui/p1/stacks/{made['stack']['id']}")
    wait_for_state(page, "CREATE_COMPLETE")
    dialog = open_dialog(page, "Delete")
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    dialog = open_dialog(page, "Delete")
    dialog.get_by_role("textbox").fill("another")
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("alert").wait_for()
    browser.expect("400 (Bad Request)")
    page.get_by_role("textbox").last.fill("unwanted")
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url(re.compile(r"/stacks(/[^/]+)?$"))
    page.goto(f"/ui/p1/stacks/{made['stack']['id']}")
    wait_for_state(page, "DELETE_COMPLETE")
    assert not (server.things / "deleted.json").exists()


def test_faults_of_a_template_are_told_with_their_places(page: Any, browser: Browser) -> None:
    page.goto("/ui/p1/new")
    page.get_by_label("Name", exact=True).fill("faulty")
    text = "heat_template_version: 2021-04-16\nresources:\n  a: {type: No::Such::Type}\n"
    page.get_by_label("or its text").fill(text)
    page.get_by_role("button", name="Show the plan").click()
    said = page.get_by_role("alert")
    said.wait_for()
    browser.expect("400 (Bad Request)")
    assert "No::Such::Type" in said.text_content()
    assert ":3:" in said.text_content()
    assert page.get_by_label("or its text").input_value() == text
