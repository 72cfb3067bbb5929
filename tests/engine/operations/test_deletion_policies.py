"""The policies Delete, Retain and Snapshot wherever a resource is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import DeleteStack
from zonda.hooks.errors import NotReady, ResourceFailure, ValidationErrors
from zonda.hooks.resources.resource import Resource


class Whole(Resource):
    """Saves and deletes with one handler."""

    journal: Any

    def handle_create(self) -> None:
        self.resource_id_set("it")
        self.journal.note(self, "handle_create")

    def handle_snapshot_delete(self, state: tuple[str, str]) -> Any:
        self.journal.calls.append((self.name, f"handle_snapshot_delete {state}"))
        return {"polls": 1}

    def handle_delete(self) -> Any:
        return self.journal.note(self, "handle_delete")

    def check_delete_complete(self, token: Any) -> bool:
        self.journal.note(self, f"check {token}")
        if token is None:
            return True
        token["polls"] -= 1
        return bool(token["polls"] < 0)


class Parts(Resource):
    """Has a handler for snapshots and one for deletions."""

    journal: Any

    def handle_create(self) -> Any:
        self.resource_id_set("it")
        return self.journal.note(self, "handle_create")

    def handle_snapshot(self) -> Any:
        self.journal.note(self, "handle_snapshot")
        return {"left": 1}

    def check_snapshot_complete(self, token: Any) -> bool:
        self.journal.note(self, "check_snapshot")
        token["left"] -= 1
        return bool(token["left"] < 0)

    def handle_delete(self) -> Any:
        return self.journal.note(self, "handle_delete")


@pytest.fixture
def saving(bench: Any) -> Any:
    for cls in (Whole, Parts):
        bench.types[f"Test::{cls.__name__}"] = type(
            cls.__name__, (cls,), {"journal": bench.journal}
        )
    bench.restart()
    return bench


def template(kind: str, policy: str, more: str = "") -> str:
    return f"a: {{type: Test::{kind}, deletion_policy: {policy}{more}}}\n"


WAYS = {
    "stack": lambda bench, a: bench.delete(),
    "removal": lambda bench, a: bench.update("z: {type: Test::Plain}"),
    "replacement": lambda bench, a: bench.update("a: {type: Test::Plain}"),
}
_SNAPSHOTS = [
    pytest.param(
        "Whole",
        [
            "handle_snapshot_delete ('CREATE', 'COMPLETE')",
            "check {'polls': 1}",
            "check {'polls': 0}",
        ],
        id="one-handler",
    ),
    pytest.param(
        "Parts",
        ["handle_snapshot", "check_snapshot", "check_snapshot", "handle_delete"],
        id="two-handlers",
    ),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "calls"), _SNAPSHOTS)
def test_a_snapshot_is_taken_before(saving: Any, way: str, kind: str, calls: list[str]) -> None:
    saving.create(template(kind, "Snapshot"))

    WAYS[way](saving, "a")

    assert saving.journal.of("a")[1:] == calls


@pytest.mark.parametrize("way", WAYS)
def test_what_is_retained_is_left_alone(saving: Any, way: str) -> None:
    saving.create(template("Parts", "Retain"))

    WAYS[way](saving, "a")

    assert saving.journal.of("a") == ["handle_create"]


@pytest.mark.parametrize("way", WAYS)
def test_everything_else_is_deleted(saving: Any, way: str) -> None:
    saving.create(template("Parts", "Delete"))

    WAYS[way](saving, "a")

    assert saving.journal.of("a") == ["handle_create", "handle_delete"]


@pytest.mark.parametrize(
    ("policy", "calls"),
    [
        pytest.param("Delete", ["handle_create", "handle_delete"], id="delete"),
        pytest.param("Retain", ["handle_create"], id="retain"),
        pytest.param(
            "Snapshot",
            [
                "handle_create",
                "handle_snapshot",
                "check_snapshot",
                "check_snapshot",
                "handle_delete",
            ],
            id="snapshot",
        ),
    ],
)
def test_a_rollback_keeps_to_the_policy(saving: Any, policy: str, calls: list[str]) -> None:
    saving.create("z: {type: Test::Plain}", rollback=True)
    saving.fails("b", "handle_create")

    view = saving.update(
        "z: {type: Test::Plain}\n"
        + template("Parts", policy)
        + "b: {type: Test::Box, depends_on: a}\n"
    )

    assert view.state == "ROLLBACK_COMPLETE"
    assert saving.journal.of("a") == calls


@pytest.mark.parametrize(("before", "after"), [("Delete", "Snapshot"), ("Snapshot", "Delete")])
def test_the_policy_of_the_last_update_counts(saving: Any, before: str, after: str) -> None:
    saving.create(template("Parts", before))
    saving.update(template("Parts", after))

    saving.delete()

    assert ("handle_snapshot" in saving.journal.of("a")) == (after == "Snapshot")


def test_nothing_is_deleted_if_the_snapshot_fails(saving: Any) -> None:
    saving.create(template("Parts", "Snapshot"))
    saving.fails("a", "check_snapshot", ResourceFailure("the disk is full"))

    view = saving.delete()

    assert view.state == "DELETE_FAILED"
    assert "the disk is full" in view.status_reason
    assert "handle_delete" not in saving.journal.of("a")

    saving.heals("a", "check_snapshot")
    stack_id = saving.stack.id
    saving.delete()
    assert saving.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


def test_of_a_creation_that_failed_no_snapshot_is_taken(saving: Any) -> None:
    saving.fails("a", "handle_create")
    saving.create(template("Parts", "Snapshot"))

    saving.delete()

    assert saving.journal.of("a") == ["handle_create", "handle_delete"]


def test_a_deletion_goes_on_after_a_crash(saving: Any) -> None:
    saving.create(template("Parts", "Snapshot"))
    saving.journal.behave["a", "handle_delete"] = _not_ready_once()
    stack_id = saving.stack.id
    saving.engine.begin(DeleteStack("s"))
    while "check_snapshot" not in saving.journal.of("a"):
        saving.steps(1)
    saving.steps(2)

    saving.restart().recover()
    saving.engine.settle()

    assert saving.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"
    assert saving.journal.of("a").count("handle_snapshot") == 1


def _not_ready_once() -> Any:
    asked: list[str] = []

    def behave(resource: Resource) -> None:
        if not asked:
            asked.append(resource.name)
            raise NotReady(1)

    return behave


def test_a_retried_creation_is_removed_whatever_the_policy_says(saving: Any) -> None:
    saving.fails("a", "handle_create")

    saving.create(
        template("Parts", "Retain"), environment="zonda: {retries: {a: {attempts: 2, delay: 1}}}"
    )

    assert saving.journal.of("a") == ["handle_create", "handle_delete", "handle_create"]


def test_a_type_that_cannot_save_is_refused(bench: Any) -> None:
    with pytest.raises(ValidationErrors) as raised:
        bench.create("a: {type: Test::Box, deletion_policy: Snapshot}")

    assert '"Snapshot" deletion policy not supported' in str(raised.value)


AGAIN = "zonda: {retries: {a: {delete: {attempts: 3, delay: 1}}}}"


@pytest.mark.parametrize("crash", [False, True], ids=["", "with a crash"])
def test_what_an_attempt_has_saved_is_not_saved_by_the_next(saving: Any, crash: bool) -> None:
    saving.create(template("Parts", "Snapshot"), environment=AGAIN)
    saving.fails("a", "handle_delete")
    saving.engine.begin(DeleteStack("s"))
    while saving.journal.of("a").count("handle_delete") < 2:
        saving.steps(1)
        if crash and saving.resource_rows()[0].op_state == "BACKOFF":
            crash = False
            saving.restart().recover()
    saving.heals("a", "handle_delete")
    saving.engine.settle()

    calls = saving.journal.of("a")
    assert (calls.count("handle_snapshot"), calls.count("handle_delete")) == (1, 3)
    assert saving.journal.calls[-1] == ("a", "handle_delete")


@pytest.mark.parametrize(
    ("policy", "snapshots", "state"),
    [("fail", 1, "DELETE_FAILED"), ("idempotent", 2, "DELETE_COMPLETE")],
)
def test_what_saves_and_was_cut_off_is_called_again_only_if_it_may_be(
    saving: Any, policy: str, snapshots: int, state: str
) -> None:
    saving.types["Test::Parts"].start_policy = policy
    stack_id = saving.create(template("Parts", "Snapshot")).id
    saving.engine.begin(DeleteStack("s"))
    while "handle_snapshot" not in saving.journal.of("a"):
        saving.steps(1)
    assert saving.resource_rows()[0].op_state == "STARTING"
    saving.restart().recover()
    saving.engine.settle()

    assert saving.journal.of("a").count("handle_snapshot") == snapshots
    assert saving.engine.reader.stack(stack_id).state == state
