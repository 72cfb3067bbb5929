"""Two members behind a load balancer without stickiness: each request goes to the other one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.api.conftest import Api, TestIdentity
from tests.api.pages.conftest import Browser
from tests.postgresql_server import PostgreSQL

from zonda.core.api.http.calls import Answer
from zonda.core.api.http.requests import Request
from zonda.core.api.server.dispatch import Dispatcher, Target
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.app.app import App, build_app
from zonda.core.settings.settings import load_settings
from zonda.core.store.values.sealing import make_key

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "waiting": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 600},
        },
        "after": {"type": "OS::Heat::TestResource", "depends_on": "waiting"},
    },
}


class Balancer:
    """In place of a dispatcher: each request goes to the next member."""

    def __init__(self, members: list[Dispatcher]) -> None:
        self._members = members
        self.counts = [0] * len(members)

    def find_target(self, method: str, path: str) -> Target | None:
        return self._members[0].find_target(method, path)

    def answer(self, request: Request, target: Target | None) -> Answer:
        number = self.counts.index(min(self.counts))
        self.counts[number] += 1
        member = self._members[number]
        return member.answer(request, member.find_target(request.method, request.path))


@pytest.fixture
def apps(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[list[App]]:
    url, key, made = postgresql.make_database(), make_key(), []
    for name in ("one", "two"):
        given = {"home": str(tmp_path / name), "database_url": url, "key": key, "log": "off"}
        app = build_app(load_settings(given, {}))
        assert app.engine.run()
        made.append(app)
    yield made
    for app in made:
        app.close()


@pytest.fixture
def balancer(apps: list[App]) -> Balancer:
    members = []
    for app in apps:
        service = Service(app)
        members.append(Dispatcher(service, make_interfaces(service, TestIdentity())))
    return Balancer(members)


def ask(api: Api, path: str) -> Any:
    """What is read, the same from both members."""
    first, second = api("GET", path), api("GET", path)
    assert first.status == second.status < 400, (first.body, second.body)
    assert first.body == second.body
    return first.body


def wait(api: Api, path: str, wanted: str) -> None:
    clock = api.app.clock
    until = clock.monotonic() + 60.0
    while (state := api("GET", path).body["stack"]["stack_status"]) != wanted:
        assert clock.monotonic() < until, state
        clock.pause(0.05)


def test_actions_signals_and_reads_need_no_particular_member(
    apps: list[App], balancer: Balancer
) -> None:
    api = Api(apps[0], balancer)  # type: ignore[arg-type]
    for number in range(4):
        made = api("POST", "/stacks", {"stack_name": f"s{number}", "template": TEMPLATE})
        assert made.status == 201, made.body
        path = f"/stacks/s{number}/{made.body['stack']['id']}"
        wait(api, path, "CREATE_IN_PROGRESS")
        shown = ask(api, f"{path}/resources/after")["resource"]
        assert shown["resource_name"] == "after"
        signal = {"status": "SUCCESS", "reason": "ok", "data": "d", "id": "1"}
        while (sent := api("POST", f"{path}/resources/handle/signal", signal)).status == 400:
            api.app.clock.pause(0.05)  # it is not made yet
        assert sent.status in (200, 204), sent.body
        wait(api, path, "CREATE_COMPLETE")
        events = ask(api, f"{path}/events")["events"]
        assert {event["resource_name"] for event in events} >= {"handle", "waiting", "after"}
        assert api("DELETE", path).status == 204
        wait_gone(api, path)
    assert min(balancer.counts) > 10


def wait_gone(api: Api, path: str) -> None:
    clock = api.app.clock
    until = clock.monotonic() + 60.0
    while api("GET", path).body.get("stack", {}).get("stack_status") != "DELETE_COMPLETE":
        assert clock.monotonic() < until
        clock.pause(0.05)


def test_a_browser_signs_in_plans_and_applies_at_alternating_members(
    apps: list[App], balancer: Balancer
) -> None:
    browser = Browser(balancer).sign_in("p1")  # type: ignore[arg-type]
    for name in ("first", "second"):
        for _ in range(2):
            assert browser.get("/ui/p1/stacks").status == 200
        form = browser.get("/ui/p1/new")
        done = browser.post("/ui/p1/new", form.csrf, name=name, template=yaml.safe_dump(TEMPLATE))
        shown = browser.get(done.location)
        apply = re.search(r'action="([^"]*/apply)"', shown.html)
        assert apply, shown.text
        assert browser.get(done.location).status == 200
        applied = browser.post(apply[1], shown.csrf)
        assert applied.location.startswith("/ui/p1/stacks/"), applied.text
        assert [browser.get(applied.location).status for _ in range(2)] == [200, 200]
    out = browser.post("/ui/sign-out", browser.get("/ui/p1/stacks").csrf)
    assert out.location == "/ui/sign-in"
    assert [browser.get("/ui/p1/stacks").status for _ in range(2)] == [303, 303]
    assert min(balancer.counts) > 5
