"""The runner that a workflow gets, also while the bundled service is away."""

from __future__ import annotations

import dataclasses
import inspect
import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from zonda.core.app import resource_services
from zonda.core.app.resource_services import LENT, ResourceServices
from zonda.core.app.runners import runner_service
from zonda.core.app.runners.bundled_runner import BundledRunner
from zonda.core.app.runners.runner_service import ServiceRecord, parse_host_and_port
from zonda.core.plugins.manager import Plugins
from zonda.core.settings import project_grants, secret_references, sections
from zonda.core.settings.project_grants import ProjectGrants
from zonda.core.settings.settings import load_settings as load_settings
from zonda.core.settings.table import Settings
from zonda.hooks import constraints
from zonda.hooks.errors import Conflict, PluginError, ResourceFailure, UsageError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    PollAnswer,
    ResourceRef,
    Retry,
    Running,
    StackRef,
    StartAnswer,
    Started,
    StartRequest,
    WorkflowRunner,
)


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Recorder(WorkflowRunner):
    """A runner that remembers how it was made and what it was asked."""

    def __init__(self, section: Mapping[str, Any]) -> None:
        self.section = dict(section)
        self.asked: list[str] = []
        self.closed = False

    def check(self, workflow: str) -> None:
        self.asked.append(f"check {workflow}")

    def start(self, request: StartRequest) -> StartAnswer:
        self.asked.append(f"start {request.workflow}")
        return Started({"id": "1"})

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        self.asked.append("poll")
        return Running(5.0)

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        self.asked.append("cancel")
        return Cancelled.DONE

    def forget(self, token: Mapping[str, Any]) -> None:
        self.asked.append("forget")

    def close(self) -> None:
        self.closed = True


class Even(constraints.BaseCustomConstraint):
    """Something to be found."""


class Compute:
    """A client plug-in."""

    def client(self) -> str:
        return "a client"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def lender(home: Path, **settings: Any) -> ResourceServices:
    plugins = Plugins(
        runners={"http": Recorder, "other": Recorder},
        constraints={"even": Even},
        client_plugins={"compute": Compute},
    )
    return ResourceServices(Settings(home=home, **settings), plugins, HandClock(), random.Random(1))


def lender_by_project(home: Path, projects: Mapping[str, Any], **settings: Any) -> ResourceServices:
    """The services of a server that tells projects apart."""
    known = Settings(home=home, runners=RUNNERS, projects=projects, **settings)
    plugins = Plugins(runners={"http": Recorder, "other": Recorder})
    grants = ProjectGrants(known)
    return ResourceServices(known, plugins, HandClock(), random.Random(1), grants=grants)


def test_what_is_lent_depends_on_settings_and_on_where_the_home_lies(tmp_path: Path) -> None:
    def setup(home: str, **settings: Any) -> str:
        made = load_settings({"home": str(tmp_path / home), **settings}, {})
        return ResourceServices(made, Plugins(), HandClock(), random.Random(1)).setup

    assert setup("one") == setup("one") != setup("two")
    assert setup("one") != setup("one", default_runner="http://r/")


def test_what_is_lent_does_not_depend_on_settings_of_the_engine(tmp_path: Path) -> None:
    def setup(**settings: Any) -> str:
        return lender(tmp_path, **settings).setup

    assert setup() == setup(workers=3, log="DEBUG", lease=7.0, drift_rate=1.0, key="k" * 32)


def test_every_setting_that_is_read_for_what_is_lent_counts() -> None:
    readers = (resource_services, sections, secret_references, project_grants, runner_service)
    texts = " ".join(map(inspect.getsource, readers))
    read = set(re.findall(r"\b(?:_?settings|known)\.(\w+)", texts))
    names = {field.name for field in dataclasses.fields(Settings)}

    assert read & names <= set(LENT) <= names


def request(clock: HandClock) -> StartRequest:
    return StartRequest(
        workflow="make",
        action="CREATE",
        key="k",
        deadline=9e9,
        stack=StackRef("1", "s", "p"),
        resource=ResourceRef("1", "r", "t", None),
        inputs={},
        started_at=clock.now(),
    )


RUNNERS = {"lab": {"kind": "other", "endpoint": "http://lab"}, "odd": {"kind": "nowhere"}}


@pytest.mark.parametrize(
    ("workflow", "default", "endpoint", "name"),
    [
        pytest.param("http://x/y", "lab", None, "http://x/y", id="url"),
        pytest.param("HTTPS://x/y", "lab", None, "HTTPS://x/y", id="url-in-capitals"),
        pytest.param("lab:make", "bundled", "http://lab", "make", id="named"),
        pytest.param("lab:a:b", "bundled", "http://lab", "a:b", id="named-with-a-colon"),
        pytest.param("make", "lab", "http://lab", "make", id="default-name"),
        pytest.param("make", "http://d/", "http://d/", "make", id="default-url"),
    ],
)
def test_a_workflow_goes_to(
    tmp_path: Path, workflow: str, default: str, endpoint: str | None, name: str
) -> None:
    runner, known_as = lender(tmp_path, runners=RUNNERS, default_runner=default).runner(workflow)

    assert isinstance(runner, Recorder)
    assert known_as == name
    assert runner.section.get("endpoint") == endpoint
    assert {"clock", "random"} <= set(runner.section)


@pytest.mark.parametrize(
    ("workflow", "default", "what"),
    [
        pytest.param("lba:make", "bundled", "did you mean lab", id="unknown-name"),
        pytest.param("make", "nobody", "There is no runner nobody", id="unknown-default"),
        pytest.param("odd:make", "bundled", "kind nowhere", id="unknown-kind"),
    ],
)
def test_a_workflow_nobody_runs_is_a_wrong_call(
    tmp_path: Path, workflow: str, default: str, what: str
) -> None:
    with pytest.raises(UsageError, match=what):
        lender(tmp_path, runners=RUNNERS, default_runner=default).runner(workflow)


@pytest.mark.parametrize(
    ("granted", "default", "workflow", "allowed"),
    [
        pytest.param("lab", "bundled", "lab:make", True, id="name"),
        pytest.param("l*", "bundled", "lab:make", True, id="pattern"),
        pytest.param("lab", "bundled", "LAB:make", False, id="capitals"),
        pytest.param("lab", "lab", "make", True, id="default"),
        pytest.param("bundled", "lab", "make", False, id="another-default"),
        pytest.param("lab", "bundled", "mistral:make", True, id="what-mistral-stands-for"),
        pytest.param("mistral", "bundled", "mistral:make", False, id="not-by-that-name"),
        pytest.param("lab", "bundled", "http://x/y", False, id="url"),
        pytest.param("http://x/*", "bundled", "http://x/y", True, id="urls-of-a-host"),
        pytest.param("http://x/*", "bundled", "http://x.y/", False, id="another-host"),
        pytest.param("http://x/*", "bundled", "http://x@y/", False, id="another-host-behind-user"),
        pytest.param("http://d/*", "http://d", "make", True, id="default-url"),
        pytest.param("lab", "http://d", "make", False, id="default-url-is-not-given"),
        pytest.param("*", "http://d", "make", True, id="all"),
    ],
)
def test_a_project_uses_the_runners_that_its_section_names(
    tmp_path: Path, granted: str, default: str, workflow: str, allowed: bool
) -> None:
    projects = {"one": {"runners": [granted]}, "two": {"runners": []}}
    lent = lender_by_project(tmp_path, projects, default_runner=default, mistral_runner="lab")
    if allowed:
        assert isinstance(lent.runner(workflow, "one")[0], Recorder)
    else:
        with pytest.raises(UsageError, match="The project one may not use the runner"):
            lent.runner(workflow, "one")
    for project in ("two", "three", ""):
        with pytest.raises(UsageError, match=f"The project {project} may not use the runner"):
            lent.runner(workflow, project)


def test_a_project_is_told_only_the_names_that_it_may_use(tmp_path: Path) -> None:
    lent = lender_by_project(tmp_path, {"one": {"runners": ["la*"]}})
    with pytest.raises(UsageError, match="There is no runner labb") as caught:
        lent.runner("labb:make", "one")
    assert caught.value.hint.endswith("There are: lab.")


@pytest.mark.parametrize(
    ("settings", "workflow", "endpoint"),
    [
        pytest.param({}, "make", "http://mistral", id="bare-names-are-its"),
        pytest.param(
            {"default_runner": "lab"}, "make", "http://lab", id="unless-settings-say-more"
        ),
        pytest.param({"default_runner": "lab"}, "mistral:make", "http://mistral", id="its-name"),
        pytest.param({"mistral_runner": "lab"}, "mistral:make", "http://lab", id="another-section"),
        pytest.param({"mistral_runner": "lab"}, "make", "http://lab", id="and-its-bare-names"),
    ],
)
def test_the_name_mistral_stands_for_the_runner_that_is_set(
    tmp_path: Path, settings: dict[str, Any], workflow: str, endpoint: str
) -> None:
    runners = {**RUNNERS, "mistral": {"kind": "other", "endpoint": "http://mistral"}}
    runner, known_as = lender(tmp_path, runners=runners, **settings).runner(workflow)

    assert isinstance(runner, Recorder)
    assert (runner.section["endpoint"], known_as) == (endpoint, "make")


def test_the_networks_of_the_settings_are_handed_to_every_kind(tmp_path: Path) -> None:
    own = {"kind": "other", "allowed_networks": ["10.1.0.0/16"]}
    given = {"allowed_networks": "10.2.0.0/16", "denied_networks": "10.2.3.4"}
    runner, _ = lender(tmp_path, runners={"lab": own}, **given).runner("lab:make")
    assert isinstance(runner, Recorder)
    assert runner.section["allowed_networks"] == ["10.2.0.0/16", "10.1.0.0/16"]
    assert runner.section["denied_networks"] == ["10.2.3.4"]
    plain, _ = lender(tmp_path, runners=RUNNERS).runner("lab:make")
    assert isinstance(plain, Recorder)
    assert "allowed_networks" not in plain.section


def test_without_a_mistral_bare_names_are_for_the_bundled_service(tmp_path: Path) -> None:
    assert isinstance(lender(tmp_path, runners=RUNNERS).runner("make")[0], BundledRunner)


def test_runners_are_kept_and_closed(tmp_path: Path) -> None:
    lent = lender(tmp_path, runners=RUNNERS)
    runner, _ = lent.runner("lab:x")

    assert lent.runner("lab:y")[0] is runner
    lent.close()

    assert isinstance(runner, Recorder)
    assert runner.closed


def test_clients_constraints_and_patterns(tmp_path: Path) -> None:
    lent = lender(tmp_path)

    assert lent.client("compute") == "a client"
    assert lent.client_plugin("compute") is lent.client_plugin("compute")
    assert (lent.constraint("even"), lent.constraint("odd")) == (Even, None)
    assert lent.full_match("a+", "aaa")
    with pytest.raises(PluginError, match="nova"):
        lent.client("nova")


@pytest.fixture
def record(tmp_path: Path) -> ServiceRecord:
    return ServiceRecord(tmp_path / "home" / "runner.json")


def bundled(record: ServiceRecord, clock: HandClock, lenient: bool = False) -> BundledRunner:
    return BundledRunner(lambda: [record], Recorder, clock, 10.0, lenient=lenient)


def test_a_published_service_is_found_until_it_is_withdrawn(record: ServiceRecord) -> None:
    other = ServiceRecord(record.path)
    assert other.service() is None

    record.publish("http://127.0.0.1:1", "t0ken")
    found = other.service()

    assert found is not None
    assert (found.address, found.token) == ("http://127.0.0.1:1", "t0ken")
    assert "t0ken" not in repr(found)
    assert record.path.stat().st_mode & 0o777 == 0o600
    record.withdraw()
    assert other.service() is None


def test_what_a_killed_service_left_behind_is_not_a_service(record: ServiceRecord) -> None:
    record.path.parent.mkdir()
    record.path.write_text('{"address": "http://127.0.0.1:1", "token": "t", "pid": 1}')

    assert record.service() is None


def test_there_is_one_service_for_a_home(record: ServiceRecord) -> None:
    record.publish("http://127.0.0.1:1", "t")

    with pytest.raises(Conflict, match=r"127\.0\.0\.1:1"):
        ServiceRecord(record.path).publish("http://127.0.0.1:2", "t")
    with pytest.raises(Conflict, match="already running"):
        ServiceRecord(record.path).check_free()
    record.withdraw()


def test_without_a_service_validation_says_how_to_start_one(
    record: ServiceRecord, clock: HandClock
) -> None:
    with pytest.raises(ResourceFailure) as caught:
        bundled(record, clock).check("make")

    assert "zonda runner serve" in caught.value.hint
    bundled(record, clock, lenient=True).check("make")


def test_a_start_waits_for_the_service_and_then_gives_up(
    record: ServiceRecord, clock: HandClock
) -> None:
    runner, wanted = bundled(record, clock), request(clock)

    waiting = runner.start(wanted)
    clock.time += 10.0
    given_up = runner.start(wanted)

    assert isinstance(waiting, Retry)
    assert "zonda runner serve" in waiting.message
    assert not waiting.answered
    assert isinstance(given_up, Finished)
    assert isinstance(given_up.result, Failed)
    assert "zonda runner serve" in given_up.result.reason


def test_a_run_that_was_started_goes_on_while_the_service_is_away(
    record: ServiceRecord, clock: HandClock
) -> None:
    runner = bundled(record, clock)
    clock.time += 1e6

    assert isinstance(runner.poll({}), Running)
    assert runner.cancel({}, "no") is Cancelled.UNSUPPORTED


def test_everything_goes_to_the_running_service(record: ServiceRecord, clock: HandClock) -> None:
    made: list[Recorder] = []

    def make(section: Mapping[str, Any]) -> WorkflowRunner:
        made.append(Recorder(section))
        return made[-1]

    runner = BundledRunner(lambda: [record], make, clock, 10.0)
    record.publish("http://127.0.0.1:1", "one")
    runner.check("make")
    runner.start(request(clock))
    runner.poll({})
    runner.cancel({}, "no")
    runner.forget({})
    record.withdraw()
    record.publish("http://127.0.0.1:1", "two")
    runner.poll({})
    record.withdraw()
    runner.close()

    assert [each.section for each in made] == [
        {"endpoint": "http://127.0.0.1:1", "token": "one"},
        {"endpoint": "http://127.0.0.1:1", "token": "two"},
    ]
    assert made[0].asked == ["check make", "start make", "poll", "cancel", "forget"]
    assert made[1].asked == ["poll"]
    assert made[1].closed


@pytest.mark.parametrize(
    ("address", "parts"),
    [("127.0.0.1:8155", ("127.0.0.1", 8155)), ("[::1]:0", ("::1", 0)), ("host:1", ("host", 1))],
)
def test_addresses(address: str, parts: tuple[str, int]) -> None:
    assert parse_host_and_port(address) == parts


@pytest.mark.parametrize("address", ["8155", "host", "host:", ":1", "host:x", "host:99999", ""])
def test_bad_addresses(address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        parse_host_and_port(address)


# -- several services of one home -----------------------------------------------------------------


class Home:
    """Services of one home, without processes: a record that is held is a service that runs."""

    def __init__(self, home: Path, clock: HandClock) -> None:
        self.settings = load_settings({"home": str(home)}, {})
        self.clock = clock
        self.held: dict[str, ServiceRecord] = {}
        self.asked: list[tuple[str, str]] = []

    def serve(self, name: str, *workflows: str) -> None:
        record = self.held[name] = runner_service.get_record(self.settings, name)
        runner_service.check_served_once(self.settings, name, workflows)
        record.publish(f"http://{name}:1", "t", [f"/flows/{name}.yaml"], workflows)

    def stop(self, name: str) -> None:
        self.held.pop(name).withdraw()

    def runner(self, name: str = "bundled") -> BundledRunner:
        one = [runner_service.get_record(self.settings, name)]
        return BundledRunner(
            lambda: runner_service.list_records(self.settings) if name == "bundled" else one,
            lambda section: Known(section, self),
            self.clock,
            10.0,
            label=name,
        )


class Known(WorkflowRunner):
    """A service that knows what its record lists, and tells who was asked."""

    def __init__(self, section: Mapping[str, Any], home: Home) -> None:
        self._name = str(section["endpoint"]).removeprefix("http://").removesuffix(":1")
        self._home = home

    def start(self, request: StartRequest) -> StartAnswer:
        self._home.asked.append((self._name, request.workflow))
        if request.workflow not in self._home.held[self._name].serving().workflows:
            return Finished(Failed("HTTP 404."))
        return Started({"url": "/executions/k"})

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        self._home.asked.append((self._name, "poll"))
        return Running(1.0, token={"url": "/moved"})


@pytest.fixture
def services(tmp_path: Path, clock: HandClock) -> Iterator[Home]:
    made = Home(tmp_path / "home", clock)
    yield made
    for name in list(made.held):
        made.stop(name)


def asking(clock: HandClock, workflow: str, action: str = "CREATE") -> StartRequest:
    return dataclasses.replace(request(clock), workflow=workflow, action=action)


def test_a_workflow_goes_to_the_service_that_has_it_and_stays_there(services: Home) -> None:
    services.serve("bundled", "make")
    services.serve("disks", "resize")
    runner = services.runner()
    answer = runner.start(asking(services.clock, "resize"))
    assert isinstance(answer, Started)
    assert answer.token == {"url": "/executions/k", "service": "disks"}
    again = services.runner().poll(answer.token)
    assert isinstance(again, Running)
    assert again.token == {"url": "/moved", "service": "disks"}
    assert services.asked == [("disks", "resize"), ("disks", "poll")]
    services.stop("disks")
    waiting = runner.poll(answer.token)
    assert isinstance(waiting, Running)
    assert "zonda runner serve /flows/disks.yaml --name disks" in waiting.message


def test_one_workflow_is_served_once(services: Home) -> None:
    services.serve("bundled", "make")
    with pytest.raises(Conflict, match="make is served by the runner bundled already"):
        services.serve("disks", "make")


def test_a_service_is_asked_by_its_name(services: Home) -> None:
    services.serve("bundled", "make")
    services.serve("disks", "resize")
    lent = ResourceServices(services.settings, Plugins(), services.clock, random.Random(0))
    lent._make = lambda kind, section, name="": Known(section, services)  # type: ignore[method-assign]
    runner, workflow = lent.runner("disks:resize")
    runner.start(asking(services.clock, workflow))
    assert services.asked == [("disks", "resize")]
    with pytest.raises(UsageError, match=r"There is no runner disk.*disks") as caught:
        lent.runner("disk:resize")
    assert "--name disk'" in caught.value.hint


def test_what_was_served_is_waited_for_although_others_run(services: Home) -> None:
    services.serve("disks", "resize")
    services.stop("disks")
    services.serve("bundled", "make")
    wanted = asking(services.clock, "resize")
    waiting = services.runner().start(wanted)
    assert isinstance(waiting, Retry)
    assert waiting.message.endswith("zonda runner serve /flows/disks.yaml --name disks")
    services.clock.time += 10
    given_up = services.runner().start(wanted)
    assert isinstance(given_up, Finished)
    assert services.asked == []


@pytest.mark.parametrize("running", [True, False], ids=["another is served", "nothing is served"])
def test_a_stack_whose_workflow_is_gone_says_how_to_serve_or_abandon_it(
    services: Home, running: bool
) -> None:
    if running:
        services.serve("bundled", "make")
    wanted = asking(services.clock, "remove", "DELETE")
    services.clock.time += 10
    answer = services.runner().start(wanted)
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    for word in ("'zonda runner serve FILE'", "'zonda stack abandon'"):
        assert word in answer.result.reason
    assert ("/flows/bundled.yaml" in answer.result.reason) is running


def test_a_service_beside_another_is_called_as_its_file_and_keeps_that_name(
    services: Home,
) -> None:
    file = Path("/flows/my disks.yaml")
    assert runner_service.choose_name(services.settings, file, "") == "bundled"
    services.serve("bundled", "make")
    assert runner_service.choose_name(services.settings, file, "") == "my-disks"
    assert runner_service.choose_name(services.settings, file, "own") == "own"
    runner_service.get_service_folder(services.settings, "my-disks").mkdir(parents=True)
    services.stop("bundled")
    assert runner_service.choose_name(services.settings, file, "") == "my-disks"
    for name in ("../x", "a/b", "-x"):
        with pytest.raises(UsageError, match="cannot be the name"):
            runner_service.choose_name(services.settings, file, name)


def test_no_token_stays_in_the_record_of_a_service_that_has_ended(services: Home) -> None:
    services.serve("disks", "resize")
    record = services.held["disks"]
    services.stop("disks")
    assert json.loads(record.path.read_text()) == {
        "pid": None,
        "files": ["/flows/disks.yaml"],
        "workflows": ["resize"],
    }
