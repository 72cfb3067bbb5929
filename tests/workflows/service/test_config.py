"""The workflow file of the bundled service, and its faults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from zonda.hooks.errors import UsageError
from zonda.workflows.service.config import load_config


def written(folder: Path, text: str) -> Path:
    file = folder / "flows.yaml"
    file.write_text(text)
    return file


def test_every_kind_of_workflow(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "mine.py").touch()
    config = load_config(
        written(
            tmp_path,
            """
            parallel: 3
            workflows:
              list: {command: [a, b], cwd: sub, env: {X: "1"}, timeout: 1.5, idempotent: true}
              shell: {command: "a | b", description: what it does}
              module: {callable: "mod.ule:run"}
              file: {callable: "./mine.py:run"}
              url: {http: "https://flows.example/x"}
              call: {http: {url: "http://flows.example/", method: put, headers: {A: b}}}
            """,
        )
    )
    flows = config.workflows
    assert config.parallel == 3
    assert flows["list"].argv == ("a", "b")
    assert flows["list"].cwd == str(tmp_path / "sub")
    assert (flows["list"].env, flows["list"].timeout, flows["list"].idempotent) == (
        {"X": "1"},
        1.5,
        True,
    )
    assert flows["shell"].argv == ("/bin/sh", "-c", "a | b")
    assert flows["shell"].cwd == str(tmp_path)
    assert flows["module"].argv[0] == sys.executable
    assert flows["module"].argv[-3:] == ("mod.ule", "run", str(tmp_path))
    assert flows["file"].argv[-3] == str(tmp_path / "mine.py")
    assert flows["url"].http == {"url": "https://flows.example/x", "method": "POST", "headers": {}}
    assert flows["call"].http is not None
    assert flows["call"].http["method"] == "PUT"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        pytest.param("[]", "must be a map", id="list"),
        pytest.param("", "must be a map", id="empty"),
        pytest.param("a: [", "is not YAML", id="no-yaml"),
        pytest.param("workflows:", "workflows must be a map of names", id="none"),
        pytest.param("flows: {}", "flows is not known here", id="unknown-section"),
        pytest.param("parallel: 0", "parallel must be a whole number", id="parallel"),
        pytest.param("workflows: {1: {command: a}}", "a name that is no text", id="name"),
        pytest.param("workflows: {a: b}", "workflows.a must be a map", id="entry"),
        pytest.param("workflows: {a: {}}", "exactly one of command, callable, http", id="kind"),
        pytest.param(
            "workflows: {a: {command: x, http: 'http://x'}}", "exactly one of", id="two-kinds"
        ),
        pytest.param("workflows: {a: {comand: x}}", "workflows.a.comand is not known", id="typo"),
        pytest.param("workflows: {a: {command: []}}", "workflows.a.command must be", id="command"),
        pytest.param("workflows: {a: {command: [x, 1]}}", "quote numbers", id="command-number"),
        pytest.param("workflows: {a: {callable: x}}", '"module:function"', id="callable"),
        pytest.param("workflows: {a: {callable: './no.py:f'}}", "does not exist", id="no-file"),
        pytest.param("workflows: {a: {http: 5}}", "a URL or a map", id="http"),
        pytest.param("workflows: {a: {http: 'ftp://x'}}", "must be an http(s) URL", id="ftp"),
        pytest.param("workflows: {a: {command: x, cwd: nope}}", "is no folder", id="cwd"),
        pytest.param("workflows: {a: {command: x, env: {A: 1}}}", "map of texts", id="env"),
        pytest.param("workflows: {a: {command: x, timeout: 0}}", "above 0", id="timeout"),
        pytest.param("workflows: {a: {command: x, idempotent: 1}}", "true or false", id="flag"),
    ],
)
def test_faults_name_the_file_and_the_place(tmp_path: Path, text: str, part: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_config(file)
    assert part in caught.value.message
    assert str(file) in caught.value.message


def test_every_fault_is_reported(tmp_path: Path) -> None:
    file = written(tmp_path, "workflows: {a: {command: x, timeout: 0, cwd: nope}, b: {}}")
    with pytest.raises(UsageError) as caught:
        load_config(file)
    assert len(caught.value.message.split("; ")) == 3
    assert "\n" not in caught.value.message  # it would be spelt out


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_config(tmp_path / "no.yaml")


def test_a_service_without_workflows_listens_for_callbacks(tmp_path: Path) -> None:
    (tmp_path / "flows.yaml").write_text("workflows: {}")
    assert load_config(tmp_path / "flows.yaml").workflows == {}


def test_several_files_are_one_configuration(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    one, other = tmp_path / "one.yaml", tmp_path / "sub" / "other.yaml"
    one.write_text("parallel: 2\nworkflows: {a: {command: x}}\n")
    other.write_text("parallel: 5\nworkflows: {b: {command: x}}\n")
    found = load_config(one, other)
    assert {name: each.cwd for name, each in found.workflows.items()} == {
        "a": str(tmp_path),
        "b": str(tmp_path / "sub"),
    }
    assert found.parallel == 5
    other.write_text("workflows: {a: {command: x}}\n")
    with pytest.raises(UsageError, match=r"a stands in .*other.yaml and in another file"):
        load_config(one, other)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param("9" * 400, id="400-digits"),
        pytest.param("9" * 5000, id="5000-digits"),
        pytest.param("0x" + "f" * 5000, id="hexadecimal"),
        pytest.param("1" + ":59" * 300 + ".5", id="base-60"),
        pytest.param(".inf", id="infinity"),
    ],
)
@pytest.mark.parametrize(
    "text",
    ["parallel: {}\nworkflows: {{}}\n", "workflows: {{a: {{command: [x], timeout: {}}}}}\n"],
    ids=["parallel", "timeout"],
)
def test_a_number_beyond_all_bounds_is_a_fault_of_the_file(
    tmp_path: Path, text: str, number: str
) -> None:
    file = tmp_path / "workflows.yaml"
    file.write_text(text.format(number))
    with pytest.raises(UsageError, match=r"workflows\.yaml"):
        load_config(file)
