"""Limits of what a project may have, counted by two members on a real PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.test_membership import Cluster
from tests.postgresql_server import PostgreSQL

from zonda.core.api.identity.callers import Caller as ApiCaller
from zonda.core.api.identity.callers import Forbidden
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.service.project import Project
from zonda.core.api.service.service import Service
from zonda.core.app.app import build_app
from zonda.core.engine.actions import (
    Allowance,
    Caller,
    CreateStack,
    DeleteStack,
    UpdateStack,
    parse_caller,
    to_json,
)
from zonda.core.engine.plan.quotas import QuotaExceeded
from zonda.core.settings.settings import load_settings
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks.errors import Conflict

DELAY = "heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::Delay}}\n"
WAITS = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.fixture
def cluster(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(postgresql.make_database(), tmp_path)
    yield made
    for app in made.apps:
        app.close()
    made.bench.store.close()


def limit(**most: int) -> Caller:
    return Caller(allowance=Allowance(most, lambda definition: None))


def test_two_members_that_accept_at_one_moment_do_not_pass_a_quota(cluster: Cluster) -> None:
    one, two = cluster.start("one"), cluster.start("two")
    bundle = cluster.bench.bundle("a: {type: Test::Box}")
    counted, free = threading.Event(), threading.Event()

    def hold(*_: Any) -> None:
        counted.set()
        assert free.wait(60)

    first = one.engine.submit(CreateStack("s", bundle), limit(stacks=1), hold)
    assert counted.wait(60)
    second = two.engine.submit(CreateStack("t", bundle), limit(stacks=1))
    cluster.wait_until(lambda: bool(cluster.execute(WAITS)))
    free.set()
    first.result(60)
    with pytest.raises(QuotaExceeded, match="maximum stacks per tenant, 1"):
        second.result(60)


def hold_stack(cluster: Cluster) -> threading.Event:
    """A stack ``s`` at work; what ends that."""
    free = threading.Event()
    cluster.bench.journal.behave["a", "handle_create"] = lambda resource: free.wait(60) and None
    return free


def forbid(asked_by: Mapping[str, Any]) -> Callable[[Any], None]:
    def check(definition: Any) -> None:
        raise Forbidden(f"Not for {asked_by['user']}: {sorted(definition.resources)}")

    return check


def test_the_limits_of_a_caller_go_with_its_action_to_another_member(cluster: Cluster) -> None:
    one, two, free = cluster.start("one"), cluster.start("two"), hold_stack(cluster)
    key = cluster.create(one, "s")
    cluster.wait_until(lambda: bool(cluster.find_owner(key)))
    more = UpdateStack("s", cluster.bench.bundle("a: {type: Test::Box}\nb: {type: Test::Box}"))
    with pytest.raises(QuotaExceeded, match="would have 2 resources"):
        two.engine.submit(more, limit(resources=1)).result(60)
    bound = Caller(allowance=Allowance({}, asked_by={"user": "ann"}))
    with pytest.raises(Conflict, match="cannot tell what you may do"):
        two.engine.submit(more, bound).result(60)
    one.engine.find_check = forbid
    with pytest.raises(Forbidden, match="Not for ann: \\['a', 'b'\\]"):
        two.engine.submit(more, bound).result(60)
    free.set()
    cluster.wait_until(lambda: cluster.find_owner(key) == "")
    assert [view.name for view in one.reader.list_resources(key)] == ["a"]


def test_a_server_checks_for_the_callers_of_another(tmp_path: Path) -> None:
    (tmp_path / "zonda.toml").write_text('[policy.resource_types]\n"OS::Heat::*" = "role:boss"\n')
    app = build_app(load_settings({"home": str(tmp_path)}, {}))
    service = Service(app)
    Dispatcher(service, [])
    definition = service.checker.load(Bundle(DELAY), Identity("None", "s", "p1"), None, False)
    checks = []
    for role in ("member", "boss"):
        project = Project(service, ApiCaller("u", "ann", "p1", roles=frozenset({role})), "p1")
        sent = parse_caller(to_json(DeleteStack("s"), project.action_caller))
        assert sent.allowance is not None
        checks.append(app.engine.find_check(sent.allowance.asked_by))
    refuses, passes = checks
    assert refuses is not None
    assert passes is not None
    passes(definition)
    with pytest.raises(Forbidden, match="OS::Heat::Delay"):
        refuses(definition)
    app.close()
