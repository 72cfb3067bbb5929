"""A full disk or a locked database at any statement of any action."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.conftest import KEY, Bench
from tests.simulation.sim.faulty import Faulty

from zonda.core.engine.actions import (
    AbandonStack,
    AdoptStack,
    CancelStack,
    CheckStack,
    ClearHooks,
    CreateStack,
    DeleteSnapshot,
    DeleteStack,
    ImportResource,
    MarkResource,
    ProtectStack,
    RestoreSnapshot,
    ResumeStack,
    RetryStack,
    RollbackStack,
    SignalResource,
    SnapshotStack,
    SuspendStack,
    UpdateStack,
)
from zonda.core.reports.export import StackExporter
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store

pytestmark = pytest.mark.sqlite  # whose errors these are

ONE = "a: {type: Test::Box, properties: {value: one}}\nb: {type: Test::Slow, depends_on: a}"
TWO = "a: {type: Test::Box, properties: {value: two, fixed: x}}\nc: {type: Test::Box}"
RETRIES = "zonda: {retries: {a: {create: 2}}}"
HOOK = "resource_registry: {resources: {a: {hooks: pre-create}}}"
#: One of so many statements fails, each time another one.
STRIDE = 4


def _failed(bench: Bench) -> None:
    bench.fails("b", "handle_create")
    bench.create(ONE)
    bench.heals("b", "handle_create")


def _changed(bench: Bench) -> None:
    bench.create(ONE)
    bench.update(TWO)


def _saved(bench: Bench) -> None:
    bench.create(ONE)
    bench.run(SnapshotStack("s", "one"))
    bench.update(TWO)


def _digest(bench: Bench) -> str:
    def read(bundle: Any, identity: Any) -> Any:
        return bench.engine.services.definitions.load(bundle, identity, None, False)

    return StackExporter(bench.engine.reader, read).export(bench.stack.id, with_secrets=True).digest


def _waiting(bench: Bench) -> None:
    bench.create(ONE, environment=HOOK)


def _busy(bench: Bench) -> None:
    bench.create(ONE)
    bench.engine.begin(UpdateStack("s", bench.bundle(TWO)))


def _unbound(bench: Bench) -> None:
    bench.fails("a", "handle_create")
    bench.create(ONE)
    bench.heals("a", "handle_create")


Before = Callable[[Bench], Any]
ACTIONS: dict[str, tuple[Before, Callable[[Bench], Any]]] = {
    "create": (
        lambda bench: None,
        lambda bench: CreateStack("s", bench.bundle(ONE, environment=RETRIES)),
    ),
    "adopt": (
        lambda bench: None,
        lambda bench: AdoptStack(
            "s", bench.bundle(ONE), {name: {"resource_id": name} for name in "ab"}
        ),
    ),
    "update": (
        lambda bench: bench.create(ONE),
        lambda bench: UpdateStack("s", bench.bundle(TWO)),
    ),
    "delete": (lambda bench: bench.create(ONE), lambda bench: DeleteStack("s")),
    "suspend": (lambda bench: bench.create(ONE), lambda bench: SuspendStack("s")),
    "resume": (
        lambda bench: (bench.create(ONE), bench.suspend()),
        lambda bench: ResumeStack("s"),
    ),
    "check": (lambda bench: bench.create(ONE), lambda bench: CheckStack("s")),
    "cancel": (_busy, lambda bench: CancelStack("s", rollback=True)),
    "rollback": (_changed, lambda bench: RollbackStack("s", to=1)),
    "retry": (_failed, lambda bench: RetryStack("s")),
    "snapshot": (lambda bench: bench.create(ONE), lambda bench: SnapshotStack("s", "one")),
    "restore": (_saved, lambda bench: RestoreSnapshot("s", "one")),
    "delete-snapshot": (_saved, lambda bench: DeleteSnapshot("s", "one")),
    "abandon": (
        lambda bench: bench.create(ONE),
        lambda bench: AbandonStack("s", _digest(bench)),
    ),
    "import": (_unbound, lambda bench: ImportResource("s", "a", "thing")),
    "mark": (lambda bench: bench.create(ONE), lambda bench: MarkResource("s", "a")),
    "protect": (lambda bench: bench.create(ONE), lambda bench: ProtectStack("s", ("a",))),
    "signal": (
        lambda bench: bench.create(ONE),
        lambda bench: SignalResource("s", "a", {"word": "hello"}),
    ),
    "clear-hooks": (_waiting, lambda bench: ClearHooks("s", ("a",))),
}


def _carried_out(name: str, refusing: int | None, kind: int) -> tuple[Any, bool]:
    """All that can be seen afterwards, and whether the database has refused anything."""
    bench = Bench(open_store(":memory:", sealer=Sealer(KEY)))
    before, action = ACTIONS[name]
    before(bench)
    faulty = Faulty(bench.store._connection)
    bench.store._connection = faulty  # type: ignore[assignment]
    commit = bench.engine.driver.commit

    def troubled() -> None:
        faulty.pause(False)
        commit()
        faulty.pause(True)

    bench.engine.driver.commit = troubled  # type: ignore[method-assign]
    faulty.pause(True)
    faulty.arm(refusing, kind)
    stack = bench.run(action(bench))
    view = bench.engine.reader.stack(stack.id)
    rows = bench.engine.reader.resource_rows(stack.id)
    seen = (
        view.state,
        [(row.name, row.action, row.status, row.protect, row.physical_id is None) for row in rows],
        [each.state for each in bench.engine.reader.actions(stack.id)],
        [(each.name, each.action, each.status) for each in bench.engine.reader.snapshots(stack.id)],
        bench.journal.calls,
    )
    refused = faulty.has_failed
    bench.store.close()
    return seen, refused


@pytest.mark.parametrize("kind", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY], ids=["full", "locked"])
@pytest.mark.parametrize("name", ACTIONS)
def test_what_the_database_refuses_is_done_later_and_once(name: str, kind: int) -> None:
    calm, _ = _carried_out(name, None, kind)
    statement = int(kind == sqlite3.SQLITE_BUSY)
    refused = True
    while refused:
        seen, refused = _carried_out(name, statement, kind)
        assert seen == calm, f"statement {statement}"
        statement += STRIDE
    assert statement > STRIDE + 1, "nothing was refused at all"
