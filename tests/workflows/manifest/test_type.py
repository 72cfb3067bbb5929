"""Types that manifests declare: requests, stored data, attributes, decisions."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.workflows.manifests import DISK, a_life, a_runner, ends, type_of

from zonda.hooks.errors import NotFound, NotReady, ResourceFailure
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners import Failed, Finished, Lost, Retry, Running, Succeeded
from zonda.hooks.schema import examples
from zonda.hooks.testing import FakeOperation, FakeRunner


def actions(runner: FakeRunner) -> list[str]:
    """What was sent, in order."""
    return [request.action for request in runner.requests]


def test_a_life() -> None:
    runner = a_runner()
    life = a_life(runner, tags={"a": "b"})
    life.validate()
    life.create()
    assert life.resource_id == "d1"
    assert runner.requests[0].inputs == {"size": 3, "tags": {"a": "b"}}
    assert (life.attribute("path"), life.attribute("summary")) == ("/a", "fast 3")
    assert life.update({"size": 3, "tags": {"a": "b"}}) == "unchanged"
    assert life.update({"size": 4}) == "updated"
    # without a mapping: every property that has a value
    assert runner.requests[1].inputs == {"size": 4, "pool": "fast"}
    assert runner.requests[1].old_inputs == {"size": 3, "tags": {"a": "b"}}
    assert life.update({"size": 4, "pool": "large"}) == "replaced"
    life.delete()
    assert actions(runner) == ["CREATE", "UPDATE", "CREATE", "DELETE", "DELETE"]


def test_without_update_every_change_replaces() -> None:
    runner = a_runner()
    life = a_life(runner, DISK.replace("  UPDATE: up\n", ""))
    life.create()
    assert life.update({"size": 4}) == "replaced"
    assert actions(runner) == ["CREATE", "CREATE", "DELETE"]


def test_metadata_alone_runs_nothing() -> None:
    runner = a_runner()
    life = a_life(runner)
    life.create()
    life.update({"size": 3}, metadata={"a": 1})
    assert actions(runner) == ["CREATE"]


def test_a_failed_update_is_tried_again() -> None:
    runner = a_runner(up=[Finished(Failed("no room")), Finished(Succeeded({}))])
    life = a_life(runner)
    life.create()
    with pytest.raises(ResourceFailure, match="no room"):
        life.update({"size": 4})
    assert life.update({"size": 4}) == "updated"
    assert actions(runner) == ["CREATE", "UPDATE", "UPDATE"]


def test_what_a_manifest_leaves_out_its_class_does_not_have() -> None:
    bare = type_of("zonda_type: 1\nname: Acme::Bare\nactions: {CREATE: mk}\n")
    full = type_of(DISK.replace("  DELETE: rm", "  SUSPEND: s\n  RESUME: r\n  DELETE: rm"))
    handlers = ("handle_suspend", "handle_resume", "handle_check")
    assert not any(hasattr(bare, name) for name in handlers)
    assert all(hasattr(full, name) for name in handlers)
    assert bare.get_live_state is Resource.get_live_state
    assert full.get_live_state is not Resource.get_live_state


def test_the_schema_is_one_like_any_other() -> None:
    cls = type_of()
    shown = {name: schema.to_dict() for name, schema in cls.properties_schema.items()}
    assert shown["size"]["constraints"] == [{"range": {"min": 1}}]
    assert [shown[name]["update_allowed"] for name in ("size", "pool", "tags")] == [
        True,
        False,
        True,
    ]
    assert examples.build_properties(cls.properties_schema, cls.example) == {"size": 1}
    assert (cls.declared_by.name, cls.__doc__) == ("Acme::Disk", "A disk.")


def test_outputs_are_mapped() -> None:
    text = DISK.replace(
        "get_property: tags}}}", "get_property: tags}}, output: {path: {get_output: [disk, 0]}}}"
    )
    runner = a_runner(mk=ends(disk=["/x"], noise=1))
    life = a_life(runner, text)
    life.create()
    assert life.attribute("path") == "/x"
    life.update({"size": 4})
    assert runner.requests[-1].data == {"path": "/x"}


TEXT = "get_property: tags}}, output: {path: {get_output: [disk, 0]}}}"


@pytest.mark.parametrize(
    "manifest", [DISK, DISK.replace("get_property: tags}}}", TEXT)], ids=["attributes", "output"]
)
def test_text_instead_of_outputs_that_are_promised_is_a_failure(manifest: str) -> None:
    runner = a_runner(mk=ends(stdout="made it"))
    life = a_life(runner, manifest)
    with pytest.raises(ResourceFailure, match=r"CREATE gave no (path|disk), but text: made it"):
        life.create()
    assert life.resource_id is None
    life.delete()
    assert actions(runner) == ["CREATE", "DELETE"]


def test_text_is_an_output_where_none_is_promised() -> None:
    runner = a_runner(mk=ends(stdout="/made"), up=ends(stdout="done"))
    life = a_life(runner, DISK.replace("path: {type", "stdout: {type"))
    life.create()
    assert life.attribute("stdout") == "/made"
    runner = a_runner(up=ends(stdout="done"))
    life = a_life(runner)
    life.create()
    life.update({"size": 4})
    life.delete()
    assert actions(runner) == ["CREATE", "UPDATE", "DELETE"]
    assert runner.requests[-1].data == {"resource_id": "d1", "path": "/a", "stdout": "done"}


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("{get_property: [tags, a]}", "b"),
        ("{get_property: [tags, z]}", None),
        ("{get_property: pool}", "fast"),
        ("{get_resource: name}", "resource"),
        ("{get_resource: stack_name}", "teststack"),
        (
            '{list_join: ["-", [{get_property: pool}, 1, true, {get_property: [tags, z]}]]}',
            "fast-1-true",
        ),
        ("{plain: [1, {get_property: size}]}", {"plain": [1, 3]}),
        ("[{get_property: size}]", [3]),
    ],
)
def test_the_mapping_language(written: str, sent: Any) -> None:
    text = DISK.replace(
        "{size: {get_property: size}, tags: {get_property: tags}}", f"{{it: {written}}}"
    )
    runner = a_runner()
    a_life(runner, text, tags={"a": "b"}).create()
    assert runner.requests[0].inputs == {"it": sent}


# -- secrets --------------------------------------------------------------------------------------

SECRET = DISK.replace(
    "input: {size: {get_property: size},",
    "input: {token: {secret: env:TOKEN}, size: {get_property: size},",
)


def test_a_secret_is_sent_and_kept_nowhere() -> None:
    runner = a_runner(mk=[Finished(Succeeded({"resource_id": "d1", "path": "/hushhush"}))])
    life = a_life(runner, SECRET)
    life.context.secrets["env:TOKEN"] = "hushhush"
    life.create()
    assert runner.requests[0].inputs["token"] == "hushhush"
    assert "hushhush" not in repr(life.saved.data)
    assert life.attribute("path") == "/(hidden)"


def test_a_reason_does_not_tell_a_secret() -> None:
    life = a_life(a_runner(mk=[Finished(Failed("bad token hushhush"))]), SECRET)
    life.context.secrets["env:TOKEN"] = "hushhush"
    with pytest.raises(ResourceFailure, match=r"bad token \(hidden\)"):
        life.create()


def test_progress_does_not_tell_a_secret() -> None:
    waiting = [Retry(1.0, "no hushhush yet", answered=True), Running(message="with hushhush")]
    runner = a_runner(mk=[*waiting, Succeeded({"resource_id": "d1"})])
    life = a_life(runner, SECRET)
    life.context.secrets["env:TOKEN"] = "hushhush"
    life.create()
    assert life.context.messages == [
        "waiting for the runner: no (hidden) yet, next try in 1 s",
        "running",
        "with (hidden)",
    ]


def test_a_secret_that_is_not_there_is_told() -> None:
    with pytest.raises(Exception, match="env:TOKEN"):
        a_life(a_runner(), SECRET).create()


# -- time and tries -------------------------------------------------------------------------------

LIMITED = DISK.replace("CREATE: {", "CREATE: {timeout: 30, on_timeout: %s, ")


@pytest.mark.parametrize(("what", "cancelled"), [("fail", []), ("cancel", ["exec-1"])])
def test_a_run_whose_time_is_over(what: str, cancelled: list[str]) -> None:
    runner = a_runner(mk=[Running(poll_after=7)])
    life = a_life(runner, LIMITED % what)
    with pytest.raises(ResourceFailure, match="longer than its timeout"):
        life.create()
    assert runner.cancelled == cancelled
    begun = runner.requests[0]
    assert begun.deadline == begun.started_at + 30


def test_a_cancelled_run_that_ends_in_time_counts() -> None:
    runner = a_runner(mk=[*[Running(poll_after=10)] * 4, Succeeded({"resource_id": "d2"})])
    life = a_life(runner, LIMITED % "cancel")
    life.create()
    assert (life.resource_id, runner.cancelled) == ("d2", ["exec-1"])


@pytest.mark.parametrize("what", ["fail", "cancel"])
def test_a_run_that_ended_while_the_machine_slept_took_no_longer_than_its_timeout(
    what: str,
) -> None:
    runner = a_runner(mk=[Succeeded({"resource_id": "d2"})])
    life = a_life(runner, LIMITED % what)
    poll = runner.poll

    def polled(token: Any) -> Any:
        life.context.clock.jump(3600.0)
        return poll(token)

    runner.poll = polled  # type: ignore[method-assign]
    life.timeout = 86400.0
    life.create()
    assert (life.resource_id, runner.cancelled) == ("d2", [])


def test_a_run_has_its_timeout_also_after_a_clock_was_set_back() -> None:
    runner = a_runner(mk=[Running(poll_after=7)])
    life = a_life(runner, LIMITED % "fail")
    start = runner.start

    def started(request: Any) -> Any:
        answer = start(request)
        life.context.clock.jump(-5 * 86400.0)
        return answer

    runner.start = started  # type: ignore[method-assign]
    begun = life.context.clock.monotonic()
    with pytest.raises(ResourceFailure, match="longer than its timeout"):
        life.create()
    assert life.context.clock.monotonic() - begun < 70


RETRIED = DISK.replace("CREATE: {", "CREATE: {retries: 2, retry_delay: 5, ")


def test_a_failed_run_is_run_again_with_another_key() -> None:
    failing = [Finished(Failed("no")), Finished(Failed("no")), Finished(Succeeded({}))]
    runner = a_runner(mk=failing)
    life = a_life(runner, RETRIED)
    life.create()
    assert len({request.key for request in runner.requests}) == 3
    assert life.saved.data["create_key"] == runner.requests[-1].key


def test_a_failed_run_that_made_something_is_not_run_again() -> None:
    runner = a_runner(mk=[Finished(Failed("half", {"resource_id": "d9"}))])
    life = a_life(runner, RETRIED)
    with pytest.raises(ResourceFailure, match="half"):
        life.create()
    assert (life.resource_id, len(runner.requests)) == ("d9", 1)


# -- another id -----------------------------------------------------------------------------------


def test_another_id_is_refused() -> None:
    life = a_life(a_runner(up=ends(resource_id="d2")))
    life.create()
    with pytest.raises(ResourceFailure, match="another resource_id"):
        life.update({"size": 4})
    assert life.resource_id == "d1"


def test_another_id_that_is_allowed_has_the_former_one_deleted() -> None:
    runner = a_runner(up=ends(resource_id="d2"))
    life = a_life(runner, DISK + "allow_id_change: true\n")
    life.create()
    life.update({"size": 4})
    assert life.resource_id == "d2"
    assert actions(runner) == ["CREATE", "UPDATE", "DELETE"]
    assert runner.requests[-1].resource.physical_id == "d1"
    assert len({request.key for request in runner.requests}) == 3


@pytest.mark.parametrize("then", ["update", "delete"])
def test_what_had_the_former_id_and_could_not_be_deleted_is_deleted_later(then: str) -> None:
    runner = a_runner(
        up=ends(resource_id="d2"), rm=[Finished(Failed("busy")), Finished(Succeeded({}))]
    )
    life = a_life(runner, DISK + "allow_id_change: true\n")
    life.create()
    with pytest.raises(ResourceFailure, match="busy"):
        life.update({"size": 4})
    if then == "update":
        assert life.update({"size": 4}) == "updated"
    life.delete()
    deleted = [r.resource.physical_id for r in runner.requests if r.action == "DELETE"]
    assert sorted(deleted) == ["d1", "d1", "d2"]


def test_a_kill_between_update_and_the_deletion_of_the_former_id() -> None:
    runner = a_runner(up=ends(resource_id="d2"))
    life = a_life(runner, DISK + "allow_id_change: true\n")
    life.create()
    instance = life.instance()
    life.context.operation = FakeOperation("op", "UPDATE", 0.0, 1e12)
    token = instance.handle_update(life.definition.freeze(properties={"size": 4}), {}, {"size": 4})
    stored = copy.deepcopy(token)
    with pytest.raises(NotReady):
        life.instance().check_update_complete(token)
    # killed before the token of the DELETE was stored
    with pytest.raises(NotReady):
        life.instance().check_update_complete(stored)
    assert stored == token
    with pytest.raises(NotReady):
        life.instance().check_update_complete(token)  # sends it
    assert life.instance().check_update_complete(token)
    assert actions(runner) == ["CREATE", "UPDATE", "DELETE"]


# -- CHECK ----------------------------------------------------------------------------------------


def test_check_tells_what_it_observes() -> None:
    runner = a_runner(look=ends(size=4, tags={"a": 1}, noise=1))
    life = a_life(runner)
    life.create()
    before = dict(life.saved.data)
    assert life.live_state() == {"size": 4, "tags": {"a": 1}}
    assert actions(runner) == ["CREATE", "CHECK"]
    assert life.saved.data == before


def test_a_check_that_takes_time_is_one_run() -> None:
    runner = a_runner(look=[Running(), Running(poll_after=2), Succeeded({"size": 3})])
    life = a_life(runner)
    life.create()
    assert life.live_state() == {"size": 3}
    assert actions(runner) == ["CREATE", "CHECK"]
    assert life.live_state() == {"size": 3}
    assert len({request.key for request in runner.requests}) == 3


def test_what_is_gone_is_missing() -> None:
    life = a_life(a_runner(look=ends(exists=False)))
    life.create()
    with pytest.raises(NotFound):
        life.live_state()


@pytest.mark.parametrize(
    "answer",
    [Finished(Failed("unreachable")), Finished(Succeeded({})), Finished(Succeeded({"other": 1}))],
    ids=["fails", "empty", "something else"],
)
def test_a_check_that_tells_nothing_is_an_error(answer: Finished) -> None:
    life = a_life(a_runner(look=[answer]))
    life.create()
    with pytest.raises(ResourceFailure):
        life.live_state()


def test_a_lost_check_is_an_error() -> None:
    life = a_life(a_runner(look=[Running(), Lost("no such run")]))
    life.create()
    with pytest.raises(ResourceFailure, match="no such run"):
        life.live_state()


def test_stack_check_fails_on_a_difference_and_the_next_update_puts_it_right() -> None:
    runner = a_runner(look=[Finished(Succeeded({"size": 5})), Finished(Succeeded({"size": 3}))])
    life = a_life(runner)
    life.create()
    with pytest.raises(ResourceFailure, match=r"size \(template 3, there 5\)"):
        life.check()
    assert not life.instance().needs_replace_failed()
    assert life.update({"size": 3}) == "updated"
    life.check()
    assert actions(runner) == ["CREATE", "CHECK", "UPDATE", "CHECK"]


def test_what_stack_check_finds_gone_is_made_again() -> None:
    runner = a_runner(look=ends(exists=False))
    life = a_life(runner)
    life.create()
    with pytest.raises(ResourceFailure, match="gone"):
        life.check()
    assert life.instance().needs_replace_failed()


def test_a_hidden_property_is_not_told() -> None:
    life = a_life(a_runner(look=ends(size=5)), DISK.replace("integer,", "integer, hidden: true,"))
    life.create()
    with pytest.raises(ResourceFailure, match=r"size \(hidden\)$"):
        life.check()


def test_exists_may_be_mapped() -> None:
    text = DISK.replace(
        "observes: [size, tags]", "observes: [size], exists: {get_output: [found, it]}"
    )
    life = a_life(a_runner(look=ends(found={"it": False})), text)
    life.create()
    with pytest.raises(NotFound):
        life.live_state()


def test_an_import_looks_and_takes_over_what_it_sees() -> None:
    runner = a_runner(look=ends(size=5, path="/old"))
    life = a_life(runner)
    life.adopt({"resource_id": "d7"})
    assert (life.resource_id, life.attribute("path")) == ("d7", "/old")
    assert actions(runner) == ["CHECK"]
    life.update({"size": 4})
    assert runner.requests[-1].old_inputs == {"size": 3, "tags": None}
