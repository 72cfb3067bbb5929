"""Commands: run once whatever is killed, ended with all they started, seen without secrets."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from zonda.hooks import NotReady, ResourceFailure, ZondaError
from zonda.hooks.testing import FakeOperation, Lifecycle

from zonda_files import runs
from zonda_files.command import Command


class Life(Lifecycle):
    """Its polls wait for the outside world, which has no fake clock."""

    def _wait(self, seconds: float) -> None:
        time.sleep(0.02)
        self.context.clock.advance(0.02)


def life(**properties: Any) -> Life:
    return Life(Command, properties, timeout=60)


def until(happened: Callable[[], Any]) -> None:
    for _ in range(1000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def begin(command: Life, action: str = "create") -> tuple[Any, Any]:
    """The instance and the token of an operation that is running."""
    command.context.operation = FakeOperation("op-1", action.upper(), 0, 60)
    instance = command.instance()
    return instance, getattr(instance, f"handle_{action}")()


def test_a_command_from_beginning_to_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = life(
        create=f"echo create >> {log}; echo made",
        update=["/bin/sh", "-c", f"echo update after $ZONDA_STDOUT >> {log}; echo changed"],
        delete=f"echo delete >> {log}",
        check=f"test -e {log}",
        triggers={"version": 1},
    )
    command.validate()
    command.create()
    assert command.attribute("stdout") == "made\n"
    assert command.attribute("exit_code") == 0
    command.check()
    changed = {**command.definition.properties, "triggers": {"version": 2}}
    assert command.update(changed) == "updated"
    assert command.attribute("stdout") == "changed\n"
    command.delete()
    assert log.read_text().splitlines() == ["create", "update after made", "delete"]
    assert os.listdir(runs.home()) == []


def test_what_a_command_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZONDA_KEY", "the engine's own")
    command = life(
        create="env; pwd; cat",
        cwd=str(tmp_path),
        environment={"NUMBER": 1, "EMPTY": None},
        stdin="from stdin",
    )
    command.create()
    lines = command.attribute("stdout").splitlines()
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    assert lines[-2:] == [str(tmp_path), "from stdin"]
    assert (seen["NUMBER"], seen["EMPTY"], seen["ZONDA_ACTION"]) == ("1", "", "CREATE")
    assert seen["ZONDA_RESOURCE_ID"] == command.resource_id
    assert len(seen["ZONDA_OPERATION_ID"]) == 36
    assert "ZONDA_KEY" not in seen
    assert seen["PATH"] == os.environ["PATH"]


def test_output_that_is_json_is_an_attribute() -> None:
    command = life(create="""echo '{"port": 5432}'""")
    command.create()
    assert command.attribute("json", "port") == 5432


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        pytest.param({"create": "echo why >&2; exit 3"}, "exit code 3: why", id="exit-code"),
        pytest.param({"create": ["/no/such/program"]}, "cannot be run", id="no-program"),
        pytest.param({"create": "kill -9 $$"}, "ended by signal 9", id="signal"),
        pytest.param({"create": "true", "cwd": "/no/such"}, "cannot be run", id="no-directory"),
        pytest.param({"create": "sleep 60", "timeout": 0.2}, "longer than `timeout`", id="timeout"),
    ],
)
def test_a_failure_says_why(properties: Any, told: str) -> None:
    command = life(**properties)
    with pytest.raises(ResourceFailure, match=told):
        command.create()
    assert command.instance().needs_replace_failed()


def test_other_exit_codes_may_mean_success() -> None:
    command = life(create="exit 3", success_codes=[0, 3])
    command.create()
    assert command.attribute("exit_code") == 3


@pytest.mark.parametrize(
    "properties",
    [
        pytest.param({"create": []}, id="no-words"),
        pytest.param({"create": {"a": 1}}, id="a-map"),
        pytest.param({"create": ["a", ["b"]]}, id="nested"),
        pytest.param({"create": "a", "cwd": "x"}, id="relative-directory"),
        pytest.param({"create": "a", "environment": {"A=B": 1}}, id="a-name-with-equals"),
        pytest.param({"create": "a", "environment": {"A": [1]}}, id="a-list-as-value"),
        pytest.param({"create": "a", "timeout": 0}, id="no-time"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(properties: Any) -> None:
    with pytest.raises(ZondaError):
        life(**properties).validate()


def test_output_is_bounded_and_its_ends_are_kept() -> None:
    command = life(create="seq 1 100000; echo the end", output_limit=1000)
    command.create()
    text = command.attribute("stdout")
    assert len(text) < 1100
    assert text.startswith("1\n2\n")
    assert text.endswith("the end\n")
    assert "bytes left out" in text


def test_what_stays_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    command = life(create=f"sleep 300 & echo $! > {tmp_path}/pid; echo started")
    command.create()
    assert command.attribute("stdout") == "started\n"
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_all_that_it_started_ends_with_it(tmp_path: Path, how: str) -> None:
    pid = tmp_path / "pid"
    line = f"(trap '' TERM; sleep 300) & echo $! > {pid}.new; mv {pid}.new {pid}; sleep 300"
    command = life(create=line, timeout=0.5 if how == "timeout" else 60)
    instance, token = begin(command)
    until(pid.exists)
    if how == "cancel":
        instance.handle_create_cancel(token)
        until(lambda: not Path(token["folder"]).exists())
    else:
        with pytest.raises(ResourceFailure, match="timeout"):
            until(lambda: instance.check_create_complete(token))
    until(lambda: gone(int(pid.read_text())))


def test_an_interrupted_handler_finds_its_run_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = life(create=f"echo $ZONDA_OPERATION_ID >> {log}")
    for _ in range(3):
        instance, token = begin(command)
        token = json.loads(json.dumps(token))
    until(lambda: instance.check_create_complete(token))
    assert command.instance().check_create_complete(token), "asked again after the end"
    assert log.read_text() == "op-1\n"


def test_what_has_ended_is_not_run_again_by_the_same_operation(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = life(create=f"echo once >> {log}")
    instance, token = begin(command)
    until(lambda: instance.check_create_complete(token))
    instance, token = begin(command)
    assert instance.check_create_complete(token)
    assert not Path(token["folder"]).exists()
    assert log.read_text() == "once\n"


def test_a_start_that_was_interrupted_is_begun_once(tmp_path: Path) -> None:
    runs.Run.of("op-1").folder.mkdir(parents=True)
    command = life(create="echo made")
    instance, token = begin(command)
    until(lambda: instance.check_create_complete(token))
    assert command.attribute("stdout") == "made\n"


def lost(command: Life, tmp_path: Path) -> tuple[Any, Any]:
    """A run whose processes were all killed."""
    instance, token = begin(command)
    started = Path(token["folder"]) / "run.json"
    until(started.exists)
    until((tmp_path / "pid").exists)
    os.kill(json.loads(started.read_text())["wrapper"]["pid"], signal.SIGKILL)
    assert instance.check_create_complete(token) is False, "the command itself still runs"
    os.killpg(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    return instance, token


def slowly(tmp_path: Path) -> str:
    pid = tmp_path / "pid"
    return f"test -e {pid} && exit 0; echo $$ > {pid}.new; mv {pid}.new {pid}; sleep 300; true"


def test_a_run_that_was_lost_is_told(tmp_path: Path) -> None:
    instance, token = lost(life(create=slowly(tmp_path)), tmp_path)
    with pytest.raises(ResourceFailure, match="idempotent: true"):
        until(lambda: instance.check_create_complete(token))


def test_a_run_that_was_lost_is_repeated_where_that_is_allowed(tmp_path: Path) -> None:
    instance, token = lost(life(create=slowly(tmp_path), idempotent=True), tmp_path)
    until(lambda: instance.check_create_complete(token))


def test_hidden_values_are_in_no_output_and_no_error(tmp_path: Path) -> None:
    secrets = {"hidden_environment": {"KEY": "hunter2"}, "hidden_stdin": "swordfish\n"}
    command = life(create="echo $KEY; cat", **secrets)
    command.create()
    assert command.attribute("stdout") == "(hidden)\n(hidden)\n"
    assert command.attribute("hidden_stdout") == "hunter2\nswordfish\n"
    assert command.saved.redacted == {"result"}
    broken = life(create="echo $KEY; cat >&2; exit 1", **secrets)
    with pytest.raises(ResourceFailure) as told:
        broken.create()
    assert "hunter2" not in str(told.value)
    assert "swordfish" not in str(told.value)


def test_only_inputs_run_anything(tmp_path: Path) -> None:
    log = tmp_path / "log"
    given = {"create": "true", "update": f"echo update >> {log}"}
    command = life(**given)
    command.create()
    command.update({**given, "timeout": 5, "delete": "true"})
    assert not log.exists()
    command.update({**given, "environment": {"A": "1"}})
    assert log.read_text() == "update\n"


def test_without_an_update_command_another_input_replaces(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = {"create": f"echo create $V >> {log}", "delete": f"echo delete $V >> {log}"}
    command = life(**lines, environment={"V": "1"})
    command.create()
    assert command.update({**lines, "environment": {"V": "2"}}) == "replaced"
    assert log.read_text().splitlines() == ["create 1", "create 2", "delete 1"]


def test_a_failed_update_is_run_again(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    given = {"create": "true", "update": f"test -e {ready}"}
    command = life(**given)
    command.create()
    changed = {**given, "triggers": 1}
    with pytest.raises(ResourceFailure, match="update command"):
        command.update(changed)
    ready.touch()
    assert command.update({**changed, "timeout": 5}) == "updated"


def test_a_failed_check_is_repaired_by_update(tmp_path: Path) -> None:
    well = tmp_path / "well"
    given = {"create": f"touch {well}", "update": f"touch {well}", "check": f"test -e {well}"}
    command = life(**given)
    command.create()
    well.unlink()
    with pytest.raises(ResourceFailure, match="check command"):
        command.check()
    assert not command.instance().needs_replace_failed()
    assert command.update({**given, "timeout": 5}) == "updated"
    command.check()


def test_what_was_never_run_is_not_deleted(tmp_path: Path) -> None:
    command = life(create="true", delete=f"touch {tmp_path}/deleted")
    command.delete()
    assert not (tmp_path / "deleted").exists()


def test_nothing_waits_in_the_handler() -> None:
    command = life(create="sleep 1")
    before = time.monotonic()
    instance, token = begin(command)
    assert time.monotonic() - before < 0.9
    try:
        until(lambda: instance.check_create_complete(token))
    except NotReady as error:
        raise AssertionError from error
