"""The view that a plug-in has of the resources that its own one requires."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.store.read.reader import Reader

THREE = """
    a: {type: Test::Box, properties: {value: one}}
    b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}
    c: {type: Test::Box}
"""


def test_a_plugin_sees_what_it_requires_and_nothing_else(bench: Any) -> None:
    seen: dict[str, Any] = {}

    def look(resource: Any) -> None:
        for name, other in resource.context.required_resources().items():
            seen[name] = (other.resource_id, other.properties["value"], other.state)

    bench.journal.behave["b", "handle_create"] = look
    assert bench.create(THREE).state == "CREATE_COMPLETE"
    physical = bench.resource("a").physical_id
    assert seen == {"a": (physical, "one", ("CREATE", "COMPLETE"))}


def test_what_a_required_resource_is_told_to_store_is_dropped(bench: Any) -> None:
    def write(resource: Any) -> None:
        other = resource.context.required_resources()["a"]
        other.resource_id_set("stolen")
        other.metadata_set({"m": 1})

    bench.journal.behave["b", "handle_create"] = write
    assert bench.create(THREE).state == "CREATE_COMPLETE"
    assert bench.resource("a").physical_id != "stolen"
    assert bench.resource("a").metadata == {}


def test_a_type_looks_at_its_updates_itself(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.create("a: {type: Test::Box, properties: {value: one}}")
    before = bench.resource("a")
    [row] = bench.engine.reader.resource_rows(bench.stack.id)
    box = bench.engine.services.definitions.class_of(row)
    asked = []

    def needs_update(old: Any, after: Any, changed: bool) -> bool:
        asked.append((old.properties["value"], after.properties["value"], changed))
        return False

    monkeypatch.setattr(box, "needs_update", needs_update)
    stack = bench.update("a: {type: Test::Box, properties: {value: two}}")
    assert stack.state == "UPDATE_COMPLETE"
    assert asked == [("one", "two", True)]
    assert bench.journal.of("a") == ["handle_create"]
    assert bench.resource("a").id == before.id
    assert bench.resource("a").properties == {"value": "two"}


def test_the_secrets_of_an_operation_are_found_among_what_it_requires_alone(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many resources the stack has: who tells how far it is must not read them all."""
    box = bench.types["Test::Box"]

    class Talking(box):  # type: ignore[misc,valid-type]
        def handle_create(self) -> None:
            self.context.progress("working")

    bench.types["Test::Talking"] = Talking
    bench.restart()
    read: list[str] = []
    whole = Reader.resource_rows

    def counted(reader: Reader, stack_id: str) -> Any:
        read.append(stack_id)
        return whole(reader, stack_id)

    monkeypatch.setattr(Reader, "resource_rows", counted)
    entry = "{type: Test::Talking, depends_on: base, properties: {secret: hush}}"
    more = "".join(f"r{number}: {entry}\n" for number in range(5))
    assert bench.create("base: {type: Test::Box}\n" + more).status == "COMPLETE"
    assert read == []
