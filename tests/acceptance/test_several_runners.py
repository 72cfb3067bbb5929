"""Two runners of one home, as processes: each has its workflows, and a stack uses both."""

from __future__ import annotations

from pathlib import Path

from .conftest import Zonda, eventually

MAKING = r"""workflows: {make: {command: 'echo "{\"resource_id\": \"r-1\"}"'}}"""
REMOVING = "workflows: {remove: {command: touch removed}}"
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  thing:
    type: OS::Mistral::ExternalResource
    properties: {actions: {CREATE: {workflow: make}, DELETE: {workflow: "disks:remove"}}}
"""


def test_a_stack_uses_the_runners_of_a_home(zonda: Zonda, tmp_path: Path) -> None:
    making, removing = tmp_path / "making.yaml", tmp_path / "disks.yaml"
    making.write_text(MAKING)
    removing.write_text(REMOVING)
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    zonda.serve(making)
    zonda.start("runner", "serve", removing)
    record = zonda.home / "runners" / "disks.json"
    eventually(lambda: record.exists() and record.read_text(), "the second runner")

    zonda.run("stack", "create", "s", "-t", tmp_path / "t.yaml")
    taken = zonda.run("runner", "serve", making, "--name", "third", code=1)
    assert "make is served by the runner bundled already" in taken.stderr
    zonda.run("stack", "delete", "-y", "s")
    assert (tmp_path / "removed").exists()
    assert "disks" in zonda.run("runner", "stop", "disks").stderr
