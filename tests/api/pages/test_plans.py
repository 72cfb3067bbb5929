"""New stacks and updates: the plan first, then exactly that."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
import yaml
from tests.api.conftest import TEMPLATE

from .conftest import Browser, Shown, Site

NEW = "/ui/p1/new"
FIRST = "OS::Heat::TestResource"
TEXT = yaml.safe_dump(TEMPLATE)


@pytest.fixture
def browser(site: Site) -> Browser:
    return site.open()


def plan(browser: Browser, name: str, template: str = TEXT, **more: Any) -> Shown:
    """The page of the plan of a new stack."""
    done = browser.post(NEW, browser.get(NEW).csrf, name=name, template=template, **more)
    assert done.status == 303, done.text
    return browser.get(done.location)


def apply(browser: Browser, shown: Shown) -> Shown:
    found = re.search(r'action="([^"]*/apply)"', shown.html)
    assert found, shown.text
    return browser.post(found[1], shown.csrf)


def test_a_plan_is_shown_before_anything_is_done(site: Site, browser: Browser) -> None:
    shown = plan(browser, "first")
    assert "2 to create" in shown.text
    assert "first OS::Heat::TestResource will be created" in " ".join(shown.text.split())
    assert "swordfish" not in shown.html
    assert browser.get("/ui/p1/stacks/first").status == 404
    done = apply(browser, shown)
    assert (done.status, done.location[:14]) == (303, "/ui/p1/stacks/")
    assert site.api.wait(done.location) == "CREATE_COMPLETE"


def test_a_plan_is_applied_at_another_server_of_the_same_database(
    site: Site, browser: Browser
) -> None:
    shown = plan(browser, "beside")
    beside = site.serve_beside()
    beside.cookie = browser.cookie
    assert site.api.wait(apply(beside, shown).location) == "CREATE_COMPLETE"


def test_a_plan_is_applied_once(site: Site, browser: Browser) -> None:
    shown = plan(browser, "once")
    site.api.wait(apply(browser, shown).location)
    again = apply(browser, shown)
    assert again.status == 409
    assert "carried out already" in again.text
    assert "Apply exactly this" not in again.text


def test_a_plan_that_deletes_needs_the_name(site: Site, browser: Browser) -> None:
    site.api.create("smaller")
    page = browser.get(browser.get("/ui/p1/stacks/smaller").location + "/update")
    update = re.search(r'action="([^"]*/update)"', page.html)
    assert update
    less = {"heat_template_version": "2018-08-31", "resources": {"first": {"type": FIRST}}}
    done = browser.post(update[1], page.csrf, template=yaml.safe_dump(less))
    shown = browser.get(done.location)
    assert "1 to delete" in shown.text
    assert apply(browser, shown).status == 400
    refused = browser.post(f"{done.location}/apply", shown.csrf, name="other")
    assert "Type smaller, the name of the stack" in refused.text
    done = browser.post(f"{done.location}/apply", shown.csrf, name="smaller")
    assert site.api.wait(done.location) == "UPDATE_COMPLETE"


def test_a_changed_world_refuses_a_plan(site: Site, browser: Browser) -> None:
    site.api.create("changed")
    page = browser.get(browser.get("/ui/p1/stacks/changed").location + "/update")
    update = re.search(r'action="([^"]*/update)"', page.html)
    assert update
    other = TEXT.replace("default: one", "default: two")
    shown = browser.get(browser.post(update[1], page.csrf, template=other).location)
    assert "1 to update" in shown.text
    third = {**TEMPLATE, "parameters": {**TEMPLATE["parameters"]}}
    third["parameters"]["text"] = {"type": "string", "default": "three"}
    stack = site.api("GET", "/stacks/changed").headers["Location"]
    assert site.api("PUT", stack, {"template": third}).status == 202
    site.api.wait(stack)
    done = apply(browser, shown)
    assert done.status == 409
    assert "out of date" in done.text
    detail = site.api("GET", f"{stack}/resources/first").body["resource"]["attributes"]
    assert detail["output"] == "three"


def test_the_plan_file_is_one_for_the_command_line(browser: Browser) -> None:
    shown = plan(browser, "file")
    found = re.search(r'href="([^"]*/file)"', shown.html)
    assert found
    file = browser.get(found[1])
    assert file.headers["Content-Disposition"] == 'attachment; filename="file.plan.json"'
    document = json.loads(file.html)
    assert document["zonda_plan"] == 1
    assert document["sealed"].startswith("sealed:")
    assert "swordfish" not in file.html


def test_uploads_of_a_template_an_environment_and_a_file(site: Site, browser: Browser) -> None:
    template = {
        "heat_template_version": "2018-08-31",
        "parameters": {"text": {"type": "string"}},
        "resources": {
            "a": {
                "type": "OS::Heat::TestResource",
                "properties": {
                    "value": {
                        "str_replace": {
                            "template": {"get_file": "greeting.txt"},
                            "params": {"NAME": {"get_param": "text"}},
                        }
                    }
                },
            }
        },
        "outputs": {"said": {"value": {"get_attr": ["a", "output"]}}},
    }
    done = browser.post(
        NEW,
        browser.get(NEW).csrf,
        name="uploads",
        files=[
            ("template_file", "a.yaml", yaml.safe_dump(template).encode()),
            ("environments", "env.yaml", b"parameters:\n  text: w\xc3\xb6rld\n"),
            ("files", "greeting.txt", b"hello NAME\r\n--\r\nand more"),
        ],
    )
    site.api.wait(apply(browser, browser.get(done.location)).location)
    stack = site.api("GET", "/stacks/uploads").headers["Location"]
    shown = site.api("GET", f"{stack}/outputs/said")
    assert shown.body["output"]["output_value"] == "hello wörld\r\n--\r\nand more"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"template": ""}, "There is no template."),
        ({"name": ""}, "The stack needs a name."),
        ({"name": "<script>"}, "Invalid stack name"),
        ({"template": "a: ["}, "Template"),
        ({"template": TEXT.replace("get_param: text", "get_param: nope")}, "nope"),
        ({"timeout_mins": "soon"}, "soon is no number of minutes"),
        ({"tags": "x" * 81}, "longer than 80 characters"),
        ({"file_text": "something"}, "A pasted file has no name."),
        ({"environment": "parameters: {nope: 1}"}, "nope"),
        ({"template": "\x00\x1b[31m"}, ""),
    ],
)
def test_a_fault_shows_the_form_again_and_loses_nothing(
    browser: Browser, fields: dict[str, str], said: str
) -> None:
    given = {"name": "faulty", "template": TEXT, "environment": "", "tags": "", **fields}
    given = {"file_name": "", "file_text": "", **given}
    done = browser.post(NEW, browser.get(NEW).csrf, **given)
    assert done.status == 400
    assert said in done.text
    assert 'role="alert"' in done.html
    for value in given.values():
        kept = value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
        assert html.unescape(kept.strip()) in html.unescape(done.html)
    assert browser.get("/ui/p1/stacks/faulty").status == 404


def test_all_faults_of_a_template_are_shown_with_their_lines(browser: Browser) -> None:
    text = "heat_template_version: 2018-08-31\nresources:\n  a: {type: No::Such}\n  b: {type: 5}\n"
    done = browser.post(NEW, browser.get(NEW).csrf, name="faulty", template=text)
    assert done.status == 400
    assert "    3 |   a: {type: No::Such}\n" in done.text
    assert "    4 |   b: {type: 5}\n" in done.text


def test_a_hidden_value_is_in_no_fault(browser: Browser) -> None:
    limit = "\n    constraints: [{length: {max: 3}}]"
    text = TEXT.replace("default: swordfish", f"default: swordfish{limit}")
    done = browser.post(NEW, browser.get(NEW).csrf, name="faulty", template=text)
    assert done.status == 400
    alert = done.html.partition('role="alert"')[2].partition("</div>")[0]
    assert alert
    assert "swordfish" not in alert


def test_an_update_keeps_what_is_not_given(site: Site, browser: Browser) -> None:
    site.api.create("kept", parameters={"text": "mine"}, tags="blue,web")
    page = browser.get(browser.get("/ui/p1/stacks/kept").location + "/update")
    assert 'value="blue, web"' in page.html
    path = re.search(r'action="([^"]*/update)"', page.html)
    assert path
    done = browser.post(path[1], page.csrf, existing="yes", tags="blue, web")
    shown = browser.get(done.location)
    assert "2 unchanged" in shown.text
    assert "Apply exactly this" not in shown.text


def test_a_plan_that_is_known_to_fail_cannot_be_applied(site: Site, browser: Browser) -> None:
    protected = {"zonda": {"protect": ["first"]}}
    site.api.create("failing", environment=protected)
    page = browser.get(browser.get("/ui/p1/stacks/failing").location + "/update")
    path = re.search(r'action="([^"]*/update)"', page.html)
    assert path
    without = {**TEMPLATE, "resources": {}, "outputs": {}}
    fields = {"template": json.dumps(without), "environment": json.dumps(protected)}
    shown = browser.get(browser.post(path[1], page.csrf, **fields).location)
    assert "known to fail" in shown.text
    assert "/apply" not in shown.html


@pytest.mark.parametrize("part", ["", "/file", "/apply"])
def test_a_plan_of_another_project_is_not_there(site: Site, browser: Browser, part: str) -> None:
    done = browser.post(NEW, browser.get(NEW).csrf, name="mine", template=TEXT)
    other = site.open("p2")
    path = done.location.replace("/ui/p1/", "/ui/p2/") + part
    if part == "/apply":
        found = other.post(path, other.get("/ui/p2/stacks").csrf)
    else:
        found = other.get(path)
    assert found.status == 404
    assert "mine" not in found.text


def test_a_reader_makes_no_plan(site: Site) -> None:
    reader = site.open("p1/reader")
    assert reader.get(NEW).status == 403
    csrf = reader.get("/ui/p1/stacks").csrf
    assert reader.post(NEW, csrf, name="no", template=TEXT).status == 403
    assert site.api("GET", "/stacks", name="no").body["stacks"] == []
