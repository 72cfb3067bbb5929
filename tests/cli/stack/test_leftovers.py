"""Resources that could not be deleted are listed, shown, exported, and named at abandonment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

STICKY = """\
from zonda.hooks import properties, resource
from zonda.hooks.errors import ResourceFailure

class Sticky(resource.Resource):
    properties_schema = {"value": properties.Schema("String")}

    def handle_create(self):
        self.resource_id_set(f"sticky-{self.properties['value']}")

    def handle_delete(self):
        if self.resource_id.startswith("sticky"):
            raise ResourceFailure("it sticks")

def resource_mapping():
    return {"My::Sticky": Sticky}
"""
TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  a: {type: My::Sticky, properties: {value: VALUE}}
"""


@pytest.fixture
def left(zonda: Zonda, write: Write) -> None:
    """A stack ``web`` whose ``a`` was replaced, and ``sticky-one`` is still there."""
    write("home/plugins/sticky.py", STICKY)
    zonda("stack", "create", "web", "-t", write("t.yaml", TEMPLATE.replace("VALUE", "one")))
    two = write("t.yaml", TEMPLATE.replace("VALUE", "two"))
    zonda("stack", "update", "web", "-t", two, code=1)


@pytest.mark.usefixtures("left")
def test_a_list_of_resources_has_what_is_left_over(zonda: Zonda) -> None:
    rows = zonda("stack", "resource", "list", "web", "-f", "json").data
    assert [(row["physical_resource_id"], row["leaving"]) for row in rows] == [
        ("sticky-one", True),
        ("sticky-two", False),
    ]
    shown = zonda("stack", "resource", "show", "web", "a", "-f", "json").data
    assert shown["physical_resource_id"] == "sticky-two"
    (other,) = shown["leftovers"]
    assert other["physical_resource_id"] == "sticky-one"
    old = zonda("stack", "resource", "show", "web", other["id"], "-f", "json").data
    assert (old["physical_resource_id"], old["leaving"]) == ("sticky-one", True)


@pytest.mark.usefixtures("left")
def test_who_is_forgotten_with_leftovers_is_told_of_them(zonda: Zonda, tmp_path: Path) -> None:
    file = tmp_path / "web.json"
    told = zonda("stack", "abandon", "web", "-y", "-o", file).err
    assert "sticky-one" in told
    (entry,) = json.loads(file.read_text())["leftovers"]
    assert entry["resource_id"] == "sticky-one"
    assert "sticky-one" in zonda("stack", "adopt", "web", "--adopt-file", file).err


@pytest.mark.usefixtures("left")
def test_a_plan_says_which_instance_goes(zonda: Zonda, write: Write) -> None:
    text = TEMPLATE.replace("VALUE", "two")
    out = zonda("stack", "plan", "web", "-t", write("t.yaml", text), "-f", "table").out
    assert "- a  My::Sticky  will be deleted (id sticky-one)" in out


def test_what_is_left_of_a_deletion_is_shown(zonda: Zonda, write: Write, left: None) -> None:
    zonda("stack", "delete", "web", "-y", code=1)
    assert len(zonda("stack", "resource", "list", "web", "-f", "json").data) == 2
    shown = zonda("stack", "resource", "show", "web", "a", "-f", "json").data
    assert shown["resource_status"] == "DELETE_FAILED"
    document = zonda("stack", "export", "web").data
    assert list(document["resources"]) == ["a"]
    assert len(document["leftovers"]) == 1


def advice(zonda: Zonda) -> str:
    (failure, *_) = zonda("stack", "why", "web", "-f", "json").data["failures"]
    return " ".join(failure["advice"])


@pytest.mark.usefixtures("left")
def test_nobody_is_told_to_delete_a_stack_for_a_leftover(zonda: Zonda) -> None:
    assert "zonda stack delete" not in advice(zonda)
    assert "zonda stack retry web" in advice(zonda)
    zonda("stack", "retry", "web", code=1)
    zonda("stack", "delete", "web", "-y", code=1)
    assert "zonda stack delete web" in advice(zonda)
    assert "retry" not in advice(zonda)
