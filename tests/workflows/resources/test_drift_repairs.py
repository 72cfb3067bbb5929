"""Drift of types of workflows is repaired by them; missing resources are created anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.workflows.manifests import DISK, a_runner

from zonda.core.testing.stack import InlineStack
from zonda.hooks.runners import Finished, Running, StartAnswer, StartRequest, Succeeded
from zonda.hooks.testing import FakeRunner

EXTERNAL = """
heat_template_version: 2018-08-31
resources:
  d:
    type: Zonda::Workflow::ExternalResource
    properties:
      actions: {CREATE: {workflow: mk}, UPDATE: {workflow: up}, DELETE: {workflow: rm},
                CHECK: {workflow: look}}
      input: {size: 3}
"""
MANIFEST = """
heat_template_version: 2018-08-31
resources:
  d: {type: "Acme::Disk", properties: {size: 3}}
"""


class Disks(FakeRunner):
    """Has disks by their ids; UPDATE of one that is not there is an error."""

    def __init__(self) -> None:
        super().__init__({})
        self.disks: dict[str, dict[str, Any]] = {}
        self.sent: list[str] = []
        self.made = 0
        #: Whether CHECK is to say just that.
        self.wrong: bool | None = None

    def check(self, workflow: str) -> None:
        pass

    def start(self, request: StartRequest) -> StartAnswer:
        if request.workflow != "look":
            self.sent.append(request.workflow)
        return Finished(Succeeded(self._done(request, str(request.resource.physical_id))))

    def _done(self, request: StartRequest, key: str) -> Mapping[str, Any]:
        if request.workflow == "mk":
            self.made += 1
            key = f"disk{self.made}"
            self.disks[key] = dict(request.inputs)
            return {"resource_id": key, "path": "/a"}
        if request.workflow == "up":
            self.disks[key].update(request.inputs)
            self.wrong = None if self.wrong is None else False
        elif request.workflow == "rm":
            self.disks.pop(key, None)
        elif key not in self.disks:
            return {"exists": False}
        elif self.wrong is not None:
            return {"in_sync": not self.wrong}
        else:
            return {"inputs": self.disks[key], **self.disks[key]}
        return {}


class Site:
    def __init__(self, home: Path, template: str, manifest: str) -> None:
        (home / "types").mkdir(parents=True)
        (home / "types" / "disk.yaml").write_text(manifest)
        self.world = Disks()
        self.stack = InlineStack(home)
        self.stack._lender._runners["bundled"] = self.world
        assert self.stack.create(template).state == "CREATE_COMPLETE"
        self.world.sent.clear()

    @property
    def verdict(self) -> str:
        found = self.stack.drift()
        return found["d"].verdict if found else "IN_SYNC"


def without_update(text: str) -> str:
    return text.replace("UPDATE: {workflow: up}, ", "").replace("  UPDATE: up\n", "")


@pytest.fixture(params=["external", "manifest"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def a_site(tmp_path: Path, kind: str, can_update: bool = True) -> Site:
    template = EXTERNAL if kind == "external" else MANIFEST
    manifest = DISK.replace("input: {size: {get_property: size}, tags: {get_property: tags}}", "")
    manifest = manifest.replace("mk, }", "mk, input: {size: {get_property: size}}}")
    if not can_update:
        template, manifest = without_update(template), without_update(manifest)
    return Site(tmp_path, template, manifest)


@pytest.mark.parametrize("can_update", [True, False])
def test_what_is_gone_is_made_anew(tmp_path: Path, kind: str, can_update: bool) -> None:
    site = a_site(tmp_path, kind, can_update)
    for _ in range(2):
        site.world.disks.clear()
        assert site.verdict == "MISSING"
        site.world.sent.clear()
        assert site.stack.repair().state == "UPDATE_COMPLETE"
        assert site.world.sent == ["mk"]
        assert site.verdict == "IN_SYNC"


@pytest.mark.parametrize("can_update", [True, False])
def test_what_differs_is_put_right_or_made_anew(
    tmp_path: Path, kind: str, can_update: bool
) -> None:
    site = a_site(tmp_path, kind, can_update)
    (disk,) = site.world.disks.values()
    disk["size"] = 9
    assert site.verdict == "DRIFTED"
    assert site.stack.repair().state == "UPDATE_COMPLETE"
    assert site.world.sent == (["up"] if can_update else ["mk", "rm"])
    assert site.verdict == "IN_SYNC"
    assert len(site.world.disks) == 1


@pytest.mark.parametrize("text", ["      input: {size: 3}\n", ""], ids=["input", "no input"])
def test_what_is_only_known_to_be_out_of_sync_is_put_right(tmp_path: Path, text: str) -> None:
    template = EXTERNAL.replace("      input: {size: 3}\n", text)
    site = Site(tmp_path, template, DISK)
    site.world.wrong = False
    assert site.verdict == "IN_SYNC"
    site.world.wrong = True
    found = site.stack.drift()["d"]
    assert (found.verdict, found.differences) == ("DRIFTED", ())
    assert found.reason == "CHECK says that it is not in sync, and not in what"
    assert site.stack.repair().state == "UPDATE_COMPLETE"
    assert site.world.sent == ["up"]
    assert site.verdict == "IN_SYNC"


def test_a_check_that_takes_too_long_is_cancelled_at_the_runner(tmp_path: Path) -> None:
    runner = a_runner(look=[Running()])
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "disk.yaml").write_text(DISK)
    stack = InlineStack(tmp_path)
    stack._lender._runners["bundled"] = runner
    assert stack.create(MANIFEST).state == "CREATE_COMPLETE"
    for number in (1, 2):
        assert stack.drift()["d"].verdict == "UNKNOWN"
        assert len(runner.cancelled) == number


@pytest.mark.parametrize("can_update", [True, False])
def test_a_repair_goes_by_what_it_has_seen_itself(
    tmp_path: Path, kind: str, can_update: bool
) -> None:
    """What an earlier check has not found is there again."""
    site = a_site(tmp_path, kind, can_update)
    disks = dict(site.world.disks)
    site.world.disks.clear()
    assert site.stack.check().state == "CHECK_FAILED"
    site.world.disks.update(disks)
    site.world.disks["disk1"]["size"] = 9
    assert site.stack.repair().state == "UPDATE_COMPLETE"
    assert site.world.sent == (["up"] if can_update else ["mk", "rm"])
    assert site.verdict == "IN_SYNC"


WITH_DEFAULT = """
zonda_type: 1
name: Acme::Disk
properties:
  size: {type: integer, required: true}
  ttl: {type: integer, default: 300}
actions:
  CREATE: mk
  UPDATE: up
  DELETE: rm
  CHECK: {workflow: look, observes: [size, ttl]}
"""


def test_what_create_was_sent_by_default_is_compared_and_put_right(tmp_path: Path) -> None:
    site = Site(tmp_path, MANIFEST, WITH_DEFAULT)
    assert site.world.disks["disk1"] == {"size": 3, "ttl": 300}
    assert site.verdict == "IN_SYNC"
    site.world.disks["disk1"]["ttl"] = 5
    assert site.verdict == "DRIFTED"
    assert site.stack.check().state == "CHECK_FAILED"
    assert "ttl (template 300, there 5)" in site.stack.resources["d"].status_reason
    assert site.stack.repair().state == "UPDATE_COMPLETE"
    assert site.world.disks["disk1"] == {"size": 3, "ttl": 300}
    assert site.verdict == "IN_SYNC"


@pytest.mark.parametrize("there", [3.4, "3_", " 3", "0_3", True])
def test_what_a_manifest_would_convert_away_has_drifted(tmp_path: Path, there: Any) -> None:
    site = Site(tmp_path, MANIFEST, WITH_DEFAULT)
    site.world.disks["disk1"]["size"] = there
    assert site.verdict == "DRIFTED"
    assert site.stack.repair().state == "UPDATE_COMPLETE"
    assert site.world.disks["disk1"]["size"] == 3
    assert site.verdict == "IN_SYNC"


def test_a_check_that_observed_no_input_is_unknown(tmp_path: Path) -> None:
    site = a_site(tmp_path, "external")
    site.world.disks["disk1"].clear()  # so that CHECK answers {"inputs": {}}
    found = site.stack.drift()["d"]
    assert (found.verdict, "CHECK told nothing" in found.reason) == ("UNKNOWN", True)
    assert site.stack.check().state == "CHECK_FAILED"
    assert "CHECK told nothing" in site.stack.resources["d"].status_reason


NESTED = """
heat_template_version: 2018-08-31
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 1, resource_def: {type: "Acme::Disk", properties: {size: 3}}}
"""


def test_a_default_of_what_is_nested_is_compared_and_put_right(tmp_path: Path) -> None:
    site = Site(tmp_path, NESTED, WITH_DEFAULT)
    site.world.disks["disk1"]["ttl"] = 5
    found = site.stack.drift()
    assert {path: each.verdict for path, each in found.items()} == {"group/0": "DRIFTED"}
    assert site.stack.repair().state == "UPDATE_COMPLETE"
    assert site.world.disks["disk1"] == {"size": 3, "ttl": 300}
    assert site.stack.drift() == {}
