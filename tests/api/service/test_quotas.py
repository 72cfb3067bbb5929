"""Quotas of projects: counted where a plan is accepted, and told in Heat's words."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from zonda.core.api.identity.callers import Caller
from zonda.core.api.identity.policy import PolicyTable
from zonda.core.api.service.quotas import Quotas
from zonda.core.api.service.rates import OverRate
from zonda.hooks.testing import FakeClock

PATIENCE = 60.0
EMPTY = {"heat_template_version": "2018-08-31"}


def make_template(count: int, kind: str = "OS::Heat::Value") -> dict[str, Any]:
    """A template with so many resources."""
    one = {"type": kind, "properties": {"value": "x"}}
    return {**EMPTY, "resources": {f"r{number}": one for number in range(count)}}


def make_quotas(clock: Any = None, identity: str = "tokens", **sections: Any) -> Quotas:
    """The quotas of some settings."""
    known = {"quotas": {}, "projects": {}, "identity": identity, **sections}
    return Quotas(SimpleNamespace(**known), clock or FakeClock())  # type: ignore[arg-type]


@pytest.fixture
def use(api: Any) -> Iterator[Any]:
    """Puts other quotas in place for one test."""
    service = api.dispatcher.service
    kept = service.quotas, service.policies

    def put(**sections: Any) -> None:
        service.quotas = make_quotas(service.app.clock, **sections)

    yield put
    service.quotas, service.policies = kept


def test_a_project_goes_before_all_projects_and_these_before_the_common_quotas() -> None:
    quotas = make_quotas(
        quotas={"stacks": 1, "resources": 2, "snapshots": 3},
        projects={
            "*": {"quotas": {"resources": 4, "snapshots": 5}},
            "one": {"quotas": {"snapshots": 6}},
        },
    )
    caller = Caller("u", "ann", "p1", "one")
    assert quotas.find(caller, "p1") == {"stacks": 1, "resources": 4, "snapshots": 6, "streams": 20}
    assert quotas.find(caller, "p2")["snapshots"] == 5
    assert make_quotas().find(caller, "p1") == {"stacks": 512, "streams": 20}
    assert make_quotas(identity="none").find(caller, "p1") == {}


def test_one_stack_too_many_is_refused_in_heats_words(api: Any, use: Any) -> None:
    use(projects={"full": {"quotas": {"stacks": 1}}})
    full = api.become("full")
    path = full.create("one", EMPTY)
    refused = full("POST", "/stacks", {"stack_name": "two", "template": EMPTY})
    assert (refused.status, refused.kind) == (400, "RequestLimitExceeded")
    assert refused.message == (
        "You have reached the maximum stacks per tenant, 1. Please delete some stacks."
    )
    assert full("GET", "/stacks/two").status == 404
    assert (
        api.become("other")("POST", "/stacks", {"stack_name": "x", "template": EMPTY}).status == 201
    )
    assert full("PUT", path, {"template": make_template(1)}).status == 202
    full.wait(path)
    assert full("DELETE", path).status == 204
    full.wait(path)
    full.create("two", EMPTY)


def test_of_requests_at_the_same_time_only_as_many_as_fit_are_accepted(api: Any, use: Any) -> None:
    use(projects={"race": {"quotas": {"stacks": 3}}})
    race, replies = api.become("race"), []
    start = threading.Barrier(12)

    def create(number: int) -> None:
        start.wait(PATIENCE)
        body = {"stack_name": f"s{number}", "template": EMPTY}
        replies.append(race("POST", "/stacks", body).status)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE)
    assert sorted(replies) == [201] * 3 + [400] * 9
    assert len(race("GET", "/stacks").body["stacks"]) == 3


def test_resources_are_counted_over_all_stacks_of_a_project(api: Any, use: Any) -> None:
    use(projects={"small": {"quotas": {"resources": 4}}})
    small = api.become("small")
    path = small.create("three", make_template(3))
    refused = small("POST", "/stacks", {"stack_name": "more", "template": make_template(2)})
    assert refused.status == 400
    assert "would have 5 resources; its quota is 4" in refused.message
    assert small("GET", "/stacks/more").status == 404
    assert small("PUT", path, {"template": make_template(5)}).status == 400
    assert len(small("GET", f"{path}/resources").body["resources"]) == 3
    use(projects={"small": {"quotas": {"resources": 1}}})
    assert small("PUT", path, {"template": make_template(2)}).status == 202
    small.wait(path)


def test_snapshots_are_counted(api: Any, use: Any) -> None:
    use(projects={"snaps": {"quotas": {"snapshots": 1}}})
    snaps = api.become("snaps")
    path = snaps.create("s", EMPTY)
    assert snaps("POST", f"{path}/snapshots", {"name": "a"}).status == 200
    snaps.wait(path)
    refused = snaps("POST", f"{path}/snapshots", {"name": "b"})
    assert refused.status == 400
    assert len(snaps("GET", f"{path}/snapshots").body["snapshots"]) == 1


def test_actions_at_a_time_are_counted_and_a_deletion_is_always_possible(
    api: Any, use: Any
) -> None:
    use(projects={"busy": {"quotas": {"actions": 1}}})
    busy = api.become("busy")
    template = {
        **EMPTY,
        "resources": {
            "h": {"type": "OS::Heat::WaitConditionHandle"},
            "w": {
                "type": "OS::Heat::WaitCondition",
                "properties": {"handle": {"get_resource": "h"}, "timeout": 600},
            },
        },
    }
    path = busy.create("waits", template, wait=False)
    refused = busy("POST", "/stacks", {"stack_name": "next", "template": make_template(1)})
    assert refused.status == 400
    assert "would have 2 actions at a time; its quota is 1" in refused.message
    assert busy("DELETE", path).status == 204
    busy.wait(path)
    busy.create("next", EMPTY)


def test_a_template_has_a_quota_of_bytes(api: Any, use: Any) -> None:
    use(quotas={"template_bytes": 100})
    body = {"stack_name": "large", "template": make_template(5)}
    for method, path in (("POST", "/stacks"), ("POST", "/stacks/preview"), ("POST", "/validate")):
        refused = api(method, path, body if "stacks" in path else {"template": body["template"]})
        assert (refused.status, refused.kind) == (400, "RequestLimitExceeded"), path
        assert "exceeds maximum allowed size (100 bytes)" in refused.message


def test_requests_have_a_rate(api: Any, use: Any) -> None:
    use(projects={"fast": {"quotas": {"requests": 0}}})
    refused = api.become("fast")("GET", "/stacks")
    assert (refused.status, refused.kind) == (429, "OverLimit")
    assert int(refused.headers["Retry-After"]) > 0
    assert api.become("slow")("GET", "/stacks").status == 200


def test_the_bucket_of_requests_fills_with_time() -> None:
    clock = FakeClock()
    quotas = make_quotas(clock, quotas={"requests": 2})
    caller = Caller("u", "ann", "p1")
    for _ in range(2):
        quotas.take_request(caller, "p1")
    with pytest.raises(OverRate) as error:
        quotas.take_request(caller, "p1")
    assert error.value.delay == 1
    quotas.take_request(caller, "p2")
    clock.advance(0.5)
    quotas.take_request(caller, "p1")
    with pytest.raises(OverRate):
        quotas.take_request(caller, "p1")
    clock.advance(100)
    for _ in range(2):
        quotas.take_request(caller, "p1")
    with pytest.raises(OverRate):
        quotas.take_request(caller, "p1")


NESTED = {
    **EMPTY,
    "resources": {"n": {"type": "inner.yaml"}},
}
FILES = {
    "inner.yaml": "heat_template_version: 2018-08-31\n"
    "resources: {s: {type: OS::Heat::RandomString}}\n"
}


@pytest.mark.parametrize("way", ["policy", "project"])
@pytest.mark.parametrize(
    ("template", "files"),
    [(make_template(1, "OS::Heat::RandomString"), {}), (NESTED, FILES)],
    ids=["root", "nested"],
)
def test_a_type_that_is_known_may_be_forbidden(
    api: Any, use: Any, way: str, template: Any, files: Any
) -> None:
    if template is not NESTED:
        template = {**EMPTY, "resources": {"r": {"type": "OS::Heat::RandomString"}}}
    path = api.become("types").create(f"old-{way}-{len(files)}", EMPTY)
    if way == "policy":
        rules = {"resource_types": {"OS::Heat::Random*": "role:admin"}}
        api.dispatcher.service.policies = PolicyTable(rules, {})
        use()
        assert (
            api.become("types/admin")(
                "POST", "/validate", {"template": template, "files": files}
            ).status
            == 200
        )
        api.dispatcher.service.policies = PolicyTable(rules, {})
    else:
        use(projects={"types": {"resource_types": ["OS::Heat::V*", "*.yaml"]}})
    types = api.become("types")
    body = {"template": template, "files": files}
    for method, place, more in (
        ("POST", "/stacks", {"stack_name": "new"}),
        ("POST", "/stacks/preview", {"stack_name": "new"}),
        ("POST", "/validate", {}),
        ("PUT", path, {}),
        ("PATCH", path, {}),
        ("PUT", f"{path}/preview", {}),
    ):
        refused = types(method, place, {**body, **more})
        assert refused.status == 403, (method, place, refused.body)
        said = "You are not authorized to use resource_types:OS::Heat::RandomString."
        assert refused.message == said
    ok = types("PUT", path, {"template": make_template(1)})
    assert ok.status == 202, ok.body
    types.wait(path)
