"""The base class of resources and the driver that plug-in authors test with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from zonda.hooks import attributes, properties
from zonda.hooks.errors import (
    InvalidTemplateAttribute,
    NotFound,
    NotReady,
    NotSupported,
    PluginError,
    ResourceFailure,
    TemplateError,
    UpdateReplace,
    UsageError,
    ValidationErrors,
)
from zonda.hooks.resources.resource import Resource, ResourceDefinition
from zonda.hooks.runners import (
    Finished,
    ResourceRef,
    Retry,
    Running,
    StackRef,
    Started,
    StartRequest,
    Succeeded,
)
from zonda.hooks.testing import FakeClock, FakeContext, FakeRunner, Lifecycle

Schema = properties.Schema


class Server(Resource):
    """Takes three checks to become active."""

    properties_schema: ClassVar[Mapping[str, Schema]] = {
        "name": Schema(Schema.STRING, required=True),
        "size": Schema(Schema.NUMBER, default=1, update_allowed=True),
        "zone": Schema(Schema.STRING, immutable=True),
        "resize": Schema(Schema.STRING, default="live", update_allowed=True),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "size": attributes.Schema("The size."),
        "tags": attributes.Schema("The tags."),
    }

    def validate(self) -> None:
        if self.properties["name"] == "bad":
            raise TemplateError("bad is a bad name")

    def handle_create(self) -> dict[str, Any]:
        self.resource_id_set(self.physical_resource_name())
        self.data_set("size", self.properties["size"])
        self.data_set("key", "secret", redact=True)
        return {"left": 3, "pair": (1, 2)}

    def check_create_complete(self, token: dict[str, Any]) -> bool:
        assert token["pair"] == [1, 2]
        token["left"] -= 1
        self.context.progress(f"{token['left']} left")
        return bool(token["left"] == 0)

    def needs_replace_with_prop_diff(self, changed: Any, after: Any, before: Any) -> bool:
        return "size" in changed and after["resize"] == "replace"

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        if prop_diff.get("size") == 13:
            raise UpdateReplace(self.name)
        if prop_diff.get("size") == 99:
            raise ResourceFailure("too big")
        if "size" in prop_diff:
            self.data_set("size", prop_diff["size"])

    def handle_suspend(self) -> None:
        self.metadata_set({"asleep": True})

    def handle_resume(self) -> None:
        self.metadata_set({})

    def handle_check(self) -> None:
        if self.metadata_get().get("asleep"):
            raise ResourceFailure("asleep")

    def handle_delete(self) -> None:
        self.data_delete_all()
        self.resource_id_set(None)

    def handle_signal(self, details: Any = None) -> Any:
        return {"got": details}

    def _resolve_attribute(self, name: str) -> Any:
        return self.data().get("size") if name == "size" else {"a": ["x"]}


def server(**given: Any) -> Lifecycle:
    return Lifecycle(Server, {"name": "web", **given}, name="web", type_name="My::Server")


def test_a_whole_life() -> None:
    web = server(size=2)
    web.validate()
    web.create()
    assert web.state == ("CREATE", "COMPLETE")
    assert web.polls == 3
    assert web.context.messages == ["2 left", "1 left", "0 left"]
    assert web.context.clock.monotonic() == 2.0
    assert web.resource_id == web.reference
    assert web.reference.startswith("teststack-web-")
    assert web.saved.redacted == {"key"}
    assert web.attribute("size") == "2"
    assert web.attribute("tags", "a", 0) == "x"
    assert web.update({"name": "web", "size": 3}) == "updated"
    assert web.attribute("size") == "3"
    web.suspend()
    assert web.saved.metadata == {"asleep": True}
    with pytest.raises(ResourceFailure, match="asleep"):
        web.check()
    web.resume()
    web.check()
    assert web.signal({"a": 1}) == {"got": {"a": 1}}
    web.delete()
    assert web.saved.data == {}
    assert web.resource_id is None
    assert web.history == [
        ("CREATE", "COMPLETE"),
        ("UPDATE", "COMPLETE"),
        ("SUSPEND", "COMPLETE"),
        ("CHECK", "FAILED"),
        ("RESUME", "COMPLETE"),
        ("CHECK", "COMPLETE"),
        ("DELETE", "COMPLETE"),
    ]


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        pytest.param({"name": "web"}, "unchanged", id="same"),
        pytest.param({"name": "web", "size": 1}, "updated", id="default-written-out"),
        pytest.param({"name": "web", "size": 2}, "updated", id="in-place"),
        pytest.param({"name": "other"}, "replaced", id="not-allowed-in-place"),
        pytest.param({"name": "web", "size": 13}, "replaced", id="the-handler-says-so"),
        pytest.param(
            {"name": "web", "size": 2, "resize": "replace"}, "replaced", id="by-the-difference"
        ),
    ],
)
def test_what_an_update_becomes(after: dict[str, Any], outcome: str) -> None:
    web = server()
    web.create()
    before = web.uuid, web.resource_id
    assert web.update(after) == outcome
    assert (web.uuid, web.resource_id) != before if outcome == "replaced" else True
    assert web.status == "COMPLETE"
    assert web.instance().properties["name"] == after["name"]


def test_a_replaced_resource_is_deleted_after_the_new_one_was_made() -> None:
    web = server()
    web.create()
    web.update({"name": "other"})
    assert web.history == [
        ("CREATE", "COMPLETE"),
        ("CREATE", "COMPLETE"),
        ("DELETE", "COMPLETE"),
    ]
    assert web.resource_id is not None


def test_an_immutable_property_cannot_change() -> None:
    web = server(zone="a")
    web.create()
    with pytest.raises(NotSupported, match=r"Update to properties zone of web \(My::Server\)"):
        web.update({"name": "web", "zone": "b"})


def test_a_failed_resource_is_replaced_by_the_next_update() -> None:
    web = server()
    web.create()
    with pytest.raises(ResourceFailure, match="too big"):
        web.update({"name": "web", "size": 99})
    assert web.state == ("UPDATE", "FAILED")
    assert web.update({"name": "web", "size": 2}) == "replaced"


def test_what_was_never_completed_is_deleted_before_its_replacement_is_made() -> None:
    web = server()
    web.timeout = 1.0
    with pytest.raises(ResourceFailure, match="timed out"):
        web.create()
    web.timeout = 3600.0
    assert web.update({"name": "web", "size": 2}) == "replaced"
    assert web.history == [("CREATE", "FAILED"), ("DELETE", "COMPLETE"), ("CREATE", "COMPLETE")]


def test_bad_properties_fail_before_the_handler_is_called() -> None:
    web = Lifecycle(Server, {"size": "x"}, name="web")
    with pytest.raises(ValidationErrors) as caught:
        web.create()
    assert [str(error) for error in caught.value.errors] == [
        "Property error: web.Properties: Property name not assigned",
        "Property error: web.Properties.size: could not convert string to float: 'x'",
    ]
    assert web.resource_id is None
    with pytest.raises(ValidationErrors, match=r"resources\.web\.properties: Property name"):
        web.validate()


def test_validation_asks_the_class_too() -> None:
    with pytest.raises(TemplateError, match="bad is a bad name"):
        server(name="bad").validate()


def test_an_unknown_attribute_is_an_error() -> None:
    web = server()
    with pytest.raises(InvalidTemplateAttribute, match=r"\(web nope\)"):
        web.attribute("nope")
    assert web.attribute("show") is None


class Observed(Resource):
    """Can tell how it is, as long as it is there."""

    def handle_create(self) -> None:
        self.resource_id_set("o1")

    def handle_delete(self) -> None:
        self.resource_id_set(None)

    def get_live_state(self) -> Mapping[str, Any]:
        if self.resource_id is None:
            raise NotFound("thing", self.name)
        return {"size": 3}


def test_a_resource_may_tell_how_it_really_is() -> None:
    observed = Lifecycle(Observed)
    observed.create()
    assert observed.live_state() == {"size": 3}
    observed.delete()
    with pytest.raises(NotFound, match="thing"):
        observed.live_state()
    assert server().live_state() is None


class Forgetful(Resource):
    """Keeps on ``self`` what it needs later."""

    def handle_create(self) -> None:
        self.job = 7

    def check_create_complete(self, token: Any) -> bool:
        return bool(self.job == 7)


def test_what_is_kept_on_self_is_lost() -> None:
    with pytest.raises(AttributeError, match="job") as caught:
        Lifecycle(Forgetful).create()
    (note,) = caught.value.__notes__
    assert note.startswith("What Forgetful keeps on self (job) lasts for one operation")


class Typo(Forgetful):
    def handle_create(self) -> None:
        self.nothing_like_it  # noqa: B018


def test_what_was_never_kept_is_not_called_lost() -> None:
    with pytest.raises(AttributeError) as caught:
        Lifecycle(Typo).create()
    assert not hasattr(caught.value, "__notes__")


class Kept(Resource):
    """Makes and deletes snapshots, polled for their end."""

    def handle_create(self) -> None:
        self.resource_id_set("kept")
        self.data_set("size", 4)

    def handle_snapshot_delete(self, state: tuple[str, str]) -> dict[str, Any]:
        return {"state": list(state)}

    def check_delete_complete(self, token: Any) -> bool:
        self.metadata_set({"deleted": token})
        return True

    def handle_delete_snapshot(self, snapshot: Mapping[str, Any]) -> dict[str, Any]:
        return {"gone": snapshot["resource_id"], "size": snapshot["resource_data"]["size"]}

    def check_delete_snapshot_complete(self, token: Any) -> bool:
        self.metadata_set(token)
        return True


def test_a_snapshot_is_deleted_by_what_describes_it() -> None:
    kept = Lifecycle(Kept)
    kept.create()
    taken = kept.snapshot()
    kept.delete_snapshot(taken)
    assert kept.saved.metadata == {"gone": "kept", "size": "4"}
    assert kept.state == ("SNAPSHOT", "COMPLETE")
    assert kept.history == [("CREATE", "COMPLETE"), ("SNAPSHOT", "COMPLETE")]


@pytest.mark.parametrize(
    ("policy", "token"),
    [
        pytest.param("Snapshot", {"state": ["CREATE", "COMPLETE"]}, id="snapshot"),
        pytest.param("Delete", None, id="delete"),
    ],
)
def test_the_deletion_policy_chooses_the_handler(policy: Any, token: Any) -> None:
    kept = Lifecycle(Kept)
    kept.create()
    kept.delete(policy)
    assert kept.saved.metadata == {"deleted": token}


class Odd(Resource):
    def handle_create(self) -> Any:
        return {1, 2}

    def check_create_complete(self, token: Any) -> bool:
        return True


def test_a_token_that_is_not_json_is_refused() -> None:
    with pytest.raises(PluginError, match="Odd gave a token that is not JSON"):
        Lifecycle(Odd).create()


class Busy(Resource):
    """Is not ready at first, then never complete."""

    def handle_create(self) -> str:
        operation = self.context.operation
        assert operation is not None
        if operation.attempt < 3:
            raise NotReady(10.0)
        return operation.id

    def check_create_complete(self, token: str) -> bool:
        assert self.context.operation is not None
        assert token == self.context.operation.id
        raise NotReady(100.0, "still at it")


def test_not_ready_is_no_failure_until_the_deadline() -> None:
    busy = Lifecycle(Busy, timeout=500.0)
    with pytest.raises(ResourceFailure, match="CREATE timed out"):
        busy.create()
    assert busy.polls == 5  # at 20, 120, 220, 320 and 420 s; at 520 s the time is over
    assert busy.context.clock.monotonic() == 520.0


class Disks:
    """A client plug-in whose client has one entity."""

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.disk = self

    def client(self) -> Disks:
        return self

    def delete(self, resource_id: str) -> None:
        if resource_id == "gone":
            raise LookupError(resource_id)
        self.deleted.append(resource_id)

    def ignore_not_found(self, error: Exception) -> None:
        if not isinstance(error, LookupError):
            raise error

    def get(self, resource_id: str) -> Any:
        return self

    def to_dict(self) -> dict[str, str]:
        return {"id": "d"}


class Disk(Resource):
    entity = "disk"
    default_client_name = "disks"

    def handle_create(self) -> None:
        self.resource_id_set(self.name)


@pytest.mark.parametrize(("name", "deleted"), [("d1", ["d1"]), ("gone", [])])
def test_deleting_and_showing_go_through_the_client(name: str, deleted: list[str]) -> None:
    disks = Disks()
    disk = Lifecycle(Disk, name=name, context=FakeContext(clients={"disks": disks}))
    disk.create()
    assert disk.attribute("show", "id") == "d"
    disk.delete()
    assert disks.deleted == deleted


class Unlisted(Disk):
    entity = "no_such_entity"


def test_a_view_that_the_client_does_not_have_is_null_and_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    disk = Lifecycle(Unlisted, context=FakeContext(clients={"disks": Disks()}))
    disk.create()
    assert disk.attribute("show") is None
    assert "no_such_entity" in caplog.text


class Angry(Disks):
    """Fails with something else than that it is not there."""

    def delete(self, resource_id: str) -> None:
        raise PermissionError("not yours")


def test_only_what_is_not_there_is_ignored_by_the_default_deletion() -> None:
    disk = Lifecycle(Disk, context=FakeContext(clients={"disks": Angry()}))
    disk.create()
    with pytest.raises(PermissionError, match="not yours"):
        disk.delete()


def test_the_base_class_asks_for_a_replacement_when_properties_change() -> None:
    class Plain(Resource):
        properties_schema: ClassVar[Mapping[str, Schema]] = {
            "p": Schema(Schema.STRING, update_allowed=True)
        }

    plain = Lifecycle(Plain, {"p": "a"})
    plain.create()
    plain.suspend()
    plain.snapshot()
    assert plain.update({"p": "a"}, metadata={"m": 1}) == "updated"
    assert plain.saved.metadata == {"m": 1}
    assert plain.update({"p": "b"}) == "replaced"
    assert plain.reference == "resource"


def test_an_instance_knows_who_it_is() -> None:
    web = server()
    instance = web.instance()
    assert (instance.state, instance.action, instance.status) == (
        ("INIT", "COMPLETE"),
        "INIT",
        "COMPLETE",
    )
    assert instance.type() == "My::Server"
    assert instance.stack.name == "teststack"
    assert instance.uuid == web.uuid
    assert instance.data_delete("nothing") is False
    long = Lifecycle(Server, name="n" * 300).instance().physical_resource_name()
    assert len(long) == 255
    definition = ResourceDefinition("x", "T")
    assert Server("x", definition, FakeContext()).physical_resource_name().endswith("0" * 12)


def test_a_physical_id_is_text_of_bounded_length() -> None:
    instance = server().instance()
    instance.resource_id_set("i" * 300)
    assert instance.resource_id == "i" * 255


def test_the_clock_only_moves_when_told_to() -> None:
    clock = FakeClock(100.0)
    clock.advance(2.5)
    assert (clock.now(), clock.monotonic()) == (102.5, 2.5)
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1)


def request(key: str, workflow: str = "mk") -> StartRequest:
    return StartRequest(
        workflow=workflow,
        action="CREATE",
        key=key,
        deadline=1.0,
        stack=StackRef("s", "s", "p"),
        resource=ResourceRef("r", "r", "T", None),
        inputs={},
    )


def test_a_runner_that_answers_by_a_script() -> None:
    retry, done = Retry(1.0, "busy", True), Succeeded({"a": 1})
    runner = FakeRunner({"mk": [retry, Running(), done], "now": [Finished(done)]})
    assert runner.start(request("k1")) == retry
    started = runner.start(request("k1"))
    assert isinstance(started, Started)
    assert runner.start(request("k1")) is started
    assert [runner.poll(started.token) for _ in range(3)] == [Running(), done, done]
    assert runner.start(request("k2", "now")) == Finished(done)
    runner.cancel(started.token, "stop")
    assert runner.cancelled == ["exec-1"]
    assert runner.polls == ["exec-1"] * 3
    assert [made.key for made in runner.requests] == ["k1", "k2"]
    with pytest.raises(ResourceFailure, match="no workflow other"):
        runner.check("other")


def test_which_runner_and_client_a_context_gives() -> None:
    runners = {name: FakeRunner({}) for name in ("default", "http", "fast")}
    context = FakeContext(runners=runners)
    assert context.runner("mk") == (runners["default"], "mk")
    assert context.runner("fast:mk") == (runners["fast"], "mk")
    assert context.runner("https://x/y") == (runners["http"], "https://x/y")
    with pytest.raises(UsageError, match="No runner slow"):
        context.runner("slow:mk")
    with pytest.raises(PluginError, match="No client plug-in nova"):
        context.client("nova")
    assert context.full_match("a+", "aa")
    assert context.constraint("x") is None
