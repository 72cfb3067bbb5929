"""From stored events to records: the path from the root stack, also of deleted stacks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from zonda.core.events.records import Records
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import EventView
from zonda.hooks.errors import NotFound


class FakeReader:
    """A root ``shop`` whose resource ``web`` owns a stack, whose resource ``db`` owns another."""

    def __init__(self) -> None:
        self.stacks = {
            "root": self._stack("shop", "root", None),
            "inner": self._stack("shop-web-1", "root", "web-id"),
            "innermost": self._stack("shop-web-1-db-2", "root", "db-id"),
        }
        self.owners = {
            "web-id": SimpleNamespace(name="web", stack_id="root"),
            "db-id": SimpleNamespace(name="db", stack_id="inner"),
        }
        self.asked = 0

    def _stack(self, name: str, root: str, owner: str | None) -> Any:
        return SimpleNamespace(
            id=name, name=name, project="acme", root_id=root, owner_resource_id=owner
        )

    def stack_by_id(self, key: str) -> Any:
        self.asked += 1
        if key not in self.stacks:
            raise NotFound("Stack", key)
        return self.stacks[key]

    def resource_row(self, key: str) -> Any:
        return self.owners.get(key)


@pytest.fixture
def reader() -> FakeReader:
    return FakeReader()


def told(reader: FakeReader, stack: str, resource: str) -> tuple[str, str, str]:
    event = EventView(
        1, "e", stack, "named", 0, None, resource, "T", None, "CREATE", "FAILED", "no", 2.0
    )
    record = Records(cast("Reader", reader)).of(event)
    return record.project, record.stack_name, record.path


@pytest.mark.parametrize(
    ("stack", "resource", "path"),
    [
        pytest.param("root", "", "", id="root"),
        pytest.param("root", "web", "web", id="resource"),
        pytest.param("inner", "", "web", id="nested-stack"),
        pytest.param("innermost", "disk", "web/db/disk", id="deep"),
    ],
)
def test_the_way_leads_down_from_the_stack_at_the_top(
    reader: FakeReader, stack: str, resource: str, path: str
) -> None:
    assert told(reader, stack, resource) == ("acme", "shop", path)


def test_a_nested_stack_whose_owner_has_gone_is_no_stack_at_the_top(reader: FakeReader) -> None:
    reader.owners.clear()
    assert told(reader, "inner", "") == ("acme", "shop", "shop-web-1")


def test_of_a_stack_that_nobody_knows_what_the_event_says_is_told(reader: FakeReader) -> None:
    assert told(reader, "other", "disk") == ("", "named", "disk")


def test_a_way_is_looked_for_once(reader: FakeReader) -> None:
    records = Records(cast("Reader", reader))
    event = EventView(
        1, "e", "innermost", "x", 0, None, "d", "T", None, "CREATE", "FAILED", "no", 2.0
    )
    records.of(event)
    asked = reader.asked
    records.of(event)
    assert reader.asked == asked
