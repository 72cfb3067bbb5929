"""Real processes whose time of day is set while they are away: what was interrupted goes on."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

#: Runs the command line with a time of day that is so many seconds off.
OFF = """
import sys, time
off, now = float(sys.argv.pop(1)), time.time
time.time = lambda: now() + off
from zonda.core.cli.main import main
sys.exit(main())
"""
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  delay: {type: OS::Heat::Delay, properties: {min_wait: 3}}
  test: {type: OS::Heat::TestResource, properties: {value: x, wait_secs: 3}}
"""
DAY = 86400


def command(zonda: Any, off: int, *words: str | Path) -> subprocess.Popen[str]:
    """A command whose clock is ``off`` seconds wrong."""
    process = subprocess.Popen(
        [sys.executable, "-c", OFF, str(off), *map(str, words)],
        env=zonda.environment,
        cwd=zonda.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    zonda.processes.append(process)
    return process


def running(home: Path) -> int:
    """How many operations have begun and are polled."""
    if not (home / "zonda.db").exists():
        return 0
    with closing(sqlite3.connect(home / "zonda.db", timeout=30)) as connection:
        query = "SELECT count(*) FROM resource WHERE op_state = 'POLLING'"
        return int(connection.execute(query).fetchone()[0])


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(5 * DAY, 0, id="set back by five days"),
        pytest.param(1800, 0, id="set back by half an hour"),
        pytest.param(0, 5 * DAY, id="set forward by five days"),
    ],
)
def test_an_action_that_was_killed_goes_on_when_the_clock_was_set(
    zonda: Any,
    write: Callable[[str, str], Path],
    until: Callable[..., Any],
    first: int,
    then: int,
) -> None:
    template = write("t.yaml", TEMPLATE)
    process = command(zonda, first, "stack", "create", "s", "-t", template)
    until(lambda: running(zonda.home) == 2, "two operations are polled")
    process.send_signal(signal.SIGKILL)
    process.wait()
    taken = command(zonda, then, "stack", "wait", "s")
    said, _ = taken.communicate(timeout=100)
    assert taken.returncode == 0, said
    assert zonda.state("s") == "CREATE_COMPLETE"
