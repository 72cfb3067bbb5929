"""An action whose commit is lost with the connection: what was accepted is found, and made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.cluster.test_membership import Cluster, list_states
from tests.postgresql_server import PostgreSQL

from zonda.core.api.identity.callers import Caller
from zonda.core.api.service.project import Project
from zonda.core.api.service.service import Service
from zonda.core.app.app import App
from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.store.postgresql.connection import ServerConnection
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import StoreError, ValidationErrors


@pytest.fixture
def cluster(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(postgresql.make_database(), tmp_path)
    yield made
    for app in made.apps:
        app.close()
    made.bench.store.close()


def lose_commit(cluster: Cluster, patch: pytest.MonkeyPatch, *, is_kept: bool) -> list[int]:
    """Lose the connection in the commit that accepts a stack; the numbers of all that were."""
    commit, lost = ServerConnection.commit, []

    def lose(this: ServerConnection) -> None:
        made = this.execute("SELECT count(*) FROM action").fetchone()[0]
        if made and not lost:
            lost.append(made)
            if is_kept:
                commit(this)
            this.close()
            raise psycopg.OperationalError("the server has closed the connection")
        commit(this)

    patch.setattr(ServerConnection, "commit", lose)
    return lost


def serve(app: App) -> Project:
    return Project(Service(app), Caller("ann", "ann", "default"), "default")


def make(cluster: Cluster, value: str = "x") -> Bundle:
    return cluster.bench.bundle(f"a: {{type: Test::Box, properties: {{value: {value}}}}}")


def test_what_was_accepted_is_found_in_the_next_life(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = cluster.start("one")
    lost = lose_commit(cluster, monkeypatch, is_kept=True)
    accepted = serve(one).submit(CreateStack("s", make(cluster)))
    assert lost == [1]
    assert accepted.name == "s"
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})
    assert cluster.bench.journal.of("a").count("handle_create") == 1


def test_what_was_not_accepted_is_refused_and_not_there(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = cluster.start("one")
    lost = lose_commit(cluster, monkeypatch, is_kept=False)
    project = serve(one)
    with pytest.raises(StoreError):
        project.submit(CreateStack("s", make(cluster)))
    assert lost == [1]
    assert list_states(one) == {}
    cluster.wait_until(lambda: not one.engine.find_trouble())
    project.submit(CreateStack("s", make(cluster)))
    cluster.wait_until(lambda: list_states(one) == {"s": "COMPLETE"})


def test_what_another_member_was_asked_for_is_answered_by_it(cluster: Cluster) -> None:
    """The one who asks loses its connections while the owner has the request."""
    one, two = cluster.start("one"), cluster.start("two")
    cluster.bench.journal.behave["a", "check"] = lambda resource: False
    bundle = cluster.bench.bundle("a: {type: Test::Slow, properties: {value: x}}")
    made = serve(one).submit(CreateStack("s", bundle))
    cluster.wait_until(lambda: bool(cluster.find_owner(made.stack_id)))
    act = one.engine._engine._requests.act  # type: ignore[union-attr]

    def act_late(*given: object) -> object:
        assert two.store.ownership is not None
        cluster.execute("DELETE FROM member WHERE id = %s", two.store.ownership.member)
        cluster.wait_until(lambda: two.engine.find_trouble() != "" or is_new_life())
        return (yield from act(*given))  # type: ignore[arg-type]

    first = two.store.ownership

    def is_new_life() -> bool:
        return two.store.ownership is not first

    one.engine._engine._requests.act = act_late  # type: ignore[union-attr, assignment]
    accepted = serve(two).submit(UpdateStack("s", bundle))
    assert (accepted.stack_id, accepted.generation) == (made.stack_id, 2)
    cluster.wait_until(lambda: not two.engine.find_trouble())
    with pytest.raises(ValidationErrors):
        serve(two).submit(UpdateStack("s", cluster.bench.bundle("a: {type: Test::None}")))
    del cluster.bench.journal.behave["a", "check"]
