"""Parts of pages, which a script fetches again after events."""

from __future__ import annotations

import re

from tests.api.pages.conftest import Site


def find_parts(html: str) -> list[str]:
    return re.findall(r'data-fragment="(\w+)"', html)


def test_several_parts_come_by_one_request(site: Site) -> None:
    page = site.open()
    stack_id = site.api.create("parts").rpartition("/")[2]
    found = page.get(f"/ui/p1/stacks/{stack_id}", fragment="state,graph,resources")
    assert (found.status, find_parts(found.html)) == (200, ["state", "graph", "resources"])
    assert "<html" not in found.html


def test_parts_that_are_not_there_give_the_whole_content(site: Site) -> None:
    page = site.open()
    stack_id = site.api.create("whole").rpartition("/")[2]
    for name in ("dialog", "state,nothing", "", ","):
        found = page.get(f"/ui/p1/stacks/{stack_id}", {"hx-request": "true"}, fragment=name)
        assert found.status == 200
        assert {"state", "graph", "events"} <= {*find_parts(found.html)}
        assert "<html" not in found.html
