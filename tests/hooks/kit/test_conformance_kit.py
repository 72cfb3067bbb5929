"""The conformance kit finds what it is there to find: one broken type per rule."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from zonda.hooks import attributes, conformance, properties, support
from zonda.hooks.conformance import NotApplicable, property_rules
from zonda.hooks.errors import NotFound, ResourceFailure
from zonda.hooks.resources.live_state import OpaqueState
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import Range
from zonda.hooks.testing import FakeContext

Schema = properties.Schema


class Shelf:
    """An outside world: disks by id. As a client plug-in it gives itself."""

    def __init__(self) -> None:
        self.disks: dict[str, dict[str, Any]] = {}

    def client(self) -> Shelf:
        return self

    def ignore_not_found(self, error: Exception) -> None:
        if not isinstance(error, LookupError):
            raise error

    def make(self, name: str, **given: Any) -> str:
        self.disks[name] = given
        return name

    def take(self, name: str) -> None:
        del self.disks[name]


class Shelves(conformance.Backend):
    """One shelf for each trial."""

    examples = 8

    def __init__(self) -> None:
        self.shelf = Shelf()

    def context(self) -> FakeContext:
        return FakeContext(clients={"shelf": self.shelf})

    def leftovers(self) -> Collection[str]:
        return list(self.shelf.disks)

    def lose(self, resource_id: str) -> bool:
        return self.shelf.disks.pop(resource_id, None) is not None

    def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
        return {"label": ["other"]}


class Disk(Resource):
    """A disk on a shelf."""

    support_status = support.Status("1.0")
    default_client_name = "shelf"
    start_policy = "idempotent"
    properties_schema: ClassVar[Mapping[str, Schema]] = {
        "size": Schema(
            Schema.INTEGER,
            "How large.",
            default=1,
            update_allowed=True,
            constraints=[Range(1, 100)],
        ),
        "label": Schema(Schema.STRING, "What stands on it.", required=True),
        "zone": Schema(Schema.STRING, "Where it is.", immutable=True),
        "password": Schema(Schema.STRING, "Opens it.", hidden=True, update_allowed=True),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "size": attributes.Schema("How large.", type=attributes.Schema.NUMBER),
    }

    def handle_create(self) -> dict[str, str]:
        name = self.physical_resource_name()
        self.client().make(name, size=self.properties["size"], label=self.properties["label"])
        self.resource_id_set(name)
        self.data_set("password", self.properties["password"], redact=True)
        return {"name": name}

    def check_create_complete(self, token: Any) -> bool:
        return token["name"] in self.client().disks

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        disk = self.client().disks[self.resource_id]
        disk.update({key: each for key, each in prop_diff.items() if key == "size"})

    def handle_suspend(self) -> None:
        self.client().disks[self.resource_id]["asleep"] = True

    def handle_resume(self) -> None:
        self.client().disks[self.resource_id]["asleep"] = False

    def handle_check(self) -> None:
        if self.resource_id not in self.client().disks:
            raise ResourceFailure("it is gone")

    def handle_delete(self) -> None:
        if self.resource_id is None:
            return
        try:
            self.client().take(self.resource_id)
        except LookupError as error:
            self.client_plugin().ignore_not_found(error)

    def get_live_state(self) -> Mapping[str, Any]:
        disk = self.client().disks.get(self.resource_id)
        if disk is None:
            raise NotFound("disk", str(self.resource_id))
        return {"size": disk["size"], "label": disk["label"]}

    def _resolve_attribute(self, name: str) -> Any:
        return self.client().disks[self.resource_id][name]


class Quick(Shelves):
    """Leaves chance out: a type that fails by chance is looked at for long."""

    examples = 0


def rows(
    cls: type[Resource], backend: type[conformance.Backend] = Quick
) -> dict[tuple[str, str], conformance.Row]:
    report = conformance.check(cls, "Acme::Disk", backend)
    return {(row.check, row.subject): row for row in report.rows}


def test_a_good_type_passes_every_rule_that_concerns_it() -> None:
    found = rows(Disk, Shelves)
    assert {key: str(row) for key, row in found.items() if row.verdict == conformance.FAILED} == {}
    skipped = {key for key, row in found.items() if row.verdict == conformance.NOT_APPLICABLE}
    assert skipped == {("snapshot", "")}
    assert {("update", "size"), ("update", "password"), ("replace", "label")} <= found.keys()
    assert ("immutable", "zone") in found
    conformance.check(Disk, "Acme::Disk", Shelves).raise_if_failed()


class Opaque(Disk):
    """Tells whether it is there, and nothing else."""

    def get_live_state(self) -> Mapping[str, Any]:
        is_there = self.resource_id in self.client().disks
        return OpaqueState(self.properties.get_sent_values(), in_sync=is_there)


class Rosy(Disk):
    """Says that all is well, whatever there is."""

    def get_live_state(self) -> Mapping[str, Any]:
        return OpaqueState(self.properties.get_sent_values(), in_sync=True)


def test_what_is_gone_is_not_in_sync_for_who_tells_no_more() -> None:
    assert rows(Opaque)["live state", ""].verdict == conformance.PASSED


class NoWords(Disk):
    pass


class BadDefault(Disk):
    """Bad."""

    properties_schema: ClassVar[Mapping[str, Schema]] = {
        **Disk.properties_schema,
        "count": Schema(Schema.INTEGER, "Count.", default=0, constraints=[Range(1)]),
    }


class OddSignature(Disk):
    """Takes no differences."""

    def handle_update(self, json_snippet: Any) -> None:  # type: ignore[override]
        return None


class NoUpdate(Disk):
    """Declares what it cannot do."""

    handle_update = Resource.handle_update


class Forgetful(Disk):
    """Keeps its job on self."""

    def handle_create(self) -> dict[str, str]:
        self.job = super().handle_create()
        return {}

    def check_create_complete(self, token: Any) -> bool:
        return super().check_create_complete(self.job)


class Doubling(Disk):
    """Says it may be called again, and makes another one then."""

    def handle_create(self) -> dict[str, str]:
        disks = self.client().disks
        name = self.client().make(
            f"disk-{len(disks)}", size=self.properties["size"], label=self.properties["label"]
        )
        self.resource_id_set(name)
        return {"name": name}


class Finding(Doubling):
    """Looks for what was begun, by the id of the operation."""

    start_policy = "find"

    def handle_create(self) -> dict[str, str]:
        token = super().handle_create()
        assert self.context.operation is not None
        self.client().disks[token["name"]]["operation"] = self.context.operation.id
        return token

    def handle_find(self, op_id: str) -> dict[str, str] | None:
        for name, disk in self.client().disks.items():
            if disk.get("operation") == op_id:
                return {"name": name}
        return None


class Marking(Finding):
    """Marks what it makes before anything can go wrong."""

    def handle_create(self) -> dict[str, str]:
        assert self.context.operation is not None
        mark = {"operation": self.context.operation.id}
        size, label = self.properties["size"], self.properties["label"]
        disks = self.client().disks
        name = self.client().make(f"disk-{len(disks)}", size=size, label=label, **mark)
        self.resource_id_set(name)
        return {"name": name}


class Remembering(Disk):
    """Thinks that a second call finds what the first one has put on self."""

    def handle_create(self) -> dict[str, str]:
        assert self.context.operation is not None
        if self.context.operation.attempt > 1:
            return self.token
        self.token = {"name": self.physical_resource_name()}
        return super().handle_create()


class Strict(Disk):
    """Says that it may be called again, and refuses to make what is there."""

    def handle_create(self) -> dict[str, str]:
        name = self.physical_resource_name()
        self.resource_id_set(name)
        if name in self.client().disks:
            raise ValueError(f"{name} exists")
        self.client().make(name, size=self.properties["size"], label=self.properties["label"])
        return {"name": name}


class Sure(Disk):
    """Takes it that there always is something to delete."""

    def handle_delete(self) -> None:
        assert self.resource_id is not None
        self.client().disks.pop(self.resource_id, None)


class Clinging(Disk):
    """Cannot delete what is gone."""

    def handle_delete(self) -> None:
        if self.resource_id is not None:
            self.client().take(self.resource_id)


class Leaving(Disk):
    """Deletes nothing."""

    def handle_delete(self) -> None:
        return None


class Chatty(Disk):
    """Logs its password."""

    def handle_create(self) -> dict[str, str]:
        logging.getLogger("chatty").info("opened with %s", self.properties["password"])
        return super().handle_create()


class Open(Disk):
    """Shows its password as an attribute."""

    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "url": attributes.Schema("Where."),
    }

    def _resolve_attribute(self, name: str) -> Any:
        return f"disk://{self.properties['password']}@shelf"


class Mistyped(Disk):
    """Says that a number is a map."""

    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "size": attributes.Schema("How large.", type=attributes.Schema.MAP),
    }


class Deaf(Disk):
    """Ignores every update."""

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        return None


class Blind(Disk):
    """Finds all well."""

    def handle_check(self) -> None:
        return None


class Fragile(Disk):
    """Breaks at a size that few think of."""

    def handle_create(self) -> dict[str, str]:
        if self.properties["size"] > 50:
            raise ValueError("too heavy for the shelf")
        return super().handle_create()


class Busy(Disk):
    """Changes something while it is only asked."""

    def handle_check(self) -> None:
        self.metadata_set({"checked": True})


@pytest.mark.parametrize(
    ("cls", "check", "subject", "words"),
    [
        pytest.param(NoWords, "everything is described", "", "its docstring", id="docstring"),
        pytest.param(BadDefault, "defaults keep the constraints", "", "count", id="default"),
        pytest.param(
            OddSignature,
            "handlers take their arguments",
            "",
            "handle_update must take",
            id="signature",
        ),
        pytest.param(
            NoUpdate, "what is declared is carried out", "", "no handle_update", id="no-handler"
        ),
        pytest.param(Forgetful, "restart between all calls", "", "keeps on self (job)", id="self"),
        pytest.param(Doubling, "crash in create", "", "made twice", id="twice"),
        pytest.param(Remembering, "crash in create", "", "has no attribute 'token'", id="again"),
        pytest.param(
            Strict, "crash in create", "", "second call after a crash after the handler", id="end"
        ),
        pytest.param(Sure, "delete twice", "", "AssertionError", id="never-made"),
        pytest.param(Leaving, "delete twice", "", "still there after delete", id="left"),
        pytest.param(Clinging, "delete twice", "", "KeyError", id="delete-twice"),
        pytest.param(Clinging, "delete of what is gone", "", "KeyError", id="gone-by-hand"),
        pytest.param(Leaving, "replace", "label", "still there", id="left-behind"),
        pytest.param(Chatty, "secrets stay secret", "", "the log chatty", id="logged"),
        pytest.param(Open, "secrets stay secret", "", "attribute url", id="shown"),
        pytest.param(Mistyped, "attributes", "", "declared as Map", id="mistyped"),
        pytest.param(Deaf, "update", "size", "not what was asked for: size", id="deaf"),
        pytest.param(Rosy, "live state", "", "told of after its deletion", id="rosy"),
        pytest.param(Blind, "check of what is gone", "", "all is well", id="blind"),
        pytest.param(Busy, "check", "", "changed the physical id or the metadata", id="busy"),
        pytest.param(Fragile, "properties at random", "", "too heavy for the shelf", id="random"),
    ],
)
def test_a_broken_rule_is_found(cls: type[Resource], check: str, subject: str, words: str) -> None:
    found = rows(cls, Shelves if check == "properties at random" else Quick)[check, subject]
    assert found.verdict == conformance.FAILED
    assert words in found.reason


def test_the_advice_of_a_rule_is_no_leak() -> None:
    """A hidden value may be a word such as "example", which the reasons of rules use as well."""
    found = rows(Disk)
    assert "examples" in found["properties at random", ""].reason
    assert found["secrets stay secret", ""].verdict == conformance.PASSED


def test_a_type_that_finds_what_it_has_begun_makes_it_once() -> None:
    assert rows(Marking)["crash in create", ""].verdict == conformance.PASSED
    found = rows(Finding)["crash in create", ""]
    assert "made twice: interrupted after write 1" in found.reason


def test_a_name_without_a_namespace_is_found() -> None:
    report = conformance.check(Disk, "Disk")
    assert [row.check for row in report.failed] == ["type name has a namespace"]


def test_without_a_back_end_nothing_is_done() -> None:
    report = conformance.check(Disk, "Acme::Disk")
    assert [row.check for row in report.rows if row.check == "create"] == []
    assert "no back end" in report.rows[-1].reason


def test_what_cannot_be_created_is_one_fault() -> None:
    class Broken(Disk):
        """Fails."""

        def handle_create(self) -> dict[str, str]:
            raise SystemExit(3)

    report = conformance.check(Broken, "Acme::Disk", Shelves)
    assert [(row.check, row.reason) for row in report.failed] == [("create", "SystemExit: 3")]
    with pytest.raises(AssertionError, match="create"):
        report.raise_if_failed()


def test_a_fault_by_chance_is_told_with_the_properties_that_matter() -> None:
    reason = rows(Fragile, Shelves)["properties at random", ""].reason
    assert "'size'" in reason
    assert "'zone'" not in reason
    assert "(hidden)" in reason  # the password is given, and not told


def test_without_hypothesis_chance_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(property_rules.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotApplicable, match="hypothesis is not installed"):
        property_rules.check_random_lives(lambda rule: None, 3)


class Odd(BaseException):
    """What no plug-in should raise."""


class Endless(Disk):
    """Never done."""

    def handle_suspend(self) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue

    def handle_resume(self) -> None:
        return None


class Raises(Disk):
    """Raises what nobody expects."""

    def handle_suspend(self) -> None:
        raise Odd("gone")

    def handle_resume(self) -> None:
        return None


class NeverThere(Disk):
    """Asked again and again."""

    def check_create_complete(self, token: Any) -> bool:
        return False


#: The first signal may come in the callback of a weak reference, which loses it: the next counts.
LOST = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@LOST
def test_a_rule_that_finds_no_end_has_failed_and_the_rest_is_left_out() -> None:
    report = conformance.check(Endless, "Acme::Disk", Shelves, limit=0.2)
    (failed,) = report.failed
    assert failed.check == "suspend and resume"
    assert failed.reason == "it takes longer than 0.2 s"
    after = report.rows[report.rows.index(failed) + 1 :]
    summed_up = ("secrets stay secret", "what is stored is kept")
    assert {row.verdict for row in after if row.check not in summed_up} == {"not applicable"}
    assert after[0].reason == "left out: suspend and resume took too long"


@LOST
def test_a_check_that_never_says_true_has_an_end() -> None:
    report = conformance.check(NeverThere, "Acme::Disk", Shelves, limit=0.2)
    assert [row.check for row in report.failed] == ["create"]


def test_whatever_a_handler_raises_is_a_row() -> None:
    report = conformance.check(Raises, "Acme::Disk", Shelves)
    assert any("Odd: gone" in row.reason for row in report.failed)


class Interrupts(Disk):
    """Raises what only the user should."""

    def handle_suspend(self) -> None:
        raise KeyboardInterrupt

    def handle_resume(self) -> None:
        return None


class CtrlC(Interrupts):
    """The user presses Ctrl-C while it runs."""

    def handle_suspend(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def handler() -> Iterator[Callable[[Any], None]]:
    """Sets what SIGINT does; a run in the background begins with its being ignored."""
    before = signal.getsignal(signal.SIGINT)

    def does(handler: Any) -> None:
        signal.signal(signal.SIGINT, handler)

    yield does
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "does",
    [
        pytest.param(signal.default_int_handler, id="as usual"),
        pytest.param(signal.SIG_IGN, id="in the background"),
    ],
)
def test_a_plug_in_cannot_press_ctrl_c(does: Any, handler: Callable[[Any], None]) -> None:
    handler(does)
    try:
        failed, *_ = conformance.check(Interrupts, "Acme::Disk", Shelves).failed
    except KeyboardInterrupt:  # which would end the whole run, and not only this test
        pytest.fail("it was taken for the user's")
    assert (failed.check, "KeyboardInterrupt" in failed.reason) == ("suspend and resume", True)


def test_the_user_can_press_ctrl_c(handler: Callable[[Any], None]) -> None:
    handler(signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        conformance.check(CtrlC, "Acme::Disk", Shelves)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_every_row_is_told_when_it_is_there() -> None:
    rows: list[conformance.Row] = []
    report = conformance.check(Disk, "Acme::Disk", Shelves, on_row=rows.append)
    assert rows == report.rows
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class OnTheClass(Disk):
    """Knows what it has made by a map that lies on the class."""

    made: ClassVar[dict[str, str]] = {}

    def handle_create(self) -> dict[str, str]:
        token = super().handle_create()
        self.made[self.uuid] = token["name"]
        return token

    def handle_suspend(self) -> None:
        self.client().disks[self.made[self.uuid]]["asleep"] = True


class Caches(Disk):
    """Remembers on the class what it can find out anew."""

    seen: ClassVar[list[str]] = []

    def handle_create(self) -> dict[str, str]:
        self.seen.append(self.uuid)
        return super().handle_create()


class LongId(Disk):
    """An id of which the end is lost."""

    def handle_create(self) -> dict[str, str]:
        token = super().handle_create()
        self.resource_id_set("x" * 300)
        self.resource_id_set(token["name"])
        return token


class MapAsData(Disk):
    """A map where text belongs."""

    def handle_create(self) -> dict[str, str]:
        self.data_set("map", {"a": 1})
        return super().handle_create()


class NoNumber(Disk):
    """A token that JSON has not."""

    def handle_create(self) -> dict[str, Any]:
        return {**super().handle_create(), "size": float("nan")}


@pytest.mark.parametrize(
    ("cls", "said"),
    [
        pytest.param(LongId, "the physical id has 300 characters, and 255 are kept", id="long-id"),
        pytest.param(MapAsData, "data_set('map') is given a dict, and keeps its repr", id="map"),
        pytest.param(NoNumber, "the token of CREATE holds a number that JSON has not", id="nan"),
    ],
)
def test_what_is_stored_otherwise_than_meant_is_told(cls: type[Resource], said: str) -> None:
    (failed,) = conformance.check(cls, "Acme::Disk", Shelves).failed
    assert failed.check == "what is stored is kept"
    assert said in failed.reason


def test_state_on_the_class_is_lost_by_a_restart_and_a_cache_may_be() -> None:
    (failed,) = conformance.check(OnTheClass, "Acme::Disk", Shelves).failed
    assert failed.check == "restart between all calls"
    assert "OnTheClass.made" in failed.reason
    assert not conformance.check(Caches, "Acme::Disk", Shelves).failed


class Deferred(Disk):
    """Nothing of it would ever run."""

    async def handle_create(self) -> None:  # type: ignore[override]
        raise AssertionError


def test_a_class_that_could_not_be_gathered_is_told_as_that() -> None:
    (row,) = conformance.check(Deferred, "Acme::Disk", Shelves).rows
    assert (row.check, row.verdict) == ("can be used", "fail")
    assert "handle_create" in row.reason
