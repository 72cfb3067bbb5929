"""Stacks in motion: states, parts and the graph change without a reload."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.browser.conftest import Browser, Server, sign_in
from tests.browser.templates import SHOP, make_things

Check = Callable[[Any], None]
#: Hides a page, or shows it again.
HIDE = """isHidden => {
    Object.defineProperty(document, 'hidden', {get: () => isHidden, configurable: true});
    document.dispatchEvent(new Event('visibilitychange'));
}"""


def create(server: Server, name: str, template: Any = SHOP, **body: Any) -> str:
    """Begin to create a stack; gives the address of its page."""
    made = server.send("POST", "/stacks", {"stack_name": name, "template": template, **body})
    return f"/ui/p1/stacks/{made['stack']['id']}"


def wait_for_state(page: Any, state: str) -> None:
    """Wait until the stack of a page is shown in a state."""
    page.locator(f'.title [data-state="{state}"]').wait_for()


def find_node(page: Any, path: str, look: str = "") -> Any:
    """The node of a resource in the graph."""
    return page.locator(f'.graph .node{look and "." + look}[data-resource="{path}"]')


def test_the_graph_changes_its_colours_without_a_reload(page: Any, server: Server) -> None:
    page.goto(create(server, "coloured"))
    find_node(page, "seeded", "progress").wait_for()
    find_node(page, "application", "init").wait_for()
    page.evaluate("window.isTheSame = true; document.querySelector('.graph svg').isTheSame = true")
    server.signal("coloured", "handle")
    find_node(page, "application", "complete").wait_for()
    wait_for_state(page, "CREATE_COMPLETE")
    node = find_node(page, "application", "complete")
    assert node.locator("[data-state]").text_content() == "CREATE_COMPLETE"
    assert "CREATE_COMPLETE" in node.locator("title").text_content()
    assert page.evaluate("window.isTheSame") is True
    assert page.locator("#news").text_content() == "coloured: CREATE_COMPLETE"


def test_a_change_of_state_alone_draws_no_new_graph(page: Any, server: Server) -> None:
    template = {**SHOP, "resources": {k: v for k, v in SHOP["resources"].items() if k != "servers"}}
    del template["resources"]["balancer"]
    page.goto(create(server, "kept", template))
    find_node(page, "seeded", "progress").wait_for()
    page.evaluate("document.querySelector('.graph svg').isTheSame = true")
    server.signal("kept", "handle")
    wait_for_state(page, "CREATE_COMPLETE")
    page.locator('[data-fragment="history"] [data-state="COMPLETE"]').wait_for()
    assert page.evaluate("document.querySelector('.graph svg').isTheSame") is True


def test_new_resources_come_into_the_graph_by_themselves(page: Any, server: Server) -> None:
    page.goto(create(server, "grown"))
    find_node(page, "seeded", "progress").wait_for()
    assert find_node(page, "servers/0").count() == 0
    server.signal("grown", "handle")
    find_node(page, "servers/2", "complete").wait_for()


def test_a_list_shows_stacks_that_come_and_change(page: Any, server: Server) -> None:
    page.goto("/ui/p1/stacks")
    page.locator('#live[data-link="live"]').wait_for()
    create(server, "listed")
    row = page.get_by_role("row", name="listed")
    row.locator('[data-state="CREATE_IN_PROGRESS"]').wait_for()
    server.signal("listed", "handle")
    row.locator('[data-state="CREATE_COMPLETE"]').wait_for()


def test_a_broken_stream_comes_back_by_itself(page: Any, server: Server) -> None:
    page.route("**/ui/p1/events*", lambda route: route.fulfill(status=204))
    page.goto(create(server, "reconnected"))
    page.locator('#live[data-link="lost"]').wait_for()
    server.signal("reconnected", "handle")
    page.unroute("**/ui/p1/events*")
    page.locator('#live[data-link="live"]').wait_for()
    find_node(page, "balancer", "complete").wait_for()  # what was missed is sent again


def test_pan_and_zoom_by_keys_wheel_drag_and_buttons(page: Any, server: Server) -> None:
    page.goto(create(server, "zoomed"))
    picture = page.locator(".graph.movable svg")
    picture.wait_for()

    def read_box() -> list[float]:
        return [float(each) for each in picture.get_attribute("viewBox").split()]

    first = read_box()
    picture.focus()
    page.keyboard.press("+")
    closer = read_box()
    assert closer[2] < first[2]
    page.keyboard.press("ArrowRight")
    assert read_box()[0] > closer[0]
    picture.hover(position={"x": 20, "y": 20})
    before = read_box()
    page.mouse.wheel(0, 100)
    page.wait_for_function(
        "box => document.querySelector('.graph svg').getAttribute('viewBox') !== box",
        arg=" ".join(f"{each:.1f}" for each in before),
    )
    assert read_box()[2] > before[2]
    place = picture.bounding_box()
    before = read_box()
    page.mouse.move(place["x"] + 10, place["y"] + 10)
    page.mouse.down()
    page.mouse.move(place["x"] + 60, place["y"] + 10, steps=5)
    page.mouse.up()
    assert read_box()[0] < before[0]
    page.get_by_role("button", name="Show the whole graph").click()
    whole = read_box()
    page.get_by_role("button", name="Zoom in").click()
    assert read_box()[2] < whole[2]


def test_a_node_leads_to_its_resource(page: Any, server: Server) -> None:
    page.goto(create(server, "linked"))
    find_node(page, "database").click()
    page.wait_for_url("**/resources/database")
    assert page.get_by_role("heading", level=1).text_content() == "database"


def test_the_wheel_scrolls_the_page_as_long_as_the_graph_is_not_used(
    page: Any, server: Server
) -> None:
    page.goto(create(server, "scrolled"))
    picture = page.locator(".graph.movable svg")
    picture.hover()
    box = picture.get_attribute("viewBox")
    page.mouse.wheel(0, 200)
    page.wait_for_function("window.scrollY > 0")
    assert picture.get_attribute("viewBox") == box


def sign_out_elsewhere(page: Any) -> None:
    """Sign out in another window of the same browser."""
    other = page.context.new_page()
    other.goto("/ui/p1/stacks")
    other.get_by_role("button", name="Sign out").click()
    other.get_by_label("Token").wait_for()
    other.close()


def test_a_page_whose_session_has_ended_leads_to_the_sign_in_and_back(
    browser: Browser, page: Any, server: Server
) -> None:
    address = create(server, "ended")
    page.goto(address)
    page.locator('#live[data-link="live"]').wait_for()
    page.evaluate(HIDE, True)
    sign_out_elsewhere(page)
    page.evaluate(HIDE, False)
    page.wait_for_url("**/ui/sign-in?next=*")
    browser.expect("MIME type")  # of what stands in place of the stream
    sign_in(page, server)
    assert page.url.endswith(address)


def test_a_dialog_of_a_session_that_has_ended_leads_to_the_sign_in(
    page: Any, server: Server
) -> None:
    page.goto(create(server, "dialogless"))
    page.locator('#live[data-link="live"]').wait_for()
    page.evaluate(HIDE, True)  # or the stream would lead there first
    sign_out_elsewhere(page)
    page.locator(".actions").get_by_role("link", name="Delete").click()
    page.wait_for_url("**/ui/sign-in?next=*delete")
    assert page.get_by_role("dialog").count() == 0


def test_a_page_that_nobody_sees_has_no_stream(page: Any, server: Server) -> None:
    page.goto(create(server, "hidden"))
    page.locator('#live[data-link="live"]').wait_for()
    with page.expect_event("requestfailed", lambda each: "/events?" in each.url):
        page.evaluate(HIDE, True)
    server.signal("hidden", "handle")
    with page.expect_request(lambda each: "/events?" in each.url):
        page.evaluate(HIDE, False)
    find_node(page, "balancer", "complete").wait_for()


def test_names_that_are_markup_are_only_names(page: Any, server: Server) -> None:
    odd = '<img src=x onerror="window.isBroken=1"><script>window.isBroken=1\'&amp;'
    resources = {odd: SHOP["resources"]["handle"], "a": {**SHOP["resources"]["volume"]}}
    resources["a"] = {**resources["a"], "depends_on": odd}
    template = {"heat_template_version": "2021-04-16", "resources": resources}
    page.goto(create(server, "marked", template, tags=odd.replace(",", "")[:70]))
    wait_for_state(page, "CREATE_COMPLETE")
    titles = page.locator(".graph .node title").all_text_contents()
    assert any(title.startswith(odd) for title in titles)
    page.locator("tr[data-resource]", has_text="<script>").get_by_role("link").click()
    page.get_by_role("heading", level=1, name=odd[:40]).wait_for()
    assert page.evaluate("window.isBroken") is None


def test_the_longest_names_leave_all_columns_in_sight(
    page: Any, server: Server, check_page: Check
) -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {"p" * 255: {"type": "string", "default": "v" * 255}},
        "resources": {"r" * 255: SHOP["resources"]["volume"]},
        "outputs": {"o" * 255: {"value": "v" * 255}},
    }
    address = create(server, "n" * 255, template)
    for width in (1440, 900, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for path in ("/ui/p1/stacks", address, f"{address}/actions/delete"):
            page.goto(path)
            check_page(page)
            hidden = page.evaluate(
                "[...document.querySelectorAll('.scroll')].filter("
                "(each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText)"
            )
            assert hidden == [], (path, width)


def test_dark_and_light_are_remembered(browser: Browser, server: Server) -> None:
    with browser.open_window(color_scheme="dark") as page:
        read = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(read)
        page.get_by_role("button", name="Change between dark and light").click()
        assert page.evaluate(read) != dark
        page.reload()
        assert page.locator("html").get_attribute("data-theme") == "light"
        kept = page.evaluate("JSON.stringify(localStorage)")
        assert server.tokens["ann"] not in kept


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_every_page_is_accessible_and_no_wider_than_its_window(
    browser: Browser, server: Server, check_page: Check, width: int, scheme: str
) -> None:
    name = f"checked-{scheme}-{width}"
    address = create(server, name)
    broken = create(server, f"broken-{name}", make_things(server.things, fail=True))
    size = {"width": width, "height": 900}
    with browser.open_window(viewport=size, color_scheme=scheme) as page:
        check_page(page)
        sign_in(page, server)
        for path in (
            "/ui/p1/stacks",
            "/ui/p1/stacks?search=nothing-like-this",
            address,
            f"{address}/events",
            f"{address}/history",
            f"{address}/resources/database",
            f"{address}/update",
            f"{address}/drift",
            f"{address}/actions/cancel",
            f"{address}/actions/signal",
            f"{address}/actions/delete",
            broken,
            f"{broken}/why",
            f"{broken}/drift/repair",
            f"{broken}/actions/retry",
            "/ui/p1/new",
        ):
            page.goto(path)
            check_page(page)
        page.get_by_label("Name", exact=True).fill("checked")
        page.get_by_label("or its text").fill(json.dumps(SHOP))
        page.get_by_role("button", name="Show the plan").click()
        page.get_by_role("heading", name="Plan: CREATE of checked").wait_for()
        check_page(page)
        page.goto(address)
        page.locator(".actions").get_by_role("link", name="Delete").click()
        page.get_by_role("dialog").wait_for()
        check_page(page)
        page.goto("/ui/p1/nothing-like-this")
        browser.expect("404 (Not Found)")
        check_page(page)


def test_without_scripts_everything_is_there(browser: Browser, server: Server) -> None:
    with browser.open_window(java_script_enabled=False) as page:
        sign_in(page, server)
        page.get_by_role("link", name="New stack").first.click()
        page.get_by_label("Name", exact=True).fill("scriptless")
        page.get_by_label("or its text").fill(json.dumps(SHOP))
        page.get_by_role("button", name="Show the plan").click()
        page.get_by_role("button", name="Apply exactly this").click()
        page.goto("/ui/p1/stacks")
        page.get_by_role("link", name="scriptless").click()
        assert find_node(page, "database").count() == 1
        assert page.locator('tr[data-resource="database"] [data-state]').count() == 1
        page.locator(".actions").get_by_role("link", name="Cancel").click()
        page.get_by_role("heading", level=1, name="Cancel: scriptless").wait_for()
        page.get_by_label("and leave everything as it is then").check()
        page.locator("main").get_by_role("button", name="Cancel").click()
        page.get_by_role("heading", level=1, name="scriptless", exact=True).wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Token").wait_for()
