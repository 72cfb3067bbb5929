"""The example: configurations carried out by scripts that know nothing of zonda."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "configuration"


@pytest.fixture
def site(zonda: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the site is to be; the runner service is there, and ``zonda`` is a command."""
    command = tmp_path / "bin" / "zonda"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m zonda "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    workflows = yaml.safe_load((EXAMPLE / "workflows.yaml").read_text())
    workflows["workflows"]["run-config"]["env"] = {"ZONDA_HOME": str(zonda.home)}
    (tmp_path / "workflows.yaml").write_text(yaml.safe_dump(workflows))
    shutil.copy(EXAMPLE / "run_config.py", tmp_path)
    zonda.serve(tmp_path / "workflows.yaml")
    return tmp_path / "site"


def test_the_example_through_its_life(zonda: Any, site: Path) -> None:
    given = ("-t", EXAMPLE / "configuration.yaml", "-e", EXAMPLE / "environment.yaml")
    zonda.run("stack", "create", "site", *given, "--parameter", f"directory={site}")
    assert (site / "index.html").read_text() == "Hello from site, CREATE\n"
    outputs = zonda.outputs("site")
    assert outputs["size"] == "24"
    assert json.loads(outputs["said"]) == {"1": "the page is there"}

    zonda.run("stack", "update", "site", "--existing", "--parameter", "greeting=Welcome")
    assert (site / "index.html").read_text() == "Welcome from site, UPDATE\n"

    zonda.run("stack", "update", "site", "--existing", "--parameter", "port=9090")
    settings = json.loads((site / "settings.json").read_text())
    assert settings == {"server": {"name": "this machine", "port": 9090}}
    assert (site / "index.html").read_text() == "Welcome from site, UPDATE\n"

    zonda.run("stack", "delete", "site", "--yes")
    assert sorted(path.name for path in site.iterdir()) == ["index.html"]
