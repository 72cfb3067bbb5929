"""Runs of real playbooks: what they are told, what comes of them, and what is left of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from zonda.hooks import ResourceFailure
from zonda.hooks.processes import DetachedRun, read_json
from zonda.hooks.runners import Cancelled, Failed, Finished, Lost, Retry, Running, Succeeded

Make = Callable[..., Any]
Gate = Any


def list_starts(folder: Path) -> list[str]:
    return (folder / "starts").read_text().split()


def list_processes(run: Path) -> list[str]:
    """The processes of a run that have not ended (one that has, has no environment)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(run).encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
    return found


# -- what a playbook is told, and what comes of it ------------------------------------------------


def test_inputs_are_variables_and_stats_are_the_output(
    make: Make, write: Make, request_of: Make, finish: Make
) -> None:
    write(
        "deploy.yml",
        tasks="""
- set_stats:
    data:
      resource_id: "site-{{ port }}"
      asked: "{{ zonda.action }} {{ zonda.resource.name }} {{ zonda.inputs['not-a-name'] }}"
- set_stats: {data: {seen: "{{ port }}"}, per_host: true}
""",
    )
    answer = finish(make(), request_of(inputs={"port": 80, "not-a-name": "é\u2028😀\x85"}))
    assert answer == Succeeded(
        {
            "resource_id": "site-80",
            "asked": "CREATE site é\u2028😀\x85",
            "hosts": {"localhost": {"seen": 80}},
        },
        "site-80",
    )


def test_an_input_is_never_a_template(
    make: Make, write: Make, request_of: Make, finish: Make, tmp_path: Path
) -> None:
    write("deploy.yml", tasks='- set_stats: {data: {said: "{{ text }} {{ zonda.inputs.text }}"}}')
    text = f"{{{{ lookup('pipe', 'touch {tmp_path}/evaluated') }}}}"
    answer = finish(make(), request_of(inputs={"text": text}))
    assert answer.output == {"said": f"{text} {text}"}
    assert not (tmp_path / "evaluated").exists()


def test_a_role(make: Make, write: Make, request_of: Make, finish: Make) -> None:
    write("roles/site/tasks/main.yml", '- set_stats: {data: {port: "{{ port }}"}}')
    write("roles/site/defaults/main.yml", "port: 8080")
    assert finish(make(), request_of("site")) == Succeeded({"port": 8080})


def test_an_inventory_of_the_template(
    make: Make, write: Make, request_of: Make, finish: Make
) -> None:
    write(
        "deploy.yml",
        "- hosts: web\n  gather_facts: false\n  tasks:\n"
        '    - set_stats: {data: {at: "{{ note }}"}, per_host: true}\n',
    )
    hosts = {f"web{n}": {"ansible_connection": "local", "note": f"{{{{ {n} }}}}"} for n in (1, 2)}
    params = {"inventory": {"web": {"hosts": hosts}}, "limit": "web2", "env": {}}
    answer = finish(make(), request_of(params=params))
    assert answer == Succeeded({"hosts": {"web2": {"at": "{{ 2 }}"}}})


def test_an_inventory_of_the_runner_is_the_only_one(
    make: Make, write: Make, request_of: Make, finish: Make, tmp_path: Path
) -> None:
    here = f"here ansible_connection=local ansible_python_interpreter={sys.executable}"
    write("hosts.ini", here)
    write("roles/site/tasks/main.yml", '- command: "true"\n- set_stats: {data: {done: true}}')
    runner = make(inventory="hosts.ini")
    refused = runner.start(request_of("site", params={"inventory": {"all": {}}}))
    assert "has an inventory of its own" in refused.result.reason
    wrong = {"ansible_connection": "ssh", "ansible_python_interpreter": "/nowhere"}
    assert finish(runner, request_of("site", inputs=wrong)) == Succeeded({"done": True})


@pytest.fixture
def encrypted(write: Make) -> None:
    """A playbook with variables that ansible-vault has encrypted."""
    from ansible.parsing.vault import VaultLib, VaultSecret

    vault = VaultLib([("default", VaultSecret(b"pa55word"))])
    write("secret.yml", vault.encrypt(b"token: from-the-vault").decode())
    write(
        "deploy.yml",
        "- hosts: localhost\n  gather_facts: false\n  vars_files: [secret.yml]\n  tasks:\n"
        '    - set_stats: {data: {length: "{{ token | length }}"}}\n',
    )


@pytest.mark.usefixtures("encrypted")
def test_encrypted_variables(make: Make, request_of: Make, finish: Make) -> None:
    assert finish(make(vault_password="pa55word"), request_of()) == Succeeded({"length": 14})


@pytest.mark.usefixtures("encrypted")
@pytest.mark.parametrize("section", [{"vault_password": "wr0ng-word"}, {}], ids=["wrong", "none"])
def test_variables_that_cannot_be_decrypted(
    make: Make, request_of: Make, finish: Make, section: dict[str, str]
) -> None:
    answer = finish(make(**section), request_of())
    assert isinstance(answer, Failed)
    assert "vault secrets" in answer.reason
    assert "secret.yml" in answer.reason
    assert "wr0ng" not in str(answer)


# -- failures -------------------------------------------------------------------------------------


def test_a_task_that_fails(make: Make, write: Make, request_of: Make, finish: Make) -> None:
    write(
        "deploy.yml",
        tasks="""
- set_stats: {data: {resource_id: half}}
- {name: install, command: 'sh -c "echo no such package >&2; exit 3"'}
""",
    )
    reason = "localhost failed in the task install: non-zero return code: no such package"
    assert finish(make(), request_of()) == Failed(reason, {"resource_id": "half"}, "half")


def test_a_failure_that_is_rescued_is_none(
    make: Make, write: Make, request_of: Make, finish: Make
) -> None:
    write(
        "deploy.yml",
        tasks="- block: [{command: 'false'}]\n  rescue: [{set_stats: {data: {rescued: true}}}]",
    )
    assert finish(make(), request_of()) == Succeeded({"rescued": True})


def test_a_host_that_cannot_be_reached(
    make: Make, write: Make, request_of: Make, finish: Make
) -> None:
    write("deploy.yml", "- hosts: all\n  gather_facts: false\n  tasks:\n    - ping:\n")
    ssh = write("ssh", "#!/bin/sh\necho 'ssh: Connection refused' >&2\nexit 255\n")
    ssh.chmod(0o755)
    there = {"ansible_host": "127.0.0.1", "ansible_ssh_executable": str(ssh)}
    answer = finish(make(), request_of(params={"inventory": {"all": {"hosts": {"far": there}}}}))
    assert isinstance(answer, Failed)
    assert answer.reason.startswith("far cannot be reached in the task ping: ")
    assert answer.reason.endswith("ssh: Connection refused")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            "- hosts: localhost\n  tasks:\n    - nosuch_module:\n",
            "Ansible ended early: couldn't resolve module/action 'nosuch_module'",
            id="module",
        ),
        pytest.param(
            "- hosts: nowhere\n  tasks:\n    - ping:\n",
            "The playbook ran on no host",
            id="no-host",
        ),
    ],
)
def test_a_playbook_that_cannot_run(
    make: Make, write: Make, request_of: Make, finish: Make, text: str, reason: str
) -> None:
    write("deploy.yml", text)
    assert finish(make(), request_of()).reason.startswith(reason)


def test_a_playbook_that_asks_gets_no_answer(
    make: Make, write: Make, request_of: Make, finish: Make
) -> None:
    write(
        "deploy.yml",
        "- hosts: localhost\n  gather_facts: false\n  vars_prompt: [{name: pin, default: none}]\n"
        '  tasks: [{set_stats: {data: {pin: "{{ pin }}"}}}]\n',
    )
    assert isinstance(finish(make(), request_of()), Succeeded)


@pytest.mark.parametrize(
    ("workflow", "params", "reason"),
    [
        ("nosuch.yml", {}, "There is no playbook 'nosuch.yml'"),
        ("../deploy.yml", {}, "There is no playbook"),
        ("/etc/deploy.yml", {}, "There is no playbook"),
        ("no role", {}, "names no playbook and no role"),
        ("deploy.yml", {"forks": 3}, "knows no parameter 'forks'"),
        ("deploy.yml", {"inventory": "web1,"}, "params.inventory is no inventory"),
        ("deploy.yml", {"limit": "@/etc/passwd"}, "params.limit is a text"),
        ("deploy.yml", {"tags": [3]}, "params.tags is a text"),
    ],
)
def test_a_wrong_request(
    make: Make, write: Make, request_of: Make, workflow: str, params: Any, reason: str
) -> None:
    write("deploy.yml", tasks="- ping:")
    answer = make().start(request_of(workflow, params=params))
    assert isinstance(answer, Finished)
    assert reason in answer.result.reason


def test_a_playbook_is_looked_for_when_a_template_is_validated(make: Make, write: Make) -> None:
    write("sites/deploy.yml", tasks="- ping:")
    make().check("sites/deploy.yml")
    with pytest.raises(ResourceFailure, match="There is no playbook"):
        make().check("deploy.yml")


# -- one run per key ------------------------------------------------------------------------------


def test_a_run_goes_on_without_the_zonda_that_started_it(
    make: Make, request_of: Make, gate: Gate, folder: Path, find_run: Make
) -> None:
    request = request_of(inputs={"folder": str(folder)})
    token = make().start(request).token
    gate.wait()
    gate.open()
    later = make()
    assert later.start(request).token == token
    find_run().wait()
    assert later.poll(token) == Succeeded({"resource_id": "half-made"}, "half-made")
    later.start(request)
    assert list_starts(folder) == ["started", "ended"]


def test_a_forgotten_run_is_never_begun_again(
    make: Make, write: Make, request_of: Make, finish: Make, tmp_path: Path, folder: Path
) -> None:
    write("deploy.yml", tasks=f"- shell: echo started >> {folder}/starts")
    runner, request = make(), request_of()
    finish(runner, request)
    token = runner.start(request).token
    runner.forget(token)
    assert list((tmp_path / "state" / "runs").iterdir()) == []
    assert isinstance(runner.poll(runner.start(request).token), Lost)
    assert list_starts(folder) == ["started"]


def test_a_task_is_shown_as_progress(
    make: Make, request_of: Make, gate: Gate, folder: Path, find_run: Make
) -> None:
    runner = make()
    token = runner.start(request_of(inputs={"folder": str(folder)})).token
    gate.wait()
    answer = runner.poll(token)
    assert isinstance(answer, Running)
    assert answer.message == "task 2: wait at the gate"
    gate.open()
    find_run().wait()


def test_a_cancelled_run(
    make: Make, request_of: Make, gate: Gate, folder: Path, find_run: Make
) -> None:
    runner = make()
    token = runner.start(request_of(inputs={"folder": str(folder)})).token
    gate.wait()
    assert runner.cancel(token, "not wanted") == Cancelled.ACCEPTED
    find_run().wait()
    answer = runner.poll(token)
    assert answer.reason == "The playbook was cancelled; it was at task 2: wait at the gate"
    assert runner.cancel(token, "not wanted") == Cancelled.DONE
    assert list_starts(folder) == ["started"]


def test_a_run_that_takes_too_long(
    make: Make, request_of: Make, gate: Gate, folder: Path, find_run: Make, clock: Any
) -> None:
    runner = make()
    token = runner.start(request_of(inputs={"folder": str(folder)}, deadline=clock.now() + 3)).token
    find_run().wait()
    assert runner.poll(token).reason.startswith("The playbook took too long; it was at ")
    assert isinstance(runner.start(request_of(key="late", deadline=clock.now())), Finished)


def test_a_run_whose_watcher_is_killed(
    make: Make, request_of: Make, gate: Gate, folder: Path, find_run: Make
) -> None:
    runner = make()
    token = runner.start(request_of(inputs={"folder": str(folder)})).token
    gate.wait()
    os.kill(read_json(find_run().folder / "run.json")["wrapper"]["pid"], signal.SIGKILL)
    find_run().wait()
    assert list_processes(find_run().folder) != []
    answer = runner.poll(token)
    assert list_processes(find_run().folder) == []
    assert answer.reason == "The run was killed; it was at task 2: wait at the gate"
    assert answer.by_runner


def test_more_runs_than_there_is_room_for_wait(
    make: Make, request_of: Make, gate: Gate, folder: Path, find_run: Make
) -> None:
    runner = make(parallel=1)
    runner.start(request_of(inputs={"folder": str(folder)}))
    answer = runner.start(request_of(key="another"))
    assert isinstance(answer, Retry)
    assert answer.message == "1 playbooks run already"
    gate.wait()
    gate.open()
    find_run().wait()


def test_old_runs_are_removed(
    make: Make, write: Make, request_of: Make, finish: Make, tmp_path: Path, clock: Any
) -> None:
    write("deploy.yml", tasks="- ping:")
    runner, state = make(), tmp_path / "state"
    token = runner.start(request_of(key="first")).token
    DetachedRun(next((state / "runs").iterdir())).wait()
    os.utime(next((state / "runs").iterdir()) / "result.json", (0, clock.now() - 8 * 86400))
    runner.start(request_of())
    assert isinstance(runner.poll(token), Lost)
    for folder in (state / "runs").iterdir():
        DetachedRun(folder).wait()


# -- secrets --------------------------------------------------------------------------------------


def test_secrets_are_in_no_command_line_environment_or_file(
    make: Make, request_of: Make, gate: Gate, folder: Path, find_run: Make, tmp_path: Path
) -> None:
    runner = make(variables={"own": "sect10n"}, vault_password="vau1t")
    python = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {"localhost": {**python, "note": "h0st"}}
    request = request_of(
        inputs={"folder": str(folder), "password": "inp0t"},
        params={"inventory": {"all": {"hosts": hosts}}},
    )
    token = runner.start(request).token
    secrets = [b"sect10n", b"vau1t", b"h0st", b"inp0t"]
    gate.wait()
    command = read_json(find_run().folder / "run.json")["command"]["pid"]
    for name in ("cmdline", "environ"):
        shown = Path(f"/proc/{command}/{name}").read_bytes()
        assert [each for each in secrets if each in shown] == []
    gate.open()
    find_run().wait()
    assert isinstance(runner.poll(token), Succeeded)
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [p for p in found if any(each in p.read_bytes() for each in secrets)] == []


def test_secrets_of_the_section_are_masked_in_reasons(
    make: Make, write: Make, request_of: Make, finish: Make
) -> None:
    write("deploy.yml", tasks='- {name: say, fail: {msg: "wrong: {{ own }}"}}')
    answer = finish(make(variables={"own": "sect10n"}), request_of())
    assert "sect10n" not in answer.reason
    assert answer.reason.startswith("localhost failed in the task say: wrong: ")


def test_a_report_holds_no_results_of_tasks(
    make: Make, write: Make, request_of: Make, finish: Make, find_run: Make
) -> None:
    write("deploy.yml", tasks="- command: echo s3cret\n- debug: {msg: s3cret}")
    finish(make(), request_of())
    for path in find_run().folder.rglob("*"):
        assert path.is_dir() or b"s3cret" not in path.read_bytes()
    assert json.loads((find_run().folder / "report.json").read_text())["number"] == 2
