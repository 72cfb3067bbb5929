"""Plan files of stacks with nested ones."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.nested.test_previews import FILES, ONE, WEB

from zonda.core.engine.actions import ApplyPlan, CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.hooks.errors import Conflict, UpdateReplace


def kept(bench: Any, action: Any) -> str:
    """The text of a plan file."""
    services = bench.engine.services
    return format_plan(build_preview(services, action), bench.store.sealer, services.definitions)


def update(bench: Any, resources: str, **given: Any) -> str:
    return kept(bench, UpdateStack("s", bench.bundle(resources, **{"files": FILES, **given})))


def refused(bench: Any, text: str) -> str:
    """Why a plan is not carried out; nothing has been done then."""
    before = bench.engine.reader.last_event()
    with pytest.raises(Conflict) as caught:
        bench.run(ApplyPlan(text))
    assert bench.engine.reader.last_event() == before
    return str(caught.value)


def inside(bench: Any, name: str) -> Any:
    """The nested stack of a resource of the root."""
    return bench.engine.reader.child_row(bench.resource(name).id)


def test_a_plan_is_carried_out_inside(bench):
    text = kept(bench, CreateStack("s", bench.bundle(ONE % ("small", "x"), files=FILES)))
    assert bench.run(ApplyPlan(text)).state == "CREATE_COMPLETE"
    text = update(bench, ONE % ("big", "x"))
    bench.journal.calls.clear()
    assert bench.run(ApplyPlan(text)).state == "UPDATE_COMPLETE"
    assert bench.journal.calls == [("db", "handle_update")]
    text = kept(bench, DeleteStack("s"))
    assert bench.run(ApplyPlan(text)).state == "DELETE_COMPLETE"
    assert bench.journal.of("disk")[-1] == "handle_delete"


def test_another_action_since(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    text = update(bench, ONE % ("big", "x"))
    bench.update(ONE % ("other", "x"), files=FILES)
    assert "generation 1 then, 2 now" in refused(bench, text)


def test_something_was_done_inside(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    text = update(bench, ONE % ("big", "x"))
    child = inside(bench, "web")
    with bench.store.transaction() as tx:  # as a signal to a group would do it
        tx.stack(child.id).generation += 1
    said = refused(bench, text)
    assert f"something nested in the stack has had another action since ({child.name})" in said


def test_another_state_of_a_resource_inside(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    text = update(bench, ONE % ("big", "x"))
    member = bench.engine.reader.resource(inside(bench, "web").id, "disk")
    with bench.store.transaction() as tx:
        tx.resource(member.id).status = "FAILED"
    assert "web/disk was CREATE_COMPLETE and is CREATE_FAILED" in refused(bench, text)


def test_a_plan_that_fails_inside_is_refused(bench):
    files = {"web.yaml": WEB.replace("fixed: {get_param: kind}", "frozen: {get_param: kind}")}
    bench.create(ONE % ("small", "x"), files=files)
    text = update(bench, ONE % ("small", "y"), files=files)
    assert "known to fail (web/db: " in refused(bench, text)


def test_nothing_stronger_happens_inside_than_the_plan_says(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    text = update(bench, ONE % ("big", "x"))
    bench.fails("db", "handle_update", UpdateReplace("db"))
    ended = bench.run(ApplyPlan(text))
    assert ended.state == "UPDATE_FAILED"
    assert "NotInPlan: resources.web.resources.db: replace is not in the plan" in (
        ended.status_reason
    )
    ended = bench.update(ONE % ("big", "x"), files=FILES)  # without a plan it may
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason


def test_limits_of_a_plan_end_with_it(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    bench.run(ApplyPlan(update(bench, ONE % ("big", "x"))))
    ended = bench.update(ONE % ("big", "y"), files=FILES)
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    assert bench.journal.of("db")[-1] == "handle_delete"


def test_a_plan_that_was_carried_out_says_just_that(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    text = update(bench, ONE % ("big", "x"))
    bench.run(ApplyPlan(text))
    assert refused(bench, text) == "The plan is out of date: it was carried out already."


def test_what_follows_from_an_owner_is_not_told_besides(bench):
    bench.create(ONE % ("small", "x"), files=FILES)
    text = update(bench, ONE % ("big", "x"))
    bench.update(ONE % ("big", "x"), files=FILES)
    assert refused(bench, text) == (
        "The plan for s is out of date: the stack has had another action since "
        "(generation 1 then, 2 now); web was CREATE_COMPLETE and is UPDATE_COMPLETE."
    )
