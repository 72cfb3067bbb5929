"""The history where another process is the engine, and where that is killed."""

from __future__ import annotations

from pathlib import Path

from .conftest import Zonda, eventually

TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  slow: {type: OS::Heat::TestResource, properties: {value: x, action_wait_secs: {create: 300}}}
  after: {type: OS::Heat::TestResource, depends_on: slow}
"""


def test_who_asks_is_recorded_and_not_who_is_the_engine(zonda: Zonda, tmp_path: Path) -> None:
    template = tmp_path / "t.yaml"
    template.write_text(TEMPLATE)
    engine = zonda.start("engine", "run", "--set", "user=holder")
    eventually(lambda: (zonda.home / "zonda.db.lock").exists(), "the engine runs", 30)
    zonda.run("stack", "create", "web", "-t", template, "--no-wait", "--set", "user=ann")
    eventually(lambda: ("slow", "CREATE_IN_PROGRESS") in zonda.events("web"), "slow is begun", 30)
    engine.kill()
    engine.wait()

    (only,) = zonda.data("stack", "history", "web")
    assert (only["by"], only["status"], only["ended"]) == ("ann", "IN_PROGRESS", None)
    now = {one["resource_name"]: one for one in zonda.data("stack", "why", "web")["now"]}
    assert (now["slow"]["doing"], now["after"]["waits_for"]) == ("at work", ["slow"])

    key = zonda.data("stack", "show", "web")["id"]
    words = ("--set", "user=bob", "--set", "cancel_grace=0")
    zonda.run("stack", "delete", "web", "--yes", *words)
    told = [
        (one["action"], one["by"], one["status"]) for one in zonda.data("stack", "history", key)
    ]
    assert told == [("CREATE", "ann", "SUPERSEDED"), ("DELETE", "bob", "COMPLETE")]
