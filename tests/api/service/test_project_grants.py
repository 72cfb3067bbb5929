"""Runners and secrets of projects: held to when a stack is accepted and when it is worked on.

Settings change as for an operator: the file is written anew, and the server started again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.api.identity.callers import Caller
from zonda.core.api.identity.choice import choose_grants
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.server.process.serving import Serving
from zonda.core.api.service.project import Project
from zonda.core.api.service.service import Service
from zonda.core.app.app import App, build_app
from zonda.core.engine.actions import CheckDrift, DeleteStack
from zonda.core.settings import settings
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import UsageError, UsageErrors, ValidationErrors
from zonda.workflows.resources import secret_fingerprints

from ..conftest import Api, TestIdentity

PLUGIN = '''
"""Runners that note what they are asked in a file, and are done once there is a file for it."""

import json
from pathlib import Path

from zonda.hooks import hookimpl
from zonda.hooks.runners import Cancelled, Running, Started, Succeeded, WorkflowRunner


class Noting(WorkflowRunner):
    def __init__(self, section):
        self.folder = Path(section["folder"])
        self.notes = self.folder / section["notes"]

    def note(self, *words):
        with self.notes.open("a") as file:
            file.write(json.dumps(words) + "\\n")

    def keys(self):
        lines = (file.read_text().splitlines() for file in self.folder.glob("asked-*"))
        asked = [json.loads(line) for each in lines for line in each]
        return [each[3].get("key") for each in asked if each[0] == "start"]

    def check(self, workflow):
        self.note("check", workflow)

    def start(self, request):
        self.note("start", request.workflow, request.stack.project, request.inputs)
        return Started({"id": "1"})

    def poll(self, token):
        self.note("poll")
        if (self.folder / "slow").exists():
            return Running(0.0)
        return Succeeded({"told": self.keys()}, "thing")

    def cancel(self, token, reason):
        self.note("cancel")
        return Cancelled.DONE

    def forget(self, token):
        self.note("forget")


@hookimpl
def zonda_runners():
    return {"noting": Noting}
'''
TYPE = """\
zonda_type: 1
name: Acme::Box
description: A box.
runner: storage
properties:
  size: {type: integer, default: 1, description: Its size.}
actions:
  CREATE: {workflow: make, input: {size: {get_property: size}}}
  UPDATE: {workflow: change, input: {size: {get_property: size}}}
  DELETE: {workflow: remove}
  SUSPEND: {workflow: pause}
  CHECK: {workflow: look, observes: [size]}
"""
SECRET = "hush-of-p1-and-nobody-else"
OTHER = "sesame-of-p2-and-nobody-else"
KEYED = (
    TYPE.replace("Acme::Box", "Acme::Keyed")
    .replace("storage", "keyed")
    # what is not sent when a thing is removed
    .replace("input: {size", 'input: {key: {secret: "file:secrets/p1/key"}, size')
)
STORAGE = '[projects.p1]\nrunners = ["storage"]\n'
KEYS = '[projects.p1]\nrunners = ["*"]\nsecret_sources = ["file:secrets/p1/*"]\n'
PATIENCE = 60.0
REFUSED = "The project {} may not use the {}: "


class Server:
    """A home, and the server that runs in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.starts = 0
        self.app: App | None = None
        for name, text in {
            "plugins/noting.py": PLUGIN,
            "types/box.yaml": TYPE,
            "types/keyed.yaml": KEYED,
            "secrets/p1/key": SECRET,
            "secrets/p2/key": OTHER,
        }.items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def start(self, grants: str, identity: str = "tokens") -> Callable[[str], Api]:
        """Start the server with some sections ``[projects.NAME]``; gives a client by project."""
        self.close()
        self.starts += 1
        runners = (
            f'[runners.{name}]\nkind = "noting"\nfolder = "{self.home}"\n'
            f'notes = "asked-{self.starts}"\n'
            for name in ("storage", "keyed")
        )
        text = "\n".join((f'identity = "{identity}"', *runners, grants))
        (self.home / "zonda.toml").write_text(text)
        app = build_app(settings.load_settings({"home": str(self.home), "log": "off"}, {}))
        app.grants = choose_grants(app)
        assert app.engine.run()
        self.app = app
        self.service = Service(app)
        dispatcher = Dispatcher(self.service, make_interfaces(self.service, TestIdentity()))
        return Api(app, dispatcher).become

    @property
    def asked(self) -> list[list[Any]]:
        """The requests to the runners."""
        lines = (file.read_text().splitlines() for file in sorted(self.home.glob("asked-*")))
        return [json.loads(line) for each in lines for line in each]

    @property
    def is_asking(self) -> bool:
        """Whether a runner was asked anything since the last start."""
        return (self.home / f"asked-{self.starts}").exists()

    def close_while_it_runs(self, path: str) -> None:
        """Stop the server once the runner of a stack was asked how its run goes."""
        assert self.app is not None
        while ["poll"] not in self.asked:
            self.app.engine.look(path.rpartition("/")[2], 0.01)
        self.app.close()
        self.app = None

    def close(self) -> None:
        if self.app is not None:
            self.app.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.close()


def box(kind: str = "Acme::Box", **properties: Any) -> dict[str, Any]:
    """A template with one resource."""
    one = {"type": kind, "properties": properties}
    return {"heat_template_version": "2018-08-31", "resources": {"a": one}}


def nested(kind: str) -> dict[str, Any]:
    """A template whose resource is in a nested stack."""
    return box("OS::Heat::ResourceGroup", count=1, resource_def={"type": kind})


def workflow(name: str) -> dict[str, Any]:
    """A template with one workflow."""
    return box("Zonda::Workflow::ExternalResource", actions={"CREATE": {"workflow": name}})


def find_reason(client: Api, path: str) -> str:
    """Why a resource has failed."""
    return str(client("GET", f"{path}/resources/a").body["resource"]["resource_status_reason"])


@pytest.mark.parametrize(
    ("template", "runner"),
    [
        pytest.param(box(), "runner storage", id="type"),
        pytest.param(nested("Acme::Box"), "runner storage", id="nested-type"),
        pytest.param(workflow("storage:make"), "runner storage", id="workflow"),
        pytest.param(workflow("nowhere:make"), "runner nowhere", id="no-such-runner"),
        pytest.param(workflow("make"), "runner bundled", id="default-runner"),
        pytest.param(workflow("http://ann:pw@127.0.0.1:1/x"), "runner at 127.0.0.1", id="url"),
    ],
)
def test_a_project_has_no_runner_until_it_is_given_one(
    server: Server, template: Any, runner: str
) -> None:
    client = server.start(STORAGE)("p2")
    bodies = {"template": template, "stack_name": "s"}

    for path in ("/stacks", "/stacks/preview"):
        refused = client("POST", path, bodies)
        assert refused.status == 400
        assert REFUSED.format("p2", runner) in refused.message
        assert 'runners of [projects."p2"] in zonda.toml says which.' in refused.message
        assert "pw" not in json.dumps(refused.body)
        assert "keyed" not in json.dumps(refused.body)
    assert client("GET", "/stacks").body["stacks"] == []
    assert server.asked == []


def test_a_project_uses_the_runner_that_it_was_given(server: Server) -> None:
    client = server.start(STORAGE)("p1")
    path = client.create("s", box())
    assert client.state(path) == "CREATE_COMPLETE"
    assert ["start", "make", "p1", {"size": 1}] in server.asked
    refused = client("POST", "/stacks", {"stack_name": "t", "template": workflow("keyed:x")})
    assert REFUSED.format("p1", "runner keyed") in refused.message


def test_the_default_is_for_projects_without_an_entry_of_their_own(server: Server) -> None:
    others = '[projects."*"]\nrunners = ["stor*"]\n[projects.p2]\nrunners = []\n'
    become = server.start(others + "[projects.p3.quotas]\nstacks = 5\n")
    for project, state in (("p1", 201), ("p2", 400), ("p3", 201)):
        body = {"stack_name": "s", "template": box()}
        assert become(project)("POST", "/stacks", body).status == state


def test_a_project_has_no_secret_until_it_is_given_one(server: Server) -> None:
    become = server.start(KEYS + '[projects.p2]\nrunners = ["*"]\n')
    p1, p2 = become("p1"), become("p2")
    refused = p2("POST", "/stacks", {"stack_name": "s", "template": box("Acme::Keyed")})
    assert refused.status == 400
    assert REFUSED.format("p2", "secret file:secrets/p1/key") in refused.message
    assert "resources.a.type" in refused.message
    path = p1.create("s", box("Acme::Keyed"))
    assert p1.state(path) == "CREATE_COMPLETE"
    assert ["start", "make", "p1", {"key": SECRET, "size": 1}] in server.asked
    for shown in (refused.body, p2("GET", "/stacks").body, p1("GET", f"{path}/resources/a").body):
        assert SECRET not in json.dumps(shown)
        assert OTHER not in json.dumps(shown)


def test_a_project_names_no_secret_of_another_by_a_way_round(server: Server) -> None:
    server.start('[projects.p2]\nsecret_sources = ["file:secrets/p2/*"]\n')
    (server.home / "secrets/p2/link").symlink_to(server.home / "secrets/p1/key")
    assert server.app is not None
    lent = server.app.lender
    assert lent.secret("file:secrets/p2/key", "p2") == OTHER
    for name in ("p1/key", "p2/../p1/key", "p2/link", "p2/./../p1/key"):
        with pytest.raises(UsageError, match="project p2 may not use the secret"):
            lent.secret(f"file:secrets/{name}", "p2")


def test_what_a_project_is_given_is_also_to_be_allowed_for_all(server: Server) -> None:
    server.start('[projects.p1]\nsecret_sources = ["*"]\n')
    assert server.app is not None
    with pytest.raises(UsageError, match="secret_sources says which may"):
        server.app.lender.check_secret("env:HOME", "p1")


def delete(client: Api, path: str) -> None:
    assert client("DELETE", path).status == 204


def update(client: Api, path: str) -> None:
    kind = client("GET", f"{path}/template").body["resources"]["a"]["type"]
    assert client("PUT", path, {"template": box(kind, size=2)}).status == 202


def suspend(client: Api, path: str) -> None:
    assert client("POST", f"{path}/actions", {"suspend": None}).status in (200, 202)


@pytest.mark.parametrize("act", [delete, suspend])
def test_a_stack_does_not_use_a_runner_that_was_taken_away(server: Server, act: Any) -> None:
    path = server.start(STORAGE)("p1").create("s", box())
    before = server.asked

    client = server.start("")("p1")
    act(client, path)

    assert client.wait(path) == f"{act.__name__.upper()}_FAILED"
    assert REFUSED.format("p1", "runner storage") in find_reason(client, path)
    assert server.asked == before

    client = server.start(STORAGE)("p1")
    delete(client, path)
    assert client.wait(path) == "DELETE_COMPLETE"
    assert ["start", "remove", "p1"] in [each[:3] for each in server.asked]


def test_the_operator_removes_it_without_the_server(server: Server) -> None:
    path = server.start(STORAGE)("p1").create("s", box())
    client = server.start("")("p1")
    delete(client, path)
    assert client.wait(path) == "DELETE_FAILED"
    server.close()
    flags = {"home": str(server.home), "project": "p1"}
    server.app = app = build_app(settings.load_settings(flags, {}))
    running = app.engine.act(DeleteStack("s"))
    while not (seen := running.client.look(running.stack_id, PATIENCE)).idle:
        pass
    assert seen.state == "DELETE_COMPLETE"
    assert ["start", "remove", "p1"] in [each[:3] for each in server.asked]


def test_an_update_with_a_runner_that_was_taken_away_is_refused(server: Server) -> None:
    path = server.start(STORAGE)("p1").create("s", box())
    before = server.asked
    client = server.start("")("p1")
    refused = client("PUT", path, {"template": box(size=2)})
    assert refused.status == 400
    assert REFUSED.format("p1", "runner storage") in refused.message
    assert server.asked == before


def test_a_run_is_not_asked_about_after_its_runner_was_taken_away(server: Server) -> None:
    (server.home / "slow").touch()
    path = server.start(STORAGE)("p1").create("s", box(), wait=False)
    server.close_while_it_runs(path)
    client = server.start("")("p1")

    assert client.wait(path) == "CREATE_FAILED"
    assert REFUSED.format("p1", "runner storage") in find_reason(client, path)
    assert not server.is_asking


def test_a_stack_sends_no_secret_that_was_taken_away(server: Server) -> None:
    path = server.start(KEYS)("p1").create("s", box("Acme::Keyed"))
    before = server.asked
    client = server.start('[projects.p1]\nrunners = ["*"]\n')("p1")
    refused = client("PUT", path, {"template": box("Acme::Keyed", size=2)})
    assert REFUSED.format("p1", "secret file:secrets/p1/key") in refused.message
    assert [each for each in server.asked[len(before) :] if each[0] != "check"] == []


def test_what_a_run_tells_of_a_secret_that_was_taken_away_is_not_shown(server: Server) -> None:
    (server.home / "slow").touch()
    client = server.start(KEYS)("p1")
    path = client.create("s", box("Acme::Keyed"), wait=False)
    server.close_while_it_runs(path)
    (server.home / "slow").unlink()
    secret_fingerprints._sent.clear()  # as in another process

    client = server.start('[projects.p1]\nrunners = ["*"]\n')("p1")

    assert client.wait(path) == "CREATE_FAILED"
    for shown in ("/events", "/resources/a"):
        assert SECRET not in json.dumps(client("GET", f"{path}{shown}").body)


def test_a_removal_that_needs_a_secret_waits_for_it(server: Server) -> None:
    removed = KEYED.replace(
        "{workflow: remove}",
        '{workflow: remove, input: {key: {secret: "file:secrets/p1/key"}}}',
    )
    (server.home / "types/keyed.yaml").write_text(removed)
    path = server.start(KEYS)("p1").create("s", box("Acme::Keyed"))

    client = server.start('[projects.p1]\nrunners = ["*"]\n')("p1")
    delete(client, path)
    assert client.wait(path) == "DELETE_FAILED"
    assert REFUSED.format("p1", "secret file:secrets/p1/key") in find_reason(client, path)
    assert "remove" not in [each[1] for each in server.asked if each[0] == "start"]

    client = server.start(KEYS)("p1")
    delete(client, path)
    assert client.wait(path) == "DELETE_COMPLETE"


def test_commands_of_a_client_are_held_to_the_same(server: Server) -> None:
    server.start(STORAGE)
    project = Project(server.service, Caller("u", "ann", "p2", "p2"), "p2")
    with pytest.raises(ValidationErrors) as caught:
        project.templates.validate(Bundle(json.dumps(box())))
    assert REFUSED.format("p2", "runner storage") in str(caught.value)


def test_a_drift_check_knows_nothing_without_the_runner(server: Server) -> None:
    path = server.start(STORAGE)("p1").create("s", box())
    before = server.asked
    client = server.start("")("p1")
    project = Project(server.service, Caller("u", "ann", "p1", "p1"), "p1")
    check = project.submit(CheckDrift("s")).check_id
    assert not client.app.engine.wait_for_check(check, PATIENCE).is_running
    (found,) = project.reader.drift_now(path.rpartition("/")[2])
    assert found.verdict == "UNKNOWN"
    assert found.finding is not None
    assert REFUSED.format("p1", "runner storage") in found.finding.reason
    assert server.asked == before


def test_without_identity_and_without_a_server_all_projects_use_all(server: Server) -> None:
    client = server.start(STORAGE, identity="none")("p2")
    path = client.create("s", box("Acme::Keyed"))
    assert client.state(path) == "CREATE_COMPLETE"
    server.close()
    (server.home / "zonda.toml").write_text('identity = "tokens"\n' + STORAGE)
    app = build_app(settings.load_settings({"home": str(server.home)}, {}))
    assert app.grants is None
    app.lender.check_secret("file:secrets/p1/key", "p2")
    app.close()


def test_a_server_tells_projects_apart_before_its_engine_runs(server: Server) -> None:
    (server.home / "zonda.toml").write_text('identity = "tokens"\n')
    app = build_app(settings.load_settings({"home": str(server.home)}, {}))
    serving = Serving(app, ("127.0.0.1", 0))
    try:
        with pytest.raises(UsageError, match="project p1 may not use the runner bundled"):
            app.lender.runner("make", "p1")
    finally:
        serving.close()
        app.close()


def test_a_grant_to_a_name_keeps_a_server_of_keystone_from_starting(tmp_path: Path) -> None:
    project = "0123456789abcdef0123456789abcdef"
    text = (
        f'[projects.{project}]\nrunners = ["a"]\n[projects."*"]\nrunners = ["b"]\n'
        '[projects.acme]\nresource_types = ["OS::*"]\n'
    )
    (tmp_path / "zonda.toml").write_text(text)
    flags = {"home": str(tmp_path), "log": "off"}
    app = build_app(settings.load_settings({**flags, "identity": "keystone"}, {}))
    try:
        assert choose_grants(app) is not None
    finally:
        app.close()
    (tmp_path / "zonda.toml").write_text(f'{text}secret_sources = ["env:A"]\n')
    app = build_app(settings.load_settings({**flags, "identity": "keystone"}, {}))
    try:
        with pytest.raises(UsageErrors) as caught:
            choose_grants(app)
    finally:
        app.close()
    [fault] = caught.value.errors
    assert "zonda.toml:7: [projects.acme]: secret_sources is for the id" in str(fault)
    assert fault.hint == "openstack project show acme -f value -c id"
    app = build_app(settings.load_settings({**flags, "identity": "tokens"}, {}))
    try:
        assert choose_grants(app) is not None
    finally:
        app.close()
