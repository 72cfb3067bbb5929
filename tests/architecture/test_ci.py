"""``.ci/run`` needs all components unless told otherwise; ``.ci/tests`` runs both of its parts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / ".ci" / "run"
#: All that the beginning of the script calls. Neither npm nor what could install it is among it.
TOOLS = ("bash", "dirname", "mktemp", "rm", "cat", "timeout", "id", "tee", "env")
SHELLS = ("zsh", "fish", "mandoc")
BROWSER = "chromium"
SYSTEMD = "systemd-analyze"
#: The proxies of a database and of an API.
PROXIES = ("haproxy", "pgbouncer")
#: Programs that modules of Ansible work on.
MODULES = (
    "crontab",
    "podman",
    "runc",
    "setcap",
    "setfacl",
    "setfattr",
    "sshd",
    "sudo",
    "sysctl",
    "unzip",
)
NEXT = "=== a development environment"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The script on a machine with these tools and a Python that shows its variables, and fails."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(str(shutil.which(name)))

    (tools / "python").write_text(f"#!{shutil.which('bash')}\nenv\nexit 1\n")
    (tools / "python").chmod(0o755)

    for name in (*SHELLS, BROWSER, SYSTEMD, *PROXIES, *MODULES):
        (tools / name).touch(0o755)

    def start(*options: str, npm: str = "") -> subprocess.CompletedProcess[str]:
        if npm:
            (tools / "npm").write_text(f"#!{shutil.which('bash')}\n{npm}\n")
            (tools / "npm").chmod(0o755)
        environment = {"PATH": str(tools), "PYTHON": "python", "TMPDIR": str(tmp_path)}
        return subprocess.run(
            ["bash", str(RUN), *options],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return start


def test_without_npm_it_ends_at_once_and_says_what_to_do(run: Run) -> None:
    done = run()
    assert done.returncode == 1
    assert NEXT not in done.stdout
    assert "apt-get install npm" in done.stderr
    assert "--without node-red --without restate" in done.stderr


def test_a_node_red_that_cannot_be_installed_ends_it(run: Run) -> None:
    done = run(npm="echo no such registry >&2; exit 1")
    assert done.returncode == 1
    assert NEXT not in done.stdout
    assert "no such registry" in done.stderr
    assert "--without node-red" in done.stderr


def test_without_a_shell_it_ends_unless_it_is_told_to_do_without(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tools" / "fish").unlink()
    done = run(npm="exit 0")
    assert (done.returncode, NEXT in done.stdout) == (1, False)
    assert "fish is missing: apt-get install fish" in done.stderr
    assert "bash .ci/run --without shells" in done.stderr
    assert "ZONDA_SHELL_TESTS=never" in run("--without", "shells", npm="exit 0").stdout


def test_without_a_browser_it_ends_unless_it_is_told_to_do_without(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "tools" / BROWSER).unlink()
    done = run(npm="exit 0")
    assert (done.returncode, NEXT in done.stdout) == (1, False)
    assert "chromium is missing: apt-get install chromium" in done.stderr
    assert "bash .ci/run --without browser" in done.stderr
    assert "ZONDA_BROWSER_TESTS=never" in run("--without", "browser", npm="exit 0").stdout


def test_without_systemd_it_ends_unless_it_is_told_to_do_without(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tools" / SYSTEMD).unlink()
    done = run(npm="exit 0")
    assert (done.returncode, NEXT in done.stdout) == (1, False)
    assert "systemd-analyze is missing: apt-get install systemd" in done.stderr
    assert "ZONDA_SYSTEMD_TESTS=never" in run("--without", "systemd", npm="exit 0").stdout


def test_without_sshd_it_ends_unless_it_is_told_to_do_without(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tools" / "sshd").unlink()
    done = run(npm="exit 0")
    assert (done.returncode, NEXT in done.stdout) == (1, False)
    assert "sshd is missing: apt-get install openssh-server" in done.stderr
    assert "ZONDA_ANSIBLE_TESTS=never" in run("--without", "ansible", npm="exit 0").stdout


@pytest.mark.parametrize(
    ("options", "npm"),
    [
        pytest.param(
            ["--without", "node-red", "--without", "restate", "--without", "editor"],
            "",
            id="no-npm",
        ),
        pytest.param(["--without", "node-red", "--without", "editor"], "exit 1", id="no-node-red"),
        pytest.param(["--without", "openstack"], "exit 0", id="no-openstack"),
        pytest.param([], "exit 0", id="all-there"),
    ],
)
def test_it_goes_on_without_what_it_is_told_to_do_without(
    run: Run, options: list[str], npm: str
) -> None:
    assert NEXT in run(*options, npm=npm).stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param([], "ZONDA_RESTATE_TESTS=required", id="restate"),
        pytest.param(["--without", "restate"], "ZONDA_RESTATE_TESTS=never", id="no-restate"),
        pytest.param([], "ZONDA_SHELL_TESTS=required", id="shells"),
        pytest.param([], "ZONDA_BROWSER_TESTS=required", id="browser"),
        pytest.param([], "ZONDA_SYSTEMD_TESTS=required", id="systemd"),
        pytest.param([], "ZONDA_ANSIBLE_TESTS=required", id="ansible"),
        pytest.param([], "ZONDA_CLIENTS_TESTS=required", id="clients"),
        pytest.param(["--without", "clients"], "ZONDA_CLIENTS_TESTS=never", id="no-clients"),
        pytest.param([], "ZONDA_FUZZ_TESTS=required", id="fuzz"),
        pytest.param(["--without", "fuzz"], "ZONDA_FUZZ_TESTS=never", id="no-fuzz"),
        pytest.param([], "ZONDA_POSTGRESQL_TESTS=required", id="postgresql"),
        pytest.param(
            ["--without", "postgresql"], "ZONDA_POSTGRESQL_TESTS=never", id="no-postgresql"
        ),
    ],
)
def test_the_tests_are_told_what_must_be_there(run: Run, options: list[str], said: str) -> None:
    done = run(*options, npm="exit 0")
    assert said in done.stdout.partition(NEXT)[2].splitlines()


@pytest.mark.parametrize("options", [["--without", "gravity"], ["--without"], ["now"]])
def test_what_it_does_not_know_is_refused(run: Run, options: list[str]) -> None:
    done = run(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "usage: bash .ci/run [--without ansible|browser|clients|editor|fuzz|keystone|mistral|"
        in done.stderr
    )


#: A Python whose environments have tools that log their command and fail as ``FAILING`` says.
PYTHON = """#!{bash}
echo "$0 $*" >>"$LOG"
case " $* " in
    *" -m venv "*)
        mkdir -p "${{@: -1}}/bin"
        for name in pip pytest mypy; do cp "$0" "${{@: -1}}/bin/$name"; done
        ;;
esac
for word in $FAILING; do case "$0 $*" in *"$word"*) exit 1 ;; esac; done
exit 0
"""


@pytest.fixture
def log_of_tests(tmp_path: Path) -> Callable[[str], tuple[int, str]]:
    """The exit code of ``.ci/tests`` and all calls, where calls that contain a word fail."""
    python = tmp_path / "python"
    python.write_text(PYTHON.format(bash=shutil.which("bash")))
    python.chmod(0o755)

    def run_tests(failing: str) -> tuple[int, str]:
        log = tmp_path / "log"
        environment = {"PATH": os.environ["PATH"], "PYTHON": str(python), "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            ["bash", str(RUN.parent / "tests"), str(tmp_path)],
            env={**environment, "LOG": str(log), "FAILING": failing},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, log.read_text()

    return run_tests


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        pytest.param("", 0, id="all-pass"),
        pytest.param("worksteal", 1, id="the-tests-of-zonda-fail"),
        pytest.param("contrib/zonda-files/tests", 1, id="one-package-fails"),
    ],
)
def test_all_tests_run_whatever_fails_and_the_exit_code_tells(
    log_of_tests: Callable[[str], tuple[int, str]], failing: str, code: int
) -> None:
    ended, calls = log_of_tests(failing)
    assert ended == code
    assert "-m pytest" in calls
    for package in (RUN.parents[1] / "contrib").glob("*/pyproject.toml"):
        assert f"contrib/{package.parent.name}/tests" in calls
