"""The bundled service with real processes: results, crashes, lost runs, cancelling."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests
from tests.workflows.service_process import ServiceProcess, spawn

from zonda.hooks.processes import detached_run
from zonda.hooks.runners import Failed, Finished, Running, Started, StartRequest, Succeeded
from zonda.hooks.runners.http_contract import instant
from zonda.workflows.http_runner.runner import HttpRunner
from zonda.workflows.service import supervisor
from zonda.workflows.service.config import load_config
from zonda.workflows.service.journal import Journal
from zonda.workflows.service.server import ServiceHandle, start

PATIENCE = 20.0
FLOWS = r"""
workflows:
  hello: {command: 'echo "{\"resource_id\": \"r-1\"}"'}
  echo: {command: cat}
  lines: {command: 'echo working; echo; echo "{\"a\": 1}"'}
  text: {command: 'echo two; echo lines'}
  number: {command: echo 7}
  nothing: {command: echo}
  logs: {command: 'echo "{\"level\": \"info\"}"; echo done'}
  broken: {command: 'echo made it; echo "{\"resource_id\": \"r-1\",}"'}
  half: {command: 'echo "{"; echo "\"a\": }"'}
  told: {command: echo no room; exit 5}
  list: {command: 'echo "[1]"'}
  nan: {command: 'echo "{\"a\": NaN}"'}
  much: {command: yes | head -c 2000000}
  fails: {command: 'echo "{\"resource_id\": \"half\"}"; echo no space left >&2; exit 3'}
  silent: {command: exit 4}
  dies: {command: kill -9 $$}
  absent: {command: [./not-there]}
  vars:
    command: |
      printf '{"a": "%s"}' \
        "$ZONDA_ACTION $ZONDA_REQUEST_KEY $ZONDA_RESOURCE_NAME [$ZONDA_SECRET] $MINE"
    env: {MINE: mine}
  where: {command: 'echo "{\"cwd\": \"$(pwd)\"}"', cwd: sub}
  slow: {command: 'echo $$ > pid; read line < gate; echo "{\"line\": \"$line\"}"'}
  again:
    command: 'echo $$ > pid; read line < gate; echo "{\"line\": \"$line\"}"'
    idempotent: true
  limited: {command: read line < gate, timeout: 0.1}
  called: {callable: "./mine.py:run"}
  named: {callable: "mine:other"}
  raises: {callable: "mine:wrong"}
  nowhere: {callable: "./mine.py:nowhere"}
  nomodule: {callable: "not_there:run"}
  object: {callable: "./mine.py:thing"}
  family: {command: 'sh -c "echo \$\$ > pid; sleep 60; true" & wait; true'}
"""
MINE = """
def run(request):
    print("this is no output")
    return {"sum": sum(request["inputs"]["numbers"])}

def other(request):
    return 7

def wrong(request):
    raise ValueError("not like this")

def thing(request):
    return {"thing": object()}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "flows.yaml").write_text(FLOWS)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "gate")
    return tmp_path


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def service(home: Path, stack: ExitStack) -> ServiceHandle:
    return stack.enter_context(start(home / "flows.yaml", state_dir=home / "state"))


@pytest.fixture
def make_process(home: Path, stack: ExitStack) -> Callable[[], ServiceProcess]:
    def make() -> ServiceProcess:
        return stack.enter_context(spawn(home / "flows.yaml", state_dir=home / "state"))

    return make


@pytest.fixture(autouse=True)
def no_command_is_left_behind(home: Path) -> Iterator[None]:
    yield
    for folder in (home / "state").glob("runs/*"):
        if (folder / "starts").read_bytes() and not (folder / "result.json").exists():
            wait_for(lambda folder=folder: ends(folder))


def ends(folder: Path) -> bool:
    """Whether the run has a result, or nobody is left to write one; its command is killed."""
    known = folder / "run.json"
    pids = json.loads(known.read_text()) if known.exists() else {}
    command, wrapper = pids.get("command"), pids.get("wrapper")
    if command is not None and alive(command["pid"]):
        os.killpg(command["pid"], signal.SIGKILL)
    gone = wrapper is not None and not alive(wrapper["pid"])
    return gone or (folder / "result.json").exists()


def post(url: str, name: str, key: str = "k", **body: Any) -> requests.Response:
    return requests.post(
        f"{url}/workflows/{name}",
        json={"contract": 1, "action": "CREATE", "inputs": {}, **body},
        headers={"Idempotency-Key": key},
        timeout=PATIENCE,
    )


def wait_for(condition: Callable[[], Any]) -> Any:
    """The first true value of ``condition``; other processes make it true."""
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        value = condition()
        if value:
            return value
        pause.wait(0.01)
    raise AssertionError("it never came true")


def ended(url: str, key: str = "k") -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        answer = requests.get(f"{url}/executions/{key}", timeout=PATIENCE)
        return answer.json() if answer.status_code == 200 else None

    found: dict[str, Any] = wait_for(look)
    return found


def starts(url: str, key: str = "k") -> int:
    listed = requests.get(f"{url}/v1/executions", timeout=PATIENCE).json()["executions"]
    return sum(run["starts"] for run in listed if run["key"] == key)


def run(url: str, name: str, **body: Any) -> dict[str, Any]:
    assert post(url, name, **body).status_code in (200, 202)
    return ended(url)


def processes(home: Path) -> dict[str, Any]:
    """The pids of the only run, once its command runs."""

    def look() -> dict[str, Any] | None:
        files = list((home / "state").glob("runs/*/run.json"))
        known = json.loads(files[0].read_text()) if files else {}
        return known if "command" in known else None

    found: dict[str, Any] = wait_for(look)
    return found


def command_pid(home: Path) -> int:
    return int(wait_for(lambda: (home / "pid").exists() and (home / "pid").read_text().strip()))


def open_gate(home: Path, line: str = "go") -> None:
    (home / "gate").write_text(f"{line}\n")


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


# -- results --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "output"),
    [
        pytest.param("hello", {"resource_id": "r-1"}, id="json"),
        pytest.param("lines", {"a": 1}, id="last-line"),
        pytest.param("text", {"stdout": "two\nlines"}, id="text"),
        pytest.param("list", {"stdout": "[1]"}, id="a-list-is-text"),
        pytest.param("number", {"stdout": "7"}, id="a-number-is-text"),
        pytest.param("logs", {"stdout": '{"level": "info"}\ndone'}, id="logs-are-text"),
        pytest.param("nothing", None, id="nothing-is-no-output"),
        pytest.param("vars", {"a": "CREATE k disk [] mine"}, id="variables"),
        pytest.param("called", {"sum": 6}, id="callable-in-a-file"),
        pytest.param("named", {"result": 7}, id="callable-in-a-module"),
    ],
)
def test_success(
    service: ServiceHandle, monkeypatch: pytest.MonkeyPatch, name: str, output: Any
) -> None:
    monkeypatch.setenv("ZONDA_SECRET", "s3cret")
    body = {"inputs": {"numbers": [1, 2, 3]}, "resource": {"name": "disk"}}
    answer = run(service.url, name, **body)
    assert (answer["state"], answer.get("output")) == ("succeeded", output)


@pytest.mark.parametrize(
    ("name", "reason", "output"),
    [
        pytest.param("fails", "exit code 3: no space left", {"resource_id": "half"}, id="stderr"),
        pytest.param("silent", "exit code 4", None, id="silent"),
        pytest.param("told", "exit code 5: no room", {"stdout": "no room"}, id="stdout"),
        pytest.param("nan", "no JSON object: NaN is not JSON", None, id="nan"),
        pytest.param("broken", "no JSON object: ", None, id="a-broken-object"),
        pytest.param("half", "no JSON object: Expecting value: line 2", None, id="half-an-object"),
        pytest.param("dies", "ended by SIGKILL", None, id="signal"),
        pytest.param("much", "wrote more than", None, id="too-much-output"),
        pytest.param("absent", "cannot be run: ./not-there: No such file", None, id="absent"),
        pytest.param("limited", "ended after 0.1 s (timeout)", None, id="timeout"),
        pytest.param("raises", "ValueError: not like this", None, id="exception"),
    ],
)
def test_failure(service: ServiceHandle, name: str, reason: str, output: Any) -> None:
    answer = run(service.url, name)
    assert answer["state"] == "failed"
    assert reason in answer["reason"]
    assert answer.get("output") == output


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("raises", "ValueError: not like this (mine.py, line 10)", id="raises"),
        pytest.param("nowhere", "mine.py has no nowhere", id="no function"),
        pytest.param(
            "nomodule", "ModuleNotFoundError: No module named 'not_there'", id="no module"
        ),
        pytest.param(
            "object",
            "thing gives what is not JSON: Object of type object is not JSON serializable",
            id="no JSON",
        ),
    ],
)
def test_a_function_that_fails_gives_a_reason_without_traceback(
    service: ServiceHandle, home: Path, name: str, reason: str
) -> None:
    assert run(service.url, name)["reason"] == reason
    (journal,) = home.glob("**/stderr")
    assert "Traceback" in journal.read_text()


def test_the_request_is_on_stdin(service: ServiceHandle) -> None:
    answer = run(service.url, "echo", inputs={"é": [1]})
    assert answer["output"] == {"contract": 1, "action": "CREATE", "inputs": {"é": [1]}}


def test_the_working_folder(service: ServiceHandle, home: Path) -> None:
    assert run(service.url, "where")["output"] == {"cwd": str(home / "sub")}


def test_inputs_are_not_kept_after_the_end(service: ServiceHandle, home: Path) -> None:
    run(service.url, "echo", inputs={"password": "s3cret-1"})

    def is_gone() -> bool:
        files = [file for file in (home / "state").rglob("*") if file.is_file()]
        others = [file for file in files if file.name != "result.json"]
        return not any(b"s3cret-1" in file.read_bytes() for file in others)

    wait_for(lambda: not list((home / "state").rglob("body")) and is_gone())


def test_the_state_is_for_this_user_alone(service: ServiceHandle, home: Path) -> None:
    run(service.url, "hello")
    open_to_others = [
        path
        for path in (home / "state").rglob("*")
        if path.is_file() and path.stat().st_mode & 0o77
    ]
    assert [path.name for path in open_to_others if path.name != "wrapper.log"] == []
    assert (home / "state" / "runs").stat().st_mode & 0o77 == 0


# -- keys -----------------------------------------------------------------------------------


def test_the_first_answer_says_where_to_look(service: ServiceHandle) -> None:
    answer = post(service.url, "slow", "a/b c")
    assert answer.status_code == 202
    assert answer.headers["Location"] == "/executions/a%2Fb%20c"
    assert answer.json()["state"] == "running"
    assert answer.json()["cancellable"] is True


def test_the_same_key_gives_the_first_outcome(service: ServiceHandle) -> None:
    first = run(service.url, "hello")
    again = post(service.url, "hello")
    assert (again.status_code, again.json()) == (200, first)
    assert starts(service.url) == 1


@pytest.mark.parametrize(
    ("name", "body"),
    [
        pytest.param("hello", {"inputs": {"a": 1}}, id="another-body"),
        pytest.param("text", {}, id="another-workflow"),
    ],
)
def test_a_key_used_for_another_request_is_refused(
    service: ServiceHandle, name: str, body: dict[str, Any]
) -> None:
    run(service.url, "hello")
    answer = post(service.url, name, **body)
    assert answer.status_code == 409
    assert "used for another request" in answer.json()["reason"]


def test_many_senders_with_one_key_start_one_run(service: ServiceHandle) -> None:
    threads = [threading.Thread(target=post, args=(service.url, "hello")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended(service.url)["state"] == "succeeded"
    assert starts(service.url) == 1


def test_a_restarted_service_knows_the_outcome(home: Path) -> None:
    with start(home / "flows.yaml", state_dir=home / "state") as service:
        first = run(service.url, "hello")
    (home / "flows.yaml").write_text("workflows: {other: {command: 'true'}}")
    with start(home / "flows.yaml", state_dir=home / "state") as service:
        assert post(service.url, "hello").json() == first
        assert starts(service.url) == 1


# -- crashes --------------------------------------------------------------------------------


def test_a_run_survives_the_death_of_the_service(
    home: Path, make_process: Callable[[], ServiceProcess]
) -> None:
    first = make_process()
    post(first.url, "slow")
    pid = command_pid(home)
    first.kill()
    assert alive(pid)
    second = make_process()
    assert requests.get(f"{second.url}/executions/k", timeout=PATIENCE).status_code == 202
    open_gate(home, "hello")
    assert ended(second.url)["output"] == {"line": "hello"}
    assert starts(second.url) == 1


def test_a_run_that_ends_while_no_service_runs(
    home: Path, make_process: Callable[[], ServiceProcess]
) -> None:
    first = make_process()
    post(first.url, "slow")
    command_pid(home)
    first.kill()
    open_gate(home, "alone")
    wait_for(lambda: list((home / "state").glob("runs/*/result.json")))
    second = make_process()
    assert ended(second.url)["output"] == {"line": "alone"}
    assert starts(second.url) == 1


def test_a_run_accepted_but_never_started_is_started(
    home: Path, make_process: Callable[[], ServiceProcess]
) -> None:
    with open(home / "flows.yaml", "a") as file:
        file.write("parallel: 1\n")
    first = make_process()
    post(first.url, "slow")
    command_pid(home)
    assert "waiting" in post(first.url, "hello", "second").json()["message"]
    first.kill()
    second = make_process()
    assert starts(second.url, "second") == 0
    open_gate(home)
    assert ended(second.url, "second")["state"] == "succeeded"
    assert starts(second.url, "second") == 1


@pytest.mark.parametrize("service_lives", [True, False], ids=["service-lives", "service-dead"])
def test_a_lost_run_fails(
    home: Path, make_process: Callable[[], ServiceProcess], service_lives: bool
) -> None:
    service = make_process()
    post(service.url, "slow")
    pid = command_pid(home)
    wrapper = processes(home)["wrapper"]["pid"]
    if not service_lives:
        service.kill()
    os.kill(wrapper, signal.SIGKILL)
    wait_for(lambda: not alive(wrapper))
    if not service_lives:
        service = make_process()
    answer = ended(service.url)
    assert answer["state"] == "failed"
    assert "does not say idempotent: true" in answer["reason"]
    assert starts(service.url) == 1
    wait_for(lambda: not alive(pid))


@pytest.mark.parametrize("service_lives", [True, False], ids=["service-lives", "service-dead"])
def test_a_lost_idempotent_run_is_repeated(
    home: Path, make_process: Callable[[], ServiceProcess], service_lives: bool
) -> None:
    service = make_process()
    post(service.url, "again")
    first = command_pid(home)
    wrapper = processes(home)["wrapper"]["pid"]
    if not service_lives:
        service.kill()
    os.kill(wrapper, signal.SIGKILL)
    wait_for(lambda: not alive(wrapper))
    if not service_lives:
        service = make_process()
    wait_for(lambda: starts(service.url) == 2)
    wait_for(lambda: not alive(first))
    open_gate(home, "twice")
    assert ended(service.url)["output"] == {"line": "twice"}


def test_a_run_that_is_lost_again_and_again_fails(
    home: Path, make_process: Callable[[], ServiceProcess]
) -> None:
    service, seen = make_process(), set()
    post(service.url, "again")
    for _ in range(3):
        wrapper = wait_for(
            lambda: processes(home)["wrapper"]["pid"] not in seen and processes(home)
        )
        seen.add(wrapper["wrapper"]["pid"])
        os.kill(wrapper["wrapper"]["pid"], signal.SIGKILL)
    assert "It was started 3 times." in ended(service.url)["reason"]


def test_one_state_folder_has_one_service(home: Path, service: ServiceHandle) -> None:
    from zonda.hooks.errors import UsageError

    with pytest.raises(UsageError, match=f"process {os.getpid()}"):
        spawn(home / "flows.yaml", state_dir=home / "state")


def test_what_a_wrapper_complained_of_is_told(
    home: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (sys.executable, "-c", "import sys; sys.exit('no memory')")
    monkeypatch.setattr(detached_run, "WRAPPER", broken)
    service = stack.enter_context(start(home / "flows.yaml", state_dir=home / "state"))
    reason = run(service.url, "hello")["reason"]
    assert "The last it said: no memory. It was started 3 times." in reason


# -- cancelling -----------------------------------------------------------------------------


def test_a_running_run_can_be_cancelled(service: ServiceHandle, home: Path) -> None:
    post(service.url, "slow")
    pid = command_pid(home)
    assert requests.delete(f"{service.url}/executions/k", timeout=PATIENCE).status_code in (
        200,
        202,
    )
    answer = ended(service.url)
    assert (answer["state"], answer["reason"]) == ("cancelled", "The run was cancelled.")
    assert not alive(pid)


def test_what_a_command_started_is_ended_too(service: ServiceHandle, home: Path) -> None:
    post(service.url, "family")
    pid = command_pid(home)
    requests.delete(f"{service.url}/executions/k", timeout=PATIENCE)
    assert ended(service.url)["state"] == "cancelled"
    assert not alive(pid)


def test_a_run_is_cancelled_before_its_command_begins(service: ServiceHandle) -> None:
    post(service.url, "slow")
    requests.delete(f"{service.url}/executions/k", timeout=PATIENCE)
    assert ended(service.url)["state"] == "cancelled"


def test_a_waiting_run_is_cancelled_without_a_start(home: Path) -> None:
    with open(home / "flows.yaml", "a") as file:
        file.write("parallel: 1\n")
    with start(home / "flows.yaml", state_dir=home / "state") as service:
        post(service.url, "slow", "first")
        post(service.url, "hello", "second")
        requests.delete(f"{service.url}/executions/second", timeout=PATIENCE)
        assert ended(service.url, "second")["state"] == "cancelled"
        assert starts(service.url, "second") == 0
        open_gate(home)
        assert ended(service.url, "first")["state"] == "succeeded"


def test_a_run_taken_up_after_a_crash_can_be_cancelled(
    home: Path, make_process: Callable[[], ServiceProcess]
) -> None:
    first = make_process()
    post(first.url, "slow")
    pid = command_pid(home)
    processes(home)
    first.kill()
    second = make_process()
    requests.delete(f"{second.url}/executions/k", timeout=PATIENCE)
    assert ended(second.url)["state"] == "cancelled"
    assert not alive(pid)


def test_cancelling_what_has_ended_changes_nothing(service: ServiceHandle) -> None:
    first = run(service.url, "hello")
    answer = requests.delete(f"{service.url}/executions/k", timeout=PATIENCE)
    assert (answer.status_code, answer.json()) == (200, first)


# -- together with the runner --------------------------------------------------------------------


class SystemClock:
    def now(self) -> float:
        return 1_790_000_000.0

    def monotonic(self) -> float:
        return 0.0


class Upper:
    def uniform(self, a: float, b: float) -> float:
        return b


@pytest.mark.parametrize(
    ("name", "result"),
    [
        pytest.param("hello", Succeeded({"resource_id": "r-1"}, "r-1"), id="success"),
        pytest.param(
            "fails",
            Failed("exit code 3: no space left", {"resource_id": "half"}, "half"),
            id="failure",
        ),
    ],
)
def test_the_http_runner_and_the_service_understand_each_other(
    home: Path,
    stack: ExitStack,
    request_for: Callable[..., StartRequest],
    name: str,
    result: object,
) -> None:
    service = stack.enter_context(
        start(home / "flows.yaml", state_dir=home / "state", token="t0ken")
    )
    runner = HttpRunner(
        {"clock": SystemClock(), "random": Upper(), "endpoint": service.url, "token": "t0ken"}
    )
    stack.callback(runner.close)
    request = request_for(name, deadline=time.time() + 3600)
    begun = runner.start(request)
    assert isinstance(begun, Started)

    def look() -> object:
        answer = runner.poll(begun.token)
        return None if isinstance(answer, Running) else answer

    assert wait_for(look) == result
    assert runner.start(request) == Finished(result, begun.execution_id)  # type: ignore[arg-type]


def test_a_run_that_nobody_waits_for_is_not_begun(home: Path, clock: Any) -> None:
    runs = supervisor.Runs(load_config(home / "flows.yaml"), Journal(home / "state"), clock)
    body = json.dumps({"deadline": instant(clock.now() + 10)}).encode()
    run = runs.submit("hello", "k", body)
    clock.seconds += 11
    assert runs.submit("hello", "k", body).key == run.key
    with pytest.raises(supervisor.TooLate):
        runs.submit("hello", "l", body)
    assert wait_for(run.read_outcome)
    runs.stop()
