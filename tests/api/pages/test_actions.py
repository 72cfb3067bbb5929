"""Actions: a page that says what will happen, then the action; drift, its exceptions, repairs."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from tests.api.conftest import TEMPLATE, TestIdentity

from zonda.core.api.identity.callers import Caller
from zonda.core.api.identity.policy import PolicyTable
from zonda.core.api.pages.verbs import VERBS
from zonda.hooks.errors import NotFound

from .conftest import Browser, Shown, Site

FAILING = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "good": {"type": "OS::Heat::TestResource"},
        "bad": {
            "type": "OS::Heat::TestResource",
            "properties": {"fail": True},
            "depends_on": "good",
        },
    },
}
HELD = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "wait": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 600},
        },
    },
}


@pytest.fixture
def browser(site: Site) -> Browser:
    return site.open()


def find_path(browser: Browser, name: str) -> str:
    """The address of a stack's page."""
    return browser.get(f"/ui/p1/stacks/{name}").location


def act(browser: Browser, stack: str, verb: str, /, **fields: Any) -> Shown:
    """Carry out an action by its page."""
    path = f"{find_path(browser, stack)}/actions/{verb}"
    shown = browser.get(path)
    assert shown.status == 200, shown.text
    return browser.post(path, shown.csrf, **fields)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_each_action_says_what_will_happen_before_it_does(
    site: Site, browser: Browser, verb: str
) -> None:
    site.api.create(f"says-{verb}")
    path = find_path(browser, f"says-{verb}")
    shown = browser.get(f"{path}/actions/{verb}")
    assert shown.status == 200
    assert "The stack has 2 resources, nested ones included" in " ".join(shown.text.split())
    part = browser.get(f"{path}/actions/{verb}?fragment=dialog")
    assert part.html.lstrip().startswith('<section data-fragment="dialog"')
    assert browser.get(path).status == 200, "nothing has happened"


def test_the_page_of_a_stack_offers_what_it_may_take(site: Site, browser: Browser) -> None:
    site.api.create("offers")
    shown = browser.get(find_path(browser, "offers"))
    assert {"Suspend", "Check", "Delete", "Update"} <= set(shown.text.split())
    assert not {"Resume", "Retry", "Cancel"} & set(shown.text.split())


@pytest.mark.parametrize(
    ("verb", "end"), [("suspend", "SUSPEND_COMPLETE"), ("check", "CHECK_COMPLETE")]
)
def test_an_action_leads_to_the_page_of_its_stack(
    site: Site, browser: Browser, verb: str, end: str
) -> None:
    site.api.create(verb)
    done = act(browser, verb, verb)
    assert (done.status, done.location) == (303, find_path(browser, verb))
    assert site.api.wait(done.location) == end
    if verb == "suspend":
        assert site.api.wait(act(browser, verb, "resume").location) == "RESUME_COMPLETE"


def test_a_deletion_shows_its_plan_and_needs_the_name(site: Site, browser: Browser) -> None:
    site.api.create("going")
    path = find_path(browser, "going")
    shown = browser.get(f"{path}/actions/delete")
    assert "2 to delete" in shown.text
    for name in ("", "Going", "other"):
        refused = browser.post(f"{path}/actions/delete", shown.csrf, name=name)
        assert refused.status == 400
        assert "Type going, the name of the stack, to confirm that." in refused.text
    done = browser.post(f"{path}/actions/delete", shown.csrf, name="going")
    assert site.api.wait(done.location) == "DELETE_COMPLETE"
    gone = browser.get(path)
    assert gone.status == 200
    assert "Deleted at" in gone.text
    assert "/actions/" not in gone.html
    assert browser.get(f"{path}/actions/delete").status == 404


def test_a_protected_stack_says_why_it_is_not_deleted(site: Site, browser: Browser) -> None:
    site.api.create("safe")
    act(browser, "safe", "protect")
    shown = browser.get(find_path(browser, "safe"))
    assert "End protection" in shown.text
    refused = act(browser, "safe", "delete", name="safe")
    assert refused.status in (400, 409)
    assert "protected" in refused.text
    act(browser, "safe", "unprotect")
    assert act(browser, "safe", "delete", name="safe").status == 303


def test_cancel_with_and_without_a_rollback(site: Site, browser: Browser) -> None:
    for name, rollback, end in (("back", "yes", "ROLLBACK"), ("stays", "no", "CREATE_FAILED")):
        path = site.api.create(name, HELD, wait=False)
        if rollback == "yes":
            assert act(browser, name, "cancel", rollback=rollback).status == 400
        done = act(
            browser, name, "cancel", rollback=rollback, name=name if rollback == "yes" else ""
        )
        assert done.status == 303, done.text
        assert site.api.wait(path).startswith(end), name


def test_a_signal_with_data_ends_a_wait(site: Site, browser: Browser) -> None:
    path = site.api.create("signalled", HELD, wait=False)
    bad = act(browser, "signalled", "signal", resource="handle", details="{")
    assert (bad.status, "no JSON" in bad.text) == (400, True)
    missing = act(browser, "signalled", "signal", resource="nope", details="{}")
    assert missing.status == 404
    assert act(browser, "signalled", "signal", resource="handle", details="{}").status == 303
    assert site.api.wait(path) == "CREATE_COMPLETE"


def test_a_breakpoint_is_shown_and_cleared(site: Site, browser: Browser) -> None:
    paused = {"resource_registry": {"resources": {"second": {"hooks": "pre-create"}}}}
    path = site.api.create("paused", wait=False, environment=paused)
    stack_id = path.rpartition("/")[2]
    reader = site.service.reader
    while not any(row.hook for row in reader.resource_rows(stack_id)):
        with suppress(TimeoutError, NotFound):  # it rests at the breakpoint
            site.api.app.engine.look(stack_id, 0.1)
    shown = browser.get(find_path(browser, "paused"))
    assert "waits at pre-create" in shown.text
    page = browser.get(f"{find_path(browser, 'paused')}/resources/second")
    assert "Clear breakpoint" in page.text
    assert act(browser, "paused", "clear-hook", resource="second").status == 303
    assert site.api.wait(path) == "CREATE_COMPLETE"


def test_a_failure_says_why_and_is_retried_or_rolled_back(site: Site, browser: Browser) -> None:
    site.api.create("broken", FAILING)
    path = find_path(browser, "broken")
    for shown in (browser.get(path), browser.get(f"{path}/why"), browser.get(f"{path}/why?at=1")):
        text = " ".join(shown.text.split())
        assert "CREATE of bad (OS::Heat::TestResource) failed" in text
        assert "→" in text, "advice"
        assert "    5 | " in shown.text or "| " in shown.text, "the line of the template"
    shown = browser.get(f"{path}/actions/retry")
    assert "to replace" in shown.text or "to create" in shown.text
    assert site.api.wait(act(browser, "broken", "retry").location) == "CREATE_FAILED"
    assert "Generation 2" in browser.get(f"{path}/why").text
    for at in ("99", "x", "1" * 30):
        assert browser.get(f"{path}/why?at={at}").status == 404


def test_a_rollback_to_a_generation(site: Site, browser: Browser) -> None:
    path = site.api.create("rolled")
    more = {**TEMPLATE["resources"], "third": {"type": "OS::Heat::None"}}
    other = {**TEMPLATE, "resources": more}
    site.api("PUT", path, {"template": other})
    site.api.wait(path)
    assert act(browser, "rolled", "rollback", to="zero").status == 400
    assert act(browser, "rolled", "rollback", to="99").status in (400, 404)
    unnamed = act(browser, "rolled", "rollback", to="1")
    assert unnamed.status == 400, "it deletes a resource"
    assert "1 to delete" in unnamed.text
    done = act(browser, "rolled", "rollback", to="1", name="rolled")
    assert done.status == 303, done.text
    assert site.api.wait(path) == "ROLLBACK_COMPLETE"


def test_an_action_that_is_not_possible_now_says_so(site: Site, browser: Browser) -> None:
    site.api.create("idle")
    refused = act(browser, "idle", "cancel", rollback="no")
    assert refused.status in (400, 409)
    assert 'role="alert"' in refused.html
    assert browser.get(f"{find_path(browser, 'idle')}/actions/explode").status == 404


def test_a_reader_may_check_and_nothing_else(site: Site) -> None:
    path = site.api.create("readable")
    stack = f"/ui/p1/stacks/{path.rpartition('/')[2]}"
    reader = site.open("p1/reader")
    csrf = reader.get("/ui/p1/stacks").csrf
    for verb in VERBS:
        expected = 200 if verb.name == "check" else 403
        assert reader.get(f"{stack}/actions/{verb.name}").status == expected, verb.name
        done = reader.post(f"{stack}/actions/{verb.name}", csrf, name="readable")
        assert done.status == (303 if verb.name == "check" else 403), verb.name
    for part in ("check", "repair", "ignore", "unignore"):
        assert reader.post(f"{stack}/drift/{part}", csrf).status == 403
    assert reader.get(f"{stack}/update").status == 403
    assert reader.post(f"{stack}/update", csrf).status == 403


# -- drift -----------------------------------------------------------------------------------------


def check_drift(site: Site, browser: Browser, path: str) -> Shown:
    """Check by the page, and wait for the end of the check."""
    done = browser.post(f"{path}/drift/check", browser.get(f"{path}/drift").csrf)
    assert done.location == f"{path}/drift", done.text
    stack_id = path.rpartition("/")[2]
    newest = site.service.reader.drift_checks(stack_id, 1)[0]
    while site.api.app.engine.wait_for_check(newest.id, 0.1).is_running:
        pass
    return browser.get(f"{path}/drift")


def test_nobody_has_looked_yet(site: Site, browser: Browser) -> None:
    site.api.create("unseen")
    shown = browser.get(f"{find_path(browser, 'unseen')}/drift")
    assert "Nobody has looked yet." in shown.text
    assert "Check now" in shown.text


def test_a_check_its_findings_an_exception_and_its_end(site: Site, browser: Browser) -> None:
    site.api.create("looked")
    path = find_path(browser, "looked")
    shown = check_drift(site, browser, path)
    found = re.search(r"/drift\?check=([\w-]+)", shown.html)
    assert found
    assert browser.get(f"{path}/drift?check={found[1]}").status == 200
    assert browser.get(f"{path}/drift?check=nope").status == 404
    csrf = shown.csrf
    for fields in ({}, {"resource": "first"}, {"resource": "first", "reason": "x", "until": "1d"}):
        done = browser.post(f"{path}/drift/ignore", csrf, **fields)
        assert done.status == (303 if len(fields) == 3 else 400)
    late = browser.post(f"{path}/drift/ignore", csrf, resource="first", reason="x", until="2001")
    assert (late.status, "no time to come" in late.text) == (400, True)
    shown = browser.get(f"{path}/drift")
    found = re.search(r'name="ignore" value="([^"]+)"', shown.html)
    assert found
    assert browser.post(f"{path}/drift/unignore", csrf, ignore=found[1]).status == 303
    assert browser.post(f"{path}/drift/unignore", csrf, ignore=found[1]).status == 404
    assert "None: every difference counts." in browser.get(f"{path}/drift").text


def test_a_repair_is_planned_first(site: Site, browser: Browser) -> None:
    site.api.create("repaired")
    path = find_path(browser, "repaired")
    shown = browser.get(f"{path}/drift/repair")
    assert shown.status == 200, shown.text
    assert "Nothing has been done yet." in shown.text
    done = browser.post(f"{path}/drift/repair", shown.csrf)
    assert done.status == 303


# -- the policy ------------------------------------------------------------------------------------


class OtherUser(TestIdentity):
    """Another member of the same project."""

    __test__ = False

    def authenticate(self, headers: Any) -> Caller | None:
        found = super().authenticate(headers)
        return None if found is None else replace(found, user="bob", user_id="u2")


def test_the_rule_of_an_operation_counts_on_its_page(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/ui/p1/stacks/{site.api.create('ruled').rpartition('/')[2]}"
    other = site.serve(OtherUser()).sign_in("p1")
    form = other.get(f"{path}/update")
    plan = other.post(f"{path}/update", form.csrf, template="heat_template_version: 2018-08-31")
    rules = {"stacks:update": "owner", "stacks:delete": "never", "drift:check": "never"}
    table = PolicyTable(rules, {})
    monkeypatch.setattr(site.service, "policies", table)
    applied = other.post(f"{plan.location}/apply", form.csrf, name="ruled")
    assert applied.status == 403
    assert other.get(f"{path}/update").status == 403
    assert other.post(f"{path}/actions/protect", form.csrf).status == 403
    assert other.post(f"{path}/drift/check", form.csrf).status == 403
    assert browser.get(f"{path}/update").status == 200, "it is the owner's"
    deleted = browser.post(f"{path}/actions/delete", browser.get(path).csrf, name="ruled")
    assert deleted.status == 403
    assert browser.get(path).status == 200
