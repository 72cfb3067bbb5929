"""The list of stacks, a stack, a resource: what they show, and how it is escaped."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.api.conftest import TEMPLATE

from zonda.core.api.pages.rendering import escape_line, escape_lines, escape_text, finalize
from zonda.core.api.pages.stacks import listing, overview

from .conftest import Browser, Site

STACKS = "/ui/p1/stacks"
#: A text that would be a script, an attribute, a terminal sequence, and a line of its own.
HOSTILE = "</td><script>alert('x')</script>\"' onclick=\"x\x1b[31m\x07\u202e\r\nb"


@pytest.fixture
def browser(site: Site) -> Browser:
    return site.open()


def open_stack(browser: Browser, name: str) -> str:
    """The HTML of a stack's page, which is found by its name."""
    return browser.get(browser.get(f"{STACKS}/{name}").location).html


def test_without_stacks_the_list_says_how_to_make_one(site: Site) -> None:
    shown = site.open("empty").get("/ui/empty/stacks")
    assert "There are no stacks yet." in shown.text
    assert 'href="/ui/empty/new"' in shown.html
    assert "No stack is like this." in site.open("empty").get("/ui/empty/stacks?search=x").text


def test_the_list_has_name_state_age_drift_and_tags(site: Site, browser: Browser) -> None:
    path = site.api.create("listed", tags="blue,web")
    shown = browser.get(f"{STACKS}?search=LIST")
    row = re.search(r"<tr data-stack=.*?</tr>", shown.html, re.DOTALL)
    assert row
    assert f'data-stack="{path.rpartition("/")[2]}"' in row[0]
    assert '<span data-state="CREATE_COMPLETE">CREATE_COMPLETE</span>' in row[0]
    assert {"listed", "blue", "web", "not", "checked"} <= set(
        re.sub("<[^>]*>", " ", row[0]).split()
    )
    assert "listed" in browser.get(f"{STACKS}?tag=blue").text
    assert "listed" not in browser.get(f"{STACKS}?tag=red").text


def test_the_list_has_pages(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "SIZE", 2)
    api = site.api.become("pages")
    names = {f"s{number}" for number in range(5)}
    for name in names:
        api.create(name, {"heat_template_version": "2018-08-31"})
    browser, found, path = site.open("pages"), [], "/ui/pages/stacks"
    while path:
        shown = browser.get(path)
        found += re.findall(r'<th scope="row"><a [^>]*>(\w+)</a>', shown.html)
        more = re.search(r'rel="next" href="([^"]*)"', shown.html)
        path = more[1].replace("&amp;", "&") if more else ""
    assert (sorted(found), len(found)) == (sorted(names), 5)
    by_name = browser.get("/ui/pages/stacks?sort=stack_name&order=desc").html
    assert re.findall(r'<th scope="row"><a [^>]*>(\w+)</a>', by_name) == ["s4", "s3"]
    for query in ("sort=nope", "order=nope", "after=nope", "search=%00", "fragment=nope"):
        assert browser.get(f"/ui/pages/stacks?{query}").status == 200


def test_a_stack_has_all_its_parts(site: Site, browser: Browser) -> None:
    path = site.api.create("whole")
    shown = open_stack(browser, "whole")
    for part in (
        *("state", "now", "drift", "parameters", "outputs", "graph", "resources", "events"),
        "history",
    ):
        assert shown.count(f'data-fragment="{part}"') == 1, part
    stack_id = path.rpartition("/")[2]
    assert f'<tr data-stack="{stack_id}" data-resource="first">' in shown
    assert "<svg" in shown
    assert "the text" in shown
    assert ">one<" in shown


def test_a_part_is_fetched_by_its_name(site: Site, browser: Browser) -> None:
    site.api.create("parts")
    path = browser.get(f"{STACKS}/parts").location
    part = browser.get(f"{path}?fragment=resources", {"hx-request": "true"}).html
    assert part.lstrip().startswith('<section data-fragment="resources"')
    assert "<html" not in part
    whole = browser.get(path, {"hx-request": "true"}).html
    assert "<html" not in whole
    assert 'data-fragment="history"' in whole


def test_hidden_values_are_asterisks(site: Site, browser: Browser) -> None:
    site.api.create("secret")
    shown = open_stack(browser, "secret")
    assert "swordfish" not in shown
    assert shown.count("******") >= 2, "the parameter and the output"


def test_a_secret_is_on_no_page(site: Site, browser: Browser) -> None:
    template: dict[str, Any] = {
        **TEMPLATE,
        "resources": {
            "fails": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "password"}, "fail": True},
            },
            **TEMPLATE["resources"],
        },
    }
    site.api.create("leaky", template, parameters={"password": "correct-horse"})
    path = browser.get(f"{STACKS}/leaky").location
    pages = ["", "/events", "/history", "/why", "/drift", "/resources/fails", "/update"]
    pages += [f"/actions/{verb}" for verb in ("delete", "retry", "rollback", "signal")]
    for page in pages:
        shown = browser.get(path + page)
        assert shown.status == 200, page
        assert "correct-horse" not in shown.html, page


def test_a_resource_has_its_parts_and_its_neighbours(site: Site, browser: Browser) -> None:
    site.api.create("neighbours")
    path = browser.get(f"{STACKS}/neighbours").location
    shown = browser.get(f"{path}/resources/second")
    assert f'href="{path}/resources/first"' in shown.html
    for part in ("properties", "attributes", "events"):
        assert f'data-fragment="{part}"' in shown.html
    assert "length" in shown.text
    missing = browser.get(f"{path}/resources/secnod")
    assert (missing.status, "second" in missing.text) == (404, True)


def test_nested_resources_have_pages_by_their_owners(site: Site, browser: Browser) -> None:
    group = {"count": 2, "resource_def": {"type": "OS::Heat::RandomString"}}
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {"group": {"type": "OS::Heat::ResourceGroup", "properties": group}},
    }
    site.api.create("nested", template)
    path = browser.get(f"{STACKS}/nested").location
    shown = browser.get(f"{path}/resources/group/1")
    assert shown.status == 200
    assert "OS::Heat::RandomString" in shown.text
    owner = browser.get(f"{path}/resources/group")
    child = re.search(r'href="(/ui/p1/stacks/[^"/]*)">nested-group', owner.html)
    assert child
    inner = browser.get(child[1])
    assert inner.status == 200
    assert "/actions/" not in inner.html, "its root takes actions"
    assert browser.get(f"{child[1]}/drift").location == f"{path}/drift"
    for wrong in ("group/7", "group/1/2", "nope/1"):
        assert browser.get(f"{path}/resources/{wrong}").status == 404


def test_many_resources_have_pages(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "RESOURCES", 2)
    site.api.create(
        "many",
        {
            "heat_template_version": "2018-08-31",
            "resources": {f"r{number}": {"type": "OS::Heat::None"} for number in range(5)},
        },
    )
    path = browser.get(f"{STACKS}/many").location
    found = []
    for begin in ("0", "2", "4"):
        part = browser.get(f"{path}?from={begin}&fragment=resources").html
        found += re.findall(r'data-resource="(\w+)"', part)
    assert sorted(found) == [f"r{number}" for number in range(5)]
    for begin in ("-1", "x", "99", "1" * 40):
        assert browser.get(f"{path}?from={begin}").status == 200


def test_events_have_pages(site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "EVENTS", 1)
    site.api.create("eventful")
    path = browser.get(f"{STACKS}/eventful").location
    first = browser.get(f"{path}/events")
    more = re.search(r'href="([^"]*\?before=[^"]*)"', first.html)
    assert more
    second = browser.get(more[1])
    assert second.status == 200
    assert "CREATE_IN_PROGRESS" in second.text


# -- what is not there, and what is hostile --------------------------------------------------------


def test_a_page_that_is_not_there_helps(site: Site, browser: Browser) -> None:
    site.api.create("database")
    shown = browser.get(f"{STACKS}/databsae")
    assert shown.status == 404
    assert "database" in shown.text
    assert 'href="/ui/"' in shown.html
    assert browser.get("/ui/p1/nothing/here").status == 404
    put = browser.send("PUT", STACKS, b"", {}, {})
    assert (put.status, put.headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize(
    "text", ["<script>", "a\x1b[31m", "\x00", "\u202e", "a b", "ä", "x" * 3000]
)
def test_a_hostile_address_is_a_plain_404(browser: Browser, text: str) -> None:
    for path in (
        f"{STACKS}/{text}",
        f"/ui/p1/{text}",
        f"/ui/static/{text}",
        f"/ui/p1/plans/{text}",
    ):
        shown = browser.get(path)
        assert shown.status == 404
        assert "<script>" not in shown.html
        assert "\x1b" not in shown.html
        assert "\u202e" not in shown.html


def test_hostile_texts_are_escaped_on_every_page(site: Site, browser: Browser) -> None:
    template = {
        "heat_template_version": "2018-08-31",
        "description": HOSTILE,
        "parameters": {"p": {"type": "string", "default": HOSTILE}},
        "resources": {
            "fine": {"type": "OS::Heat::TestResource", "properties": {"value": HOSTILE}},
            "a<b>&\"c'": {"type": "OS::Heat::TestResource", "properties": {"value": HOSTILE}},
        },
        "outputs": {"<i>o": {"description": HOSTILE, "value": {"get_attr": ["fine", "output"]}}},
    }
    site.api.create("hostile", template, tags="<b>bold")
    path = browser.get(f"{STACKS}/hostile").location
    resource = "a%3Cb%3E&\"c'".replace("%3C", "<").replace("%3E", ">")
    paths = [STACKS, path, f"{path}/events", f"{path}/history", f"{path}/why", f"{path}/drift"]
    paths += [f"{path}/resources/fine", f"{path}/resources/{resource}", f"{path}/update"]
    paths += [f"{path}/actions/signal?resource={HOSTILE[:20]}", f"{STACKS}?search=%3Cscript%3E"]
    for page in paths:
        shown = browser.get(page)
        assert shown.status == 200, page
        assert "<script>alert" not in shown.html, page
        assert ' onclick="' not in shown.html, page
        assert "<b>bold" not in shown.html, page
        assert "a<b>" not in shown.html, page
        for letter in "\x1b\x07\u202e\x00":
            assert letter not in shown.html, (page, letter)
    assert "\\x1b[31m\\x07\\u202e" in browser.get(path).html, "control characters are spelt out"


def test_the_escapes() -> None:
    assert escape_line("a\tb\n\x1b") == "a    b\\n\\x1b"
    assert escape_lines("<a>\n\x07") == "&lt;a&gt;\n\\x07"
    assert escape_text("<a>\r\n\x00\ud800") == "&lt;a&gt;\r\n\N{REPLACEMENT CHARACTER}\\ud800"
    assert finalize(None) == ""
    assert finalize(5) == "5"


# -- other projects --------------------------------------------------------------------------------


#: Values of the parts of paths that say no project.
PARTS = {"{resource:.+}": "first", "{verb}": "check", "{plan_id}": "nope"}


def list_paths(site: Site) -> list[tuple[str, str]]:
    """The method and the path of each route that names a stack."""
    pages = next(each for each in site.api.dispatcher.interfaces if each.prefix == "/ui/")
    return [(row.method, row.path) for row in pages.table.routes if "{stack_id}" in row.path]


def test_a_stack_of_another_project_looks_as_if_it_was_not_there(site: Site) -> None:
    path = site.api.create("foreign")
    site.api.become("p2").create("own")
    stack_id, browser = path.rpartition("/")[2], site.open("p2")
    csrf = browser.get("/ui/p2/stacks").csrf
    unknown = stack_id[:-4] + "ffff"
    asked = 0
    for method, route in list_paths(site):
        for part, value in PARTS.items():
            route = route.replace(part, value)
        shown = []
        for key in (stack_id, unknown, "foreign"):
            place = route.replace("{project}", "p2").replace("{stack_id}", key)
            form = {"name": "foreign", "resource": "first", "reason": "x", "template": "x"}
            reply = browser.get(place) if method == "GET" else browser.post(place, csrf, **form)
            assert reply.status == 404, (method, place)
            shown.append(reply.html.replace(key, "ID"))
        assert shown[0] == shown[1], route
        asked += 1
    assert asked > 10
    assert site.api.state(path) == "CREATE_COMPLETE"
    assert "foreign" not in browser.get("/ui/p2/stacks").text
    assert browser.get(f"/ui/p1/stacks/{stack_id}").status == 403
    assert browser.get("/ui/p1/stacks").status == 403


def test_the_events_of_another_project_are_no_stream(site: Site) -> None:
    path = site.api.create("streamed")
    browser = site.open("p2")
    for name in (path.rpartition("/")[2], "streamed", "nope"):
        assert browser.get(f"/ui/p2/events?stack={name}").status == 404
    assert Browser(site.api.dispatcher).get("/ui/p2/events").status == 303


def test_the_page_after_a_stack_of_another_project_tells_nothing(site: Site) -> None:
    path = site.api.create("marker")
    found = site.open("p2").get(f"/ui/p2/stacks?after={path.rpartition('/')[2]}")
    assert "marker" not in found.text


def test_an_agent_has_no_pages(site: Site) -> None:
    assert site.open("p1/heat_stack_user").get(STACKS).status == 403


def test_in_mode_none_every_project_has_pages(site: Site) -> None:
    site.api.become("p9").create("ninth")
    browser = site.open_without_identity()
    assert "ninth" in browser.get("/ui/p9/stacks").text
    assert "ninth" not in browser.get("/ui/p1/stacks").text
