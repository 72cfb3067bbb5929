"""``zonda demo`` and ``zonda runner`` as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from zonda.core.app.runners.runner_service import ServiceRecord
from zonda.core.cli.main import main


def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "zonda", *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "demo"
    yield made
    if ServiceRecord(made / "runner.json").service() is not None:
        main(["runner", "stop", "--home", str(made)])


def test_the_demo_makes_things_that_exist_and_can_be_run_again(folder: Path) -> None:
    first = run("demo", "--folder", str(folder))

    assert "Stack team CREATE_COMPLETE" in first.stderr
    made = [Path(line.split()[-1]) for line in first.stdout.splitlines() if " bytes " in line]
    assert len(made) == 2
    assert all(path.is_file() for path in made)
    service = ServiceRecord(folder / "runner.json").service()
    assert service is not None

    again = run("demo", "--folder", str(folder))

    assert "Stack team UPDATE_COMPLETE" in again.stderr
    assert ServiceRecord(folder / "runner.json").service() == service

    for words in suggested(again.stderr):
        run(*words, "--home", str(folder))
    assert not [path for path in (folder / "data").rglob("*") if path.is_file()]


def suggested(said: str) -> list[list[str]]:
    """The commands of ours that the demo suggests."""
    lines = [line.split("#")[0].split() for line in said.splitlines()]
    commands = [line for line in lines if line[:1] == ["zonda"]]
    return [line[1:] for line in commands]


def test_a_second_service_for_a_home_is_refused(folder: Path) -> None:
    run("demo", "--folder", str(folder))
    workflows = folder / "w.yaml"
    workflows.write_text("workflows: {}\n")

    done = run("runner", "serve", str(workflows), "--home", str(folder), code=1)

    assert "already running" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        pytest.param(("stop",), 1, "could not be found", id="nothing-to-stop"),
        pytest.param(("serve", "nowhere.yaml"), 2, "nowhere.yaml", id="no-file"),
        pytest.param(("serve", "FILE", "--address", "x"), 2, "HOST:PORT", id="no-address"),
        pytest.param(("serve", "FILE", "--address", "127.0.0.1:1x"), 2, "HOST:PORT", id="no-port"),
    ],
)
def test_what_cannot_be_served_is_said(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    what: str,
) -> None:
    file = tmp_path / "w.yaml"
    file.write_text("workflows: {make: {command: [/bin/true]}}\n")
    given = [str(file) if word == "FILE" else word for word in words]

    assert main(["runner", *given, "--home", str(tmp_path / "home")]) == code
    assert what in capsys.readouterr().err


def test_the_engine_runs_until_it_is_told_to_stop(tmp_path: Path) -> None:
    home = tmp_path / "home"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "zonda", "engine", "run", "--home", str(home)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    assert process.stderr is not None
    assert "Ctrl-C stops it" in process.stderr.readline()
    template = tmp_path / "t.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources: {a: {type: OS::Heat::TestResource, properties: {value: x}}}\n"
    )

    beside = run("stack", "create", "web", "-t", str(template), "--home", str(home))
    refused = run("engine", "run", "--home", str(home), code=1)
    process.terminate()
    rest = process.stderr.read()
    process.stderr.close()

    assert "Stack web CREATE_COMPLETE" in beside.stderr
    assert f"process {process.pid}" in refused.stderr
    assert process.wait(20) == 0
    assert all(" INFO " in line for line in rest.splitlines()), "the engine's log and no more"
