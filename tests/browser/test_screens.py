"""Pictures of the pages for the documents; each page is checked on the way.

``ZONDA_BROWSER_SCREENS=docs/how-to/screens pytest tests/browser/test_screens.py`` writes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browser.conftest import Browser, Server, sign_in
from tests.browser.templates import make_things
from tests.browser.test_watching import create, find_node, wait_for_state

FOLDER = Path(__file__).parents[2] / "docs" / "how-to" / "screens"
WANTED = os.environ.get("ZONDA_BROWSER_SCREENS", "")
LARGEST = 150_000
SIZES = {1440: 1000, 390: 844}
SCHEMES = ("dark", "light")
Check = Callable[[Any], None]


STORE: dict[str, dict[str, Any]] = {
    "catalogue": {"value": "one"},
    "token": {"length": 16},
    "archive": {"value": "old"},
    "prices": {"value": {"get_resource": "catalogue"}},
}
NEXT_STORE = {
    "catalogue": {"value": "two"},
    "token": {"length": 24},
    "prices": STORE["prices"],
    "offers": {"value": {"get_resource": "token"}},
}


FAULTY = """\
heat_template_version: 2021-04-16
resources:
  source:
    type: OS::Heat::TestResource
    properties: {value: figures}
  report:
    type: OS::Heat::TestResource
    properties:
      value: {get_attr: [source, output]}
      fail: true
"""


def make_store(resources: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The template of a stack that is updated."""
    types = {"token": "OS::Heat::RandomString"}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            name: {"type": types.get(name, "OS::Heat::TestResource"), "properties": properties}
            for name, properties in resources.items()
        },
    }


def open_motion(page: Any, server: Server) -> None:
    """A stack of which a part is made, a part at work, and the rest waits."""
    page.goto(create(server, "shop", tags="production"))
    find_node(page, "seeded", "progress").wait_for()
    find_node(page, "database", "complete").wait_for()


def open_plan(page: Any, server: Server) -> None:
    """The plan of an update with every kind of change."""
    page.goto(create(server, "store", make_store(STORE)))
    wait_for_state(page, "CREATE_COMPLETE")
    page.get_by_role("link", name="Update", exact=True).click()
    page.get_by_label("or its text").fill(json.dumps(make_store(NEXT_STORE), indent=2))
    page.get_by_role("button", name="Show the plan").click()
    page.locator("tr.change", has_text="catalogue").wait_for()


def open_failure(page: Any, server: Server) -> None:
    """A stack that has failed, and why."""
    page.goto(create(server, "reports", FAULTY))
    wait_for_state(page, "CREATE_FAILED")
    page.get_by_role("heading", name="Why it failed").wait_for()


def open_drift(page: Any, server: Server) -> None:
    """What a check of drift has found."""
    template = make_things(server.things, firewall="closed", proxy="two", cache="three")
    page.goto(create(server, "edge", template))
    wait_for_state(page, "CREATE_COMPLETE")
    server.set_thing("firewall", value="open to everybody")
    (server.things / "cache.json").unlink()
    page.get_by_role("link", name="Findings, check, repair").click()
    page.get_by_role("button", name="Check now").click()
    page.locator('[data-fragment="findings"] [data-state="DRIFTED"]').first.wait_for()
    page.locator('[data-fragment="checks"] [data-state="COMPLETE"]').first.wait_for()


SCENES = {"motion": open_motion, "plan": open_plan, "failure": open_failure, "drift": open_drift}


@pytest.fixture(scope="module")
def addresses() -> dict[str, str]:
    """The addresses of scenes that were opened before."""
    return {}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_as_the_documents_show_it(
    browser: Browser,
    server: Server,
    check_page: Check,
    addresses: dict[str, str],
    name: str,
    width: int,
    scheme: str,
) -> None:
    size = {"width": width, "height": SIZES[width]}
    with browser.open_window(viewport=size, color_scheme=scheme) as page:
        sign_in(page, server)
        if name in addresses:
            page.goto(addresses[name])
        else:
            SCENES[name](page, server)
            addresses[name] = page.url
            page.reload()
        page.wait_for_load_state("load")
        check_page(page)
        if page.locator("#live").count():
            page.locator('#live[data-link="live"]').wait_for()
        picture = page.screenshot(animations="disabled")
    assert len(picture) < LARGEST
    if WANTED:
        Path(WANTED).mkdir(parents=True, exist_ok=True)
        (Path(WANTED) / f"{name}-{width}-{scheme}.png").write_bytes(picture)


def test_the_documents_have_all_pictures_and_no_large_ones() -> None:
    wanted = {f"{a}-{b}-{c}.png" for a in SCENES for b in SIZES for c in SCHEMES}
    found = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert set(found) == wanted
    assert max(found.values()) < LARGEST
