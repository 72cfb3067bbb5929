"""The rules of plug-ins, kept by modules to the end of every life."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from cases import CASES
from checks import CaseWorld
from zonda.hooks import conformance

from zonda_ansible.index import load_index
from zonda_ansible.types import PREFIX, make_type

TYPES = ("Zonda::Ansible::Host", "Ansible::ansible.builtin.copy")
#: Those for which there is time elsewhere.
MORE = tuple(f"Ansible::ansible.builtin.{name}" for name in ("file", "template"))
IS_ALL = os.environ.get("ZONDA_ANSIBLE_LIVES") == "all"
#: The cases whose modules cannot keep every rule, with the reason.
LEFT_OUT = {
    "alternatives": "its diff tells of options where the thing is gone",
    "cronvar": "it has no check mode",
    "filesize": "its diff tells of options where the thing is gone",
    "command": "each life of the check has the same ids, by which it finds the record of the first",
    "unarchive": "of archives of tar it has no check mode, and nobody knows how to undo it",
}
#: Those for which there is always time.
SOME = ("line", "role")


@pytest.mark.parametrize("name", TYPES + MORE if IS_ALL else TYPES)
def test_plugin_check_finds_no_fault(name: str) -> None:
    command = [sys.executable, "-m", "zonda", "plugin", "check", "zonda-ansible", "--type", name]
    checked = subprocess.run([*command, "-f", "json"], capture_output=True, text=True, check=False)
    rows = json.loads(checked.stdout)
    assert [row for row in rows if row["Verdict"] == "fail"] == []
    assert checked.returncode == 0, checked.stderr
    passed = Counter(row["Check"] for row in rows if row["Verdict"] == "pass")
    assert {"create", "restart between all calls", "crash in create"} <= passed.keys()
    assert passed["update"] >= 2


@pytest.mark.parametrize("name", sorted(CASES.keys() - LEFT_OUT.keys()) if IS_ALL else SOME)
def test_modules_keep_the_rules(name: str) -> None:
    make = partial(CaseWorld, name)
    world = make()
    world.close()
    type_name = f"{PREFIX}{world.case.module}"
    report = conformance.check(make_type(load_index(), type_name), type_name, make, limit=0)
    assert [str(row) for row in report.failed] == []
    passed = Counter(row.check for row in report.rows if row.verdict == conformance.PASSED)
    assert {"live state", "delete twice", "crash in create", "crash in delete"} <= passed.keys()
    assert passed["update"] >= 2


def test_the_check_of_a_case_is_a_command(tmp_path: Path) -> None:
    name = "Ansible::ansible.builtin.blockinfile"
    command = [sys.executable, "-m", "zonda", "plugin", "check", "zonda-ansible", "--type", name]
    checked = subprocess.run(
        [*command, "--backend", "checks:block", "--limit", "0"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    assert " 0 failed" in checked.stderr
