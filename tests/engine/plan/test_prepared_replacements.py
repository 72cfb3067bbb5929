"""What only one can have: the old instance lets go of it, the new one takes it, or it goes back.

The type here holds a port by its name, which no other instance can take before it is let go of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from tests.engine.conftest import Bench, Journal

from zonda.core.engine.actions import RollbackStack, UpdateStack
from zonda.core.engine.model import row_annotations
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.preview import build_preview
from zonda.core.reports.situation import describe_cause, situations
from zonda.hooks import properties
from zonda.hooks.errors import NotReady, ResourceFailure, UpdateReplace
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.borders import Interruption


class Server(Resource):
    """Holds ``port``; a new ``image`` wants a new one, a new ``size`` too, as its handler finds."""

    journal: Journal
    ports: dict[str, str]
    properties_schema: ClassVar[Mapping[str, Any]] = {
        "port": properties.Schema("String", default="p"),
        "image": properties.Schema("String", default="1"),
        "size": properties.Schema("String", default="1", update_allowed=True),
        "note": properties.Schema("String", default="", update_allowed=True),
    }

    def _take(self) -> None:
        port, mine = self.properties["port"], self.uuid
        if self.ports.setdefault(port, mine) != mine:
            raise ResourceFailure(f"port {port} is in use")

    def _let_go(self) -> None:
        if self.ports.get(self.properties["port"]) == self.uuid:
            del self.ports[self.properties["port"]]

    def handle_create(self) -> None:
        self.resource_id_set(f"server-{self.uuid[-4:]}")
        self._take()
        self.journal.note(self, f"create {self.properties['image']}")

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        self.journal.note(self, f"update {sorted(prop_diff)}")
        if "size" in prop_diff:
            raise UpdateReplace(self.name)

    def handle_delete(self) -> None:
        self.journal.note(self, f"delete {self.properties['image']}")
        self._let_go()

    def needs_replace_failed(self) -> bool:
        return self.resource_id is None

    def prepare_for_replace(self) -> None:
        self.journal.note(self, "before prepare")
        self._let_go()
        self.journal.note(self, "prepare")

    def restore_replaced(self, successor: Resource | None) -> None:
        made = None if successor is None else successor.properties["image"]
        self.journal.note(self, f"restore from {made}")
        if successor is not None:
            successor._let_go()  # type: ignore[attr-defined]
        self._take()


class Died(Interruption):
    """The end of the process."""


@pytest.fixture
def servers(bench: Bench) -> Bench:
    body = {"journal": bench.journal, "ports": {}}
    bench.types["Test::Server"] = type("Server", (Server,), body)
    bench.restart()
    return bench


def write(image: str = "1", rest: str = "", more: str = "") -> str:
    head = f"s: {{type: Test::Server, properties: {{image: '{image}'"
    return f"{head}{', ' if rest else ''}{rest}}}}}\n{more}"


def find_holder(bench: Bench) -> str:
    """The physical id of the instance that holds the port."""
    holder: str = bench.types["Test::Server"].ports["p"]  # type: ignore[attr-defined]
    return next(row.physical_id or "" for row in bench.resource_rows() if row.id == holder)


def is_well(bench: Bench) -> bool:
    """Whether the one instance holds its port, and nothing is left to be done."""
    (row,) = [each for each in bench.resource_rows() if each.name == "s"]
    is_owed = row_annotations.has(row, row_annotations.PREPARED)
    return find_holder(bench) == row.physical_id and not is_owed


def test_the_port_goes_from_the_old_server_to_the_new_one(servers: Bench) -> None:
    servers.create(write())
    servers.journal.calls.clear()
    assert servers.update(write("2")).state == "UPDATE_COMPLETE"
    assert servers.journal.of("s") == ["before prepare", "prepare", "create 2", "delete 1"]
    assert is_well(servers)


def test_a_handler_that_asks_for_a_replacement_has_it_prepared(servers: Bench) -> None:
    servers.create(write())
    servers.journal.calls.clear()
    assert servers.update(write(rest="size: '2'")).state == "UPDATE_COMPLETE"
    assert servers.journal.of("s") == [
        *("update ['size']", "before prepare", "prepare", "create 1", "delete 1")
    ]
    assert is_well(servers)


@pytest.mark.parametrize("when", ["before prepare", "prepare", "create 2", "delete 1"])
def test_a_kill_at_any_moment_of_a_replacement_loses_nothing(when: str, servers: Bench) -> None:
    servers.types["Test::Server"].start_policy = "idempotent"
    servers.create(write())

    def die(resource: Resource) -> None:
        raise Died

    servers.journal.behave["s", when] = die
    with pytest.raises(Died):
        servers.update(write("2"))
    servers.heals("s", when)
    servers.restart().recover()
    servers.engine.settle()
    assert servers.stack.state == "UPDATE_COMPLETE"
    assert is_well(servers)


@pytest.mark.parametrize("when", ["before prepare", "prepare"])
def test_a_type_that_must_not_be_started_twice_is_prepared_twice(when: str, servers: Bench) -> None:
    servers.create(write())

    def die(resource: Resource) -> None:
        raise Died

    servers.journal.behave["s", when] = die
    with pytest.raises(Died):
        servers.update(write("2"))
    servers.heals("s", when)
    servers.restart().recover()
    servers.engine.settle()
    assert servers.stack.state == "UPDATE_COMPLETE"


def test_a_failed_replacement_gives_the_port_back(servers: Bench) -> None:
    servers.create(write(), rollback=True)
    before = servers.resource("s").physical_id
    servers.journal.calls.clear()
    servers.fails("s", "create 2")
    assert servers.update(write("2")).state == "ROLLBACK_COMPLETE"
    assert servers.journal.of("s") == [
        *("before prepare", "prepare", "create 2"),
        *("restore from 2", "update []", "delete 2"),
    ]
    assert servers.resource("s").physical_id == before
    assert is_well(servers)


def test_the_failure_of_another_resource_gives_the_port_back(servers: Bench) -> None:
    servers.create(write(), rollback=True)
    servers.fails("b", "handle_create")
    more = "b: {type: Test::Box, depends_on: s}"
    assert servers.update(write("2", more=more)).state == "ROLLBACK_COMPLETE"
    assert is_well(servers)


def test_a_preparation_that_fails_is_taken_back(servers: Bench) -> None:
    servers.create(write(), rollback=True)
    servers.fails("s", "prepare")
    assert servers.update(write("2")).state == "ROLLBACK_COMPLETE"
    assert "create 2" not in servers.journal.of("s")
    (row,) = servers.resource_rows()
    assert row.status == "COMPLETE"


def test_a_preparation_may_have_to_wait(servers: Bench) -> None:
    servers.create(write())
    told: list[str] = []

    def wait(resource: Resource) -> None:
        if not told:
            told.append("")
            raise NotReady(5.0)

    servers.journal.behave["s", "before prepare"] = wait
    assert servers.update(write("2")).state == "UPDATE_COMPLETE"
    assert servers.journal.of("s").count("before prepare") == 2
    assert is_well(servers)


def test_a_restoration_that_fails_is_made_once_more(servers: Bench) -> None:
    servers.create(write(), rollback=True)
    servers.fails("s", "create 2")
    servers.fails("s", "restore from 2")
    assert servers.update(write("2")).state == "ROLLBACK_FAILED"
    servers.heals("s", "create 2")
    servers.heals("s", "restore from 2")
    assert servers.update(write("2")).state == "UPDATE_COMPLETE"
    assert is_well(servers)


def test_a_kill_within_a_rollback_gives_the_port_back(servers: Bench) -> None:
    servers.types["Test::Server"].start_policy = "idempotent"
    servers.create(write(), rollback=True)
    servers.fails("s", "create 2")

    def die(resource: Resource) -> None:
        raise Died

    servers.journal.behave["s", "update []"] = die
    with pytest.raises(Died):
        servers.update(write("2"))
    servers.heals("s", "update []")
    servers.restart().recover()
    servers.engine.settle()
    assert servers.stack.state == "ROLLBACK_COMPLETE"
    assert is_well(servers)


def test_a_plan_that_overtakes_takes_the_old_server_back(servers: Bench) -> None:
    servers.create(write())

    def wait(resource: Resource) -> None:
        raise NotReady(60.0)

    servers.journal.behave["s", "prepare"] = wait
    servers.engine.begin(UpdateStack("s", servers.bundle(write("2"))))
    servers.steps(8)
    assert servers.journal.of("s")[-1] == "prepare"
    stack = servers.engine.reader.stack_named("s", "default")
    (situation,) = situations(stack, servers.resource_rows())
    assert "it lets go of what only one can have, before its successor is made" in situation.told
    servers.engine.begin(UpdateStack("s", servers.bundle(write())))
    servers.heals("s", "prepare")
    servers.engine.settle()
    assert servers.stack.state == "UPDATE_COMPLETE"
    assert "restore from None" in servers.journal.of("s")
    assert "create 2" not in servers.journal.of("s")
    assert is_well(servers)


def test_a_rollback_on_demand_gives_the_port_back(servers: Bench) -> None:
    servers.create(write())
    servers.fails("s", "create 2")
    assert servers.update(write("2")).state == "UPDATE_FAILED"
    assert servers.run(RollbackStack("s")).state == "ROLLBACK_COMPLETE"
    assert is_well(servers)


def test_a_plan_says_that_the_old_one_lets_go_first(servers: Bench) -> None:
    servers.create(write())
    action = UpdateStack("s", servers.bundle(write("2")))
    document = build_document(build_preview(servers.engine.services, action))
    (entry,) = document["resources"]
    assert "prepared first" in [reason["kind"] for reason in entry["reasons"]]
    action = UpdateStack("s", servers.bundle(write(rest="note: x")))
    document = build_document(build_preview(servers.engine.services, action))
    (entry,) = document["resources"]
    assert "prepared first" not in [reason["kind"] for reason in entry["reasons"]]


def test_a_plan_back_says_that_the_old_one_is_taken_back(servers: Bench) -> None:
    servers.create(write())
    servers.fails("s", "create 2")
    servers.update(write("2"))
    action = UpdateStack("s", servers.bundle(write()))
    document = build_document(build_preview(servers.engine.services, action))
    kinds = {
        each["action"]: [it["kind"] for it in each["reasons"]] for each in document["resources"]
    }
    assert set(kinds["update"]) == {"prepared", "back"}
    assert servers.update(write()).state == "UPDATE_COMPLETE"
    assert is_well(servers)
    (situation,) = situations(
        servers.engine.reader.stack_named("s", "default"), servers.resource_rows(), "s"
    )
    assert situation.cause is not None
    assert "made ready for a replacement" in describe_cause(situation.cause)


def test_what_was_never_completed_is_not_prepared(servers: Bench) -> None:
    servers.fails("s", "create 1")
    servers.create(write())
    servers.heals("s", "create 1")
    assert servers.update(write("2")).state == "UPDATE_COMPLETE"
    assert "prepare" not in servers.journal.of("s")
    assert is_well(servers)
