"""The rules of plug-ins, kept by a sample of modules to the end of every life."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

TYPES = ("Zonda::Ansible::Host", "Ansible::ansible.builtin.copy")
#: Those for which there is time elsewhere.
MORE = tuple(f"Ansible::ansible.builtin.{name}" for name in ("file", "template"))


@pytest.mark.parametrize(
    "name", TYPES + MORE if os.environ.get("ZONDA_ANSIBLE_LIVES") == "all" else TYPES
)
def test_plugin_check_finds_no_fault(name: str) -> None:
    command = [sys.executable, "-m", "zonda", "plugin", "check", "zonda-ansible", "--type", name]
    checked = subprocess.run([*command, "-f", "json"], capture_output=True, text=True, check=False)
    rows = json.loads(checked.stdout)
    assert [row for row in rows if row["Verdict"] == "fail"] == []
    assert checked.returncode == 0, checked.stderr
    passed = Counter(row["Check"] for row in rows if row["Verdict"] == "pass")
    assert {"create", "restart between all calls", "crash in create"} <= passed.keys()
    assert passed["update"] >= 2
