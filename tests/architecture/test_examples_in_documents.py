"""What the documents print as code works."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import responses

from zonda.core.app.app import build_app
from zonda.core.plugins import files
from zonda.core.settings import settings
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import UsageError, ValidationErrors
from zonda.hooks.runners import ResourceRef, StackRef, StartRequest, Succeeded, http_contract
from zonda.hooks.testing import FakeClock, Lifecycle

LINES = """
heat_template_version: 2018-08-31
parameters: {text: {type: string, constraints: [{custom_constraint: acme.one_line}]}}
outputs: {said: {value: {acme_lines: [{get_param: text}, two]}}}
"""
ROOT = Path(__file__).resolve().parents[2]
PLUGINS = "docs/how-to/write-a-plugin.md"


def blocks(document: str, language: str) -> list[str]:
    """The fenced blocks of one language."""
    text = (ROOT / document).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_the_plugin_in_the_documents_lives_its_life(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "folder.py").write_text(blocks(PLUGINS, "python")[0])
    [plugin], failures = files.load_files([str(tmp_path / "plugins")])
    assert failures == []
    cls = plugin.zonda_resource_types()["My::Folder"]  # type: ignore[attr-defined]
    wanted = tmp_path / "made" / "here"
    folder = Lifecycle(cls, {"path": str(wanted)})
    folder.create()
    assert wanted.is_dir()
    assert folder.attribute("path") == str(wanted)
    folder.delete()
    assert not wanted.exists()


def test_the_settings_in_the_documents_are_accepted(tmp_path: Path) -> None:
    for block in blocks("docs/reference/settings.md", "toml"):
        tomllib.loads(block)
        (tmp_path / settings.FILE_NAME).write_text(block)
        found = settings.load_settings({"home": str(tmp_path)}, {})
        assert found.default_runner in found.runners


def test_the_template_in_the_readme_is_valid(tmp_path: Path) -> None:
    [text] = blocks("README.md", "yaml")
    app = build_app(settings.load_settings({"home": str(tmp_path)}, {}))
    checked = app.templates.validate(Bundle(text))
    assert list(checked.outputs) == ["said"]
    app.close()


def test_the_function_and_the_constraint_in_the_documents_work(tmp_path: Path) -> None:
    code = [each for each in blocks(PLUGINS, "python") if "def zonda_" in each]
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    for name in ("zonda_functions", "zonda_constraints"):
        (plugins / f"{name}.py").write_text(next(each for each in code if name in each))
    stack = InlineStack(tmp_path / "home", plugin_dirs=[plugins])
    stack.create(LINES, text="one")
    assert stack.outputs == {"said": "one\ntwo"}
    with pytest.raises(ValidationErrors, match="it has more than one line"):
        stack.update(LINES, text="one\ntwo")
    with pytest.raises(ValidationErrors, match='"acme_lines" takes a list of texts'):
        stack.update(LINES.replace("[{get_param: text}, two]", "two"), text="one")


def test_the_runner_in_the_documents_runs(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text(blocks("docs/how-to/write-a-runner.md", "python")[0])
    [plugin], failures = files.load_files([str(tmp_path)])
    assert failures == []
    make = plugin.zonda_runners()["queue"]  # type: ignore[attr-defined]
    runner = make({"endpoint": "http://queue.example/", "clock": FakeClock()})
    request = StartRequest(
        *("make", "CREATE", "k-1", 4e9, StackRef("s", "app", "default")),
        ResourceRef("r", "disk", "T", None),
        {"size": 3},
    )
    job = "http://queue.example/jobs/k-1"
    with responses.RequestsMock() as world:
        world.put(job, status=202)
        world.get(job, json={"result": {"resource_id": "d-1"}})
        started = runner.start(request)
        assert runner.poll(started.token) == Succeeded({"resource_id": "d-1"}, "d-1")
        assert world.calls[0].request.body == http_contract.body(request)
    runner.close()
    with pytest.raises(UsageError, match="endpoint is missing"):
        make({"clock": FakeClock()})
