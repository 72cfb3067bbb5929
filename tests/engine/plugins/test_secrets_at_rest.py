"""Values made with a secret are sealed in the database and hidden in every output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.conftest import Box
from tests.engine.stored import read_tables

from zonda.core.engine.actions import RestoreSnapshot, SnapshotStack
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import Finished, PollAnswer, StartAnswer, StartRequest, Succeeded
from zonda.hooks.runners import WorkflowRunner as Runner
from zonda.workflows.resources.external_resource import ExternalResource

HIDDEN = "parameters: {password: {type: string, hidden: true, default: hunter2-hunter2}}\n"
DERIVED = "postgres://derived-from-it"


class OneAnswer(Runner):
    """Every workflow ends at once and returns something made with the secret."""

    def start(self, request: StartRequest) -> StartAnswer:
        return Finished(Succeeded({"url": DERIVED}, "db-1"), request.key)

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        raise AssertionError("nothing to poll")


class Lender:
    def runner(self, workflow: str, project: str) -> tuple[Runner, str]:
        return OneAnswer(), workflow


@pytest.fixture
def filed(bench: Any, tmp_path: Path) -> Iterator[Any]:
    bench.store.close()
    bench.store = open_store(tmp_path / "z.db", sealer=Sealer(make_key()))
    bench.types["Ext"] = ExternalResource
    bench.lender.runner = Lender().runner
    bench.file = tmp_path
    bench.restart()
    yield bench
    bench.store.close()


def at_rest(bench: Any) -> bytes:
    """All bytes of the database, what waits in its journal included."""
    return b"".join(path.read_bytes() for path in sorted(bench.file.iterdir()) if path.is_file())


def template(given: str) -> str:
    return f"""
        a:
          type: Ext
          properties: {{input: {{given: {given}}}, actions: {{CREATE: {{workflow: w}}}}}}
        b: {{type: Test::Box, properties: {{value: {{get_attr: [a, output, url]}}}}}}
    """


OUTPUTS = """
outputs: {o: {value: {get_attr: [a, output, url]}}, p: {value: {get_attr: [b, value]}}}
"""


@pytest.mark.sqlite  # reads the file
def test_what_a_workflow_makes_of_a_secret_is_sealed_and_shown(filed: Any) -> None:
    stack = filed.create(template("{get_param: password}"), rest=HIDDEN + OUTPUTS)
    assert stack.state == "CREATE_COMPLETE"
    assert filed.outputs() == {"o": DERIVED, "p": DERIVED}
    assert filed.resource("a").attributes == {"output": {"url": DERIVED}}
    found = at_rest(filed)
    assert b"hunter2" not in found
    assert b"derived-from-it" not in found


@pytest.mark.sqlite  # reads the file
def test_without_a_secret_nothing_but_data_is_sealed(filed: Any) -> None:
    filed.create(template("nothing-secret"), rest=OUTPUTS)
    found = at_rest(filed)
    assert b"nothing-secret" in found
    assert b"derived-from-it" in found


def test_show_is_as_secret_as_the_properties(bench: Any) -> None:
    bench.types["Test::Box"]._show_resource = lambda self: {"secret": "hunter2-hunter2"}
    bench.create(
        "a: {type: Test::Box, properties: {secret: hunter2-hunter2}}\n"
        "b: {type: Test::Box, properties: {value: {get_attr: [a, show, secret]}}}\n"
        "c: {type: Test::Plain}",
    )
    assert bench.resource("a").attributes["show"] == "(hidden)"
    assert bench.resource("b").properties == {"value": "(hidden)"}


def test_reasons_hide_a_secret_in_any_notation(bench: Any) -> None:
    def leak(resource: Any) -> Any:
        raise ValueError("POST /?p=it%27s+hidden {'p': \"it's hidden\"}")

    bench.journal.behave["a", "handle_create"] = leak
    stack = bench.create('a: {type: Test::Box, properties: {secret: "it\'s hidden"}}')
    assert stack.status_reason.endswith("resources.a: POST /?p=(hidden) {'p': \"(hidden)\"}")


def test_neither_the_old_nor_the_new_value_of_a_hidden_property_is_told(bench: Any) -> None:
    template = "a: {{type: Test::Box, properties: {{secret: {}}}}}"
    bench.create(template.format("old-secret-1"))
    bench.fails("a", "handle_update", ValueError("old-secret-1 to new-secret-2"))
    stack = bench.update(template.format("new-secret-2"))
    assert stack.status_reason.endswith("resources.a: (hidden) to (hidden)")


def test_a_secret_attribute_inside_a_composed_property_is_not_told_alone(bench: Any) -> None:
    bench.fails("b", "handle_create", ValueError("bad password hush-hush"))
    stack = bench.create(
        "a: {type: Test::Box, properties: {value: x}}\n"
        "b:\n"
        "  type: Test::Box\n"
        "  properties:\n"
        "    secret: {str_replace: {template: 'pg://u:PW@h', params: "
        "{PW: {get_attr: [a, token]}}}}\n"
    )
    assert stack.status_reason.endswith("resources.b: bad password (hidden)")


def test_progress_is_told_without_secrets(bench: Any) -> None:
    said: list[str] = []
    bench.engine.driver.listeners.subscribe(
        lambda notices: said.extend(notice.message for notice in notices)
    )
    bench.journal.behave["a", "handle_create"] = lambda resource: resource.context.progress(
        f"using {resource.properties['value']}"
    )
    bench.create("a: {type: Test::Box, properties: {value: {get_param: password}}}", rest=HIDDEN)
    assert [message for message in said if message] == ["using (hidden)"]


@pytest.mark.sqlite  # reads the file
def test_a_template_with_a_literal_for_a_hidden_property_is_sealed(filed: Any) -> None:
    filed.create("a: {type: Test::Box, properties: {secret: literal-secret-7}}")
    assert b"literal-secret-7" not in at_rest(filed)


class Keeper(Box):
    """Gives a hidden property that no template gives, from what it kept for a snapshot."""

    def handle_snapshot(self) -> None:
        self.data_set("password", "hush-hush", redact=True)

    def handle_restore(self, defn: Any, restore_data: Any) -> Any:
        password = restore_data["resource_data"]["password"]
        return defn.freeze(
            properties={**defn.properties, "secret": password, "value": f"is {password}"},
            metadata={"password": password},
        )


@pytest.mark.parametrize("fixed", ["x", "y"], ids=["update", "replacement"])
@pytest.mark.parametrize("fails", [False, True], ids=["works", "fails"])
def test_what_a_restoration_gives_is_as_secret_as_it_was(
    bench: Any, fixed: str, fails: bool
) -> None:
    bench.types["Test::Keeper"] = type("Keeper", (Keeper,), {"journal": bench.journal})
    bench.restart()
    text = "k: {type: Test::Keeper, properties: {value: v, fixed: %s}}"
    bench.create(text % "x")
    bench.run(SnapshotStack("s"))
    bench.update(text % fixed)
    (snapshot,) = bench.engine.reader.snapshots(bench.stack.id)
    if fails:
        for call in ("handle_update", "handle_create"):
            bench.fails("k", call, ResourceFailure("I say hush-hush"))

    bench.run(RestoreSnapshot("s", snapshot.id))

    assert bench.resource("k").properties.get("secret", "(hidden)") == "(hidden)"
    assert "hush-hush" not in str(read_tables(bench.store))
