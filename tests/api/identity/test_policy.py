"""The policy: Heat's rules, those of the settings in their place, and plug-ins that refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from zonda.core.api.identity.policy import RULES, PolicyTable, check_operations, make_policy_table
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.settings import settings
from zonda.hooks import hookimpl
from zonda.hooks.errors import UsageError, UsageErrors
from zonda.hooks.policies import PolicyCaller, PolicyTarget

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "reference" / "policy.md"
EMPTY = {"heat_template_version": "2018-08-31"}
RANDOM = {**EMPTY, "resources": {"r": {"type": "OS::Heat::RandomString"}}}


@dataclass
class Watchman:
    """A policy that notes what it is asked, and says what it was told to."""

    reason: str | None = None
    failure: Exception | None = None
    asked: list[tuple[PolicyCaller, str, PolicyTarget]] = field(default_factory=list)

    def check(self, caller: PolicyCaller, operation: str, target: PolicyTarget) -> str | None:
        self.asked.append((caller, operation, target))
        if self.failure is not None:
            raise self.failure
        return self.reason


@pytest.fixture
def use(api: Any) -> Iterator[Any]:
    """Puts another table in place for one test."""
    service = api.dispatcher.service
    kept = service.policies

    def put(section: dict[str, Any], **policies: Any) -> None:
        service.policies = PolicyTable(section, policies)

    yield put
    service.policies = kept


def list_routes(api: Any) -> list[Any]:
    return [route for each in api.dispatcher.interfaces for route in each.table.routes]


def test_every_operation_has_one_rule(api: Any) -> None:
    rules: dict[str, str] = {}
    for route in list_routes(api):
        assert route.policy in RULES, route
        assert rules.setdefault(route.operation, route.policy) == route.policy, route


def test_the_page_of_the_policy_lists_what_the_routes_say(api: Any) -> None:
    rules = {route.operation: route.policy for route in list_routes(api)}
    rows = re.findall(r"^\| `([a-z_]+:[a-z_]+)` \| `(.+)` \|$", DOCUMENT.read_text(), re.M)
    assert rows
    for operation, rule in rows:
        if not operation.startswith("actions:") or operation == "actions:action":
            assert RULES[rules[operation]] == rule, operation
    contracts = [each for each in api.dispatcher.interfaces if each.prefix in ("/v1/", "/v3/")]
    operations = {route.operation for each in contracts for route in each.table.routes}
    assert operations <= {operation for operation, _ in rows}


@pytest.mark.parametrize(
    ("role", "reads", "writes"),
    [("admin", True, True), ("member", True, True), ("reader", True, False), ("x", False, False)],
)
def test_the_rules_are_those_of_heat_by_default(
    api: Any, role: str, reads: bool, writes: bool
) -> None:
    caller = api.become(f"p1/{role}")
    assert caller("GET", "/stacks").status == (200 if reads else 403)
    made = caller("POST", "/stacks", {"stack_name": f"by-{role}", "template": EMPTY})
    assert made.status == (201 if writes else 403)
    if not writes:
        assert made.message == "You are not authorized to use stacks:create."
        assert made.kind == "Forbidden"


def test_a_rule_of_the_settings_stands_in_place_of_heats(api: Any, use: Any) -> None:
    use({"stacks:index": "role:auditor", "stacks:create": "never"})
    assert api.become("p1/auditor")("GET", "/stacks").status == 200
    assert api.become("p1/admin")("GET", "/stacks").status == 403
    body = {"stack_name": "never", "template": EMPTY}
    assert api.become("p1/admin")("POST", "/stacks", body).status == 403


def test_an_owner_is_who_has_created_the_stack(api: Any, use: Any) -> None:
    path = api.become("p7").create("mine", EMPTY)
    use({"stacks:delete": "owner", "stacks:show": "not owner"})
    assert api.become("p7")("GET", path).status == 403
    service = api.dispatcher.service
    identity = api.dispatcher.interfaces[0].identity
    another = api.become("p7/member")
    known, identity.user = identity.user, "ben"
    try:
        assert another("DELETE", path).status == 403
        assert another("GET", path).status == 200
        assert another("DELETE", "/stacks/none/none").status == 404
        assert another("DELETE", path.replace("mine", "none")).status == 403
    finally:
        identity.user = known
    assert api.become("p7")("DELETE", path).status == 204
    assert service.policies.is_quick is False


def test_a_stack_action_has_a_rule_of_its_own(api: Any, use: Any) -> None:
    path = api.become("p8").create("acted", EMPTY)
    use({"actions:suspend": "role:admin"})
    assert api.become("p8")("POST", f"{path}/actions", {"suspend": None}).status == 403
    assert api.become("p8")("POST", f"{path}/actions", {"check": None}).status == 200


def test_a_plug_in_refuses_with_its_reason(api: Any, use: Any) -> None:
    path = api.become("p9").create("tagged", RANDOM, tags="a,b")
    watchman = Watchman()
    use({}, watchman=watchman)
    assert api.become("p9")("GET", path).status == 200
    caller, operation, target = watchman.asked[-1]
    assert (caller.user, caller.project_id, caller.roles) == ("ann", "p9", {"member"})
    assert (operation, target.project) == ("stacks:show", "p9")
    assert target.stack is not None
    assert (target.stack.name, target.stack.tags) == ("tagged", ("a", "b"))
    assert target.stack.created_by == "ann"
    watchman.reason = "not on Fridays"
    refused = api.become("p9")("DELETE", path)
    assert refused.status == 403
    assert refused.message == "You are not authorized to use stacks:delete: not on Fridays"


def test_a_plug_in_cannot_allow(api: Any, use: Any) -> None:
    watchman = Watchman()
    use({}, watchman=watchman)
    assert api.become("p9/reader")("POST", "/stacks", {}).status == 403
    assert watchman.asked == []


def test_a_plug_in_that_fails_refuses(api: Any, use: Any) -> None:
    use({}, watchman=Watchman(failure=RuntimeError("swordfish")))
    refused = api.become("p9")("GET", "/stacks")
    assert refused.status == 403
    assert "the policy watchman failed" in refused.message
    assert "swordfish" not in refused.message


def test_a_policy_that_cannot_be_used_keeps_the_server_from_starting(tmp_path: Path) -> None:
    class Broken:
        @hookimpl
        def zonda_policies(self) -> Any:
            raise RuntimeError("no")

    class Wrong:
        @hookimpl
        def zonda_policies(self) -> Any:
            return {"wrong": object()}

    found = settings.load_settings({"home": str(tmp_path)}, {})
    for plugin in (Broken(), Wrong()):
        plugins = gather_plugins(make_manager(plugin, discover=False))
        with pytest.raises(UsageError, match="would let everything through"):
            make_policy_table(found, plugins)


def test_a_rule_of_an_unknown_operation_keeps_the_server_from_starting(
    api: Any, tmp_path: Path
) -> None:
    text = (
        '[policy]\n"stacks:show" = "owner"\n"actions:check" = "owner"\n"stacks:delte" = "owner"\n'
    )
    (tmp_path / "zonda.toml").write_text(text)
    found = settings.load_settings({"home": str(tmp_path)}, {})
    known = {name for each in api.dispatcher.interfaces for name in each.list_operations()}
    with pytest.raises(UsageErrors) as error:
        check_operations(found, known)
    [fault] = error.value.errors
    assert "zonda.toml:4: [policy]: stacks:delte is no operation" in str(fault)
    assert "did you mean stacks:delete?" in str(fault)
