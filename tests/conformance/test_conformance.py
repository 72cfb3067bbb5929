"""Every conformance case passes, is a listed deviation, or is listed in ``later.yaml``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).resolve().parent
LINE = re.compile(r"([a-z0-9_.-]+)(?: \[later: (.*?)\])?: ")
COUNT = re.compile(r"[a-z_]+: \d+ (passed|failed|deviations)")


@pytest.fixture(scope="module")
def run() -> subprocess.CompletedProcess[str]:
    """One run over all cases that the project carries."""
    command = [sys.executable, str(HERE / "run.py"), str(HERE / "cases")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def failing(text: str) -> set[str]:
    lines = [line for line in text.splitlines() if not COUNT.match(line)]
    return {found[1] for line in lines if (found := LINE.match(line))}


def later() -> set[str]:
    listed = yaml.safe_load((HERE / "later.yaml").read_text()) or {}
    return {case for cases in listed.values() for case in cases}


def test_no_case_fails_that_is_not_listed(run: subprocess.CompletedProcess[str]) -> None:
    assert run.stderr == ""
    unlisted = failing(run.stdout) - later()
    shown = [line for line in run.stdout.splitlines() if line.split(":")[0] in unlisted]
    assert not shown, "\n".join(shown)


def test_no_listed_case_passes_already(run: subprocess.CompletedProcess[str]) -> None:
    assert later() - failing(run.stdout) == set()


def test_the_last_line_counts_every_case(run: subprocess.CompletedProcess[str]) -> None:
    counts = Counter(json.loads(run.stdout.splitlines()[-1]))
    deviations = yaml.safe_load((HERE / "deviations.yaml").read_text())
    assert counts["failed"] == len(later())
    assert counts["deviations"] == len(deviations)
    files = (HERE / "cases").glob("*.yaml")
    written = sum(len(re.findall(r"^- id: ", file.read_text(), re.MULTILINE)) for file in files)
    assert counts.total() == written >= 1242
    assert counts["passed"] >= 1000
    assert run.returncode == (1 if counts["failed"] else 0)


def test_every_deviation_names_a_rule_of_the_compatibility_page() -> None:
    page = (HERE.parents[1] / "docs" / "reference" / "heat-compatibility.md").read_text()
    for case, entry in yaml.safe_load((HERE / "deviations.yaml").read_text()).items():
        assert entry["rules"], case
        for rule in entry["rules"]:
            assert re.search(rf"^#* *{rule}\.", page, re.MULTILINE), f"{case}: rule {rule}"
