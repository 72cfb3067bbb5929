"""Breakpoints, protection, marks, signals, limits and tags from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  first: {type: OS::Heat::TestResource, properties: {value: a}}
  second: {type: OS::Heat::TestResource, properties: {value: b}, depends_on: first}
"""
HOOKS = "resource_registry: {resources: {second: {hooks: [pre-create, post-create]}}}\n"


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZONDA_USER", "ann")


@pytest.fixture
def template(write: Write) -> Path:
    return write("t.yaml", TEMPLATE)


@pytest.fixture
def web(zonda: Zonda, template: Path) -> None:
    zonda("stack", "create", "web", "-t", template)


def events(zonda: Zonda, stack: str = "web") -> list[str]:
    shown = zonda("stack", "event", "list", stack, "-f", "json").data
    return [f"{one['resource_status']} {one['resource_status_reason']}" for one in shown]


def waiting(zonda: Zonda) -> list[Any]:
    found: list[Any] = zonda("stack", "hook", "poll", "web", "-f", "json").data
    return found


@pytest.mark.sqlite
def test_hooks_are_polled_and_cleared_beside_the_command_that_waits(
    zonda: Zonda, write: Write, template: Path, tmp_path: Path
) -> None:
    environment = write("e.yaml", HOOKS)
    words = ["stack", "create", "web", "-t", template, "-e", environment]
    command = [sys.executable, "-P", "-m", "zonda", *map(str, words)]
    process = subprocess.Popen(
        [*command, "--home", str(tmp_path / "home")],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "paused until Hook pre-create" in line:
            break
    (one,) = waiting(zonda)
    assert (one["resource_name"], one["hook"]) == ("second", "pre-create")
    assert one["resource_status"] == "INIT_COMPLETE"
    assert one["event_time"].endswith("Z")

    said = zonda("stack", "hook", "clear", "web", "second", "--pre-create").err
    assert f"process {process.pid}" in said
    for line in process.stderr:
        if "paused until Hook post-create" in line:
            break
    zonda("stack", "resource", "signal", "web", "second", "--data", '{"unset_hook": "post-create"}')

    process.communicate(timeout=60)
    assert process.returncode == 0
    assert zonda("stack", "show", "web", "-f", "json").data["stack_status"] == "CREATE_COMPLETE"
    assert "CREATE_COMPLETE Hook post-create is cleared (by ann)" in events(zonda)


@pytest.mark.parametrize(
    ("words", "state", "code"),
    [
        pytest.param(
            ("update", "web", "-t", "TEMPLATE", "--supersede"), "UPDATE_COMPLETE", 1, id="update"
        ),
        pytest.param(("cancel", "web"), "ROLLBACK_COMPLETE", 1, id="cancel"),
        pytest.param(("cancel", "web", "--no-rollback"), "CREATE_FAILED", 1, id="only-stop"),
        pytest.param(("delete", "-y", "web"), "", 1, id="delete"),
    ],
)
@pytest.mark.sqlite
def test_other_commands_end_a_wait(
    zonda: Zonda,
    write: Write,
    template: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    state: str,
    code: int,
) -> None:
    environment = write("e.yaml", HOOKS)
    create = ["stack", "create", "web", "-t", template, "-e", environment]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "zonda", *map(str, create), "--home", str(tmp_path / "home")],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "paused until Hook" in line:
            break

    zonda("stack", *[str(template) if word == "TEMPLATE" else word for word in words])

    said = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert ("This CREATE was cancelled by ann." in said) == (words[0] == "cancel")
    shown = {one["Stack Name"]: one for one in zonda("stack", "list", "-f", "json").data}
    assert (shown["web"]["Stack Status"] if shown else "") == state


@pytest.mark.sqlite
def test_a_wait_outlives_the_command_that_waited(
    zonda: Zonda, write: Write, template: Path, tmp_path: Path
) -> None:
    environment = write("e.yaml", HOOKS.replace(", post-create", ""))
    words = ["stack", "create", "web", "-t", template, "-e", environment]
    command = [sys.executable, "-P", "-m", "zonda", *map(str, words)]
    process = subprocess.Popen(
        [*command, "--home", str(tmp_path / "home")], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "paused until Hook pre-create" in line:
            break
    process.kill()
    process.stderr.close()
    process.wait(20)

    assert waiting(zonda)[0]["hook"] == "pre-create"
    said = zonda("stack", "hook", "clear", "web", "*").err

    assert "'zonda stack wait web' carries it out" in said
    assert zonda("stack", "wait", "web").code == 0
    assert waiting(zonda) == []


def test_a_hook_that_nobody_reached_cannot_be_cleared(zonda: Zonda, web: None) -> None:
    said = zonda("stack", "hook", "clear", "web", "first", code=1).err

    assert "No hook is reached on first" in said
    assert "Nothing in this stack waits at a hook." in said


def test_protection_by_command(zonda: Zonda, web: None, template: Path) -> None:
    zonda("stack", "protect", "web")
    zonda("stack", "protect", "web", "first")

    assert zonda("stack", "show", "web", "-f", "json").data["protected"] is True
    shown = zonda("stack", "resource", "show", "web", "first", "-f", "json").data
    assert shown["protected"] is True
    said = zonda("stack", "delete", "-y", "web", code=1).err
    assert "The stack web is protected." in said
    assert "zonda stack unprotect web" in said

    zonda("stack", "unprotect", "web")
    said = zonda("stack", "delete", "-y", "web", code=1).err
    assert "Run 'zonda stack unprotect web first' first." in said

    zonda("stack", "unprotect", "web", "first")
    zonda("stack", "delete", "-y", "web")


def test_protection_by_the_environment(zonda: Zonda, write: Write, template: Path) -> None:
    environment = write("e.yaml", 'zonda: {protect: ["OS::Heat::*"]}\n')
    zonda("stack", "create", "web", "-t", template, "-e", environment)

    without = "".join(TEMPLATE.splitlines(keepends=True)[:-1])
    said = zonda("stack", "update", "web", "-t", write("u.yaml", without), code=1).err

    assert "second in stack web is protected" in said


def test_an_unhealthy_resource_is_replaced_by_the_next_update(
    zonda: Zonda, web: None, template: Path
) -> None:
    before = zonda("stack", "resource", "show", "web", "first", "-f", "json").data

    zonda("stack", "resource", "mark", "unhealthy", "web", "first", "its disk is full")
    marked = zonda("stack", "resource", "show", "web", "first", "-f", "json").data
    zonda("stack", "update", "web", "-t", template)
    after = zonda("stack", "resource", "show", "web", "first", "-f", "json").data

    assert marked["resource_status"] == "CHECK_FAILED"
    assert marked["resource_status_reason"] == "its disk is full"
    assert after["id"] != before["id"]
    assert "CHECK_FAILED its disk is full (by ann)" in events(zonda)


def test_a_mark_can_be_taken_back(zonda: Zonda, web: None, template: Path) -> None:
    before = zonda("stack", "resource", "show", "web", "first", "-f", "json").data
    zonda("stack", "resource", "mark", "unhealthy", "web", "first")

    zonda("stack", "resource", "mark", "unhealthy", "web", "first", "--reset")
    zonda("stack", "update", "web", "-t", template)

    after = zonda("stack", "resource", "show", "web", "first", "-f", "json").data
    assert (after["id"], after["resource_status"]) == (before["id"], "CHECK_COMPLETE")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(("--data", "{"), 2, "--data is no JSON", id="no-json"),
        pytest.param(("--data", "[1]"), 2, "--data must be a JSON object", id="no-object"),
        pytest.param(
            ("--data", '{"a": 1}'), 1, "signal is not supported for resource", id="unsupported"
        ),
        pytest.param((), 1, "signal is not supported for resource", id="without-data"),
        pytest.param(("--data-file", "missing.json"), 2, "missing.json", id="no-file"),
    ],
)
def test_signals_that_cannot_be_sent(
    zonda: Zonda, web: None, words: tuple[str, ...], code: int, said: str
) -> None:
    assert said in zonda("stack", "resource", "signal", "web", "first", *words, code=code).err


def test_a_signal_reaches_the_resource(zonda: Zonda, write: Write) -> None:
    plugin = (
        "from zonda.hooks import attributes, resource\n"
        "class Ear(resource.Resource):\n"
        "    attributes_schema = {'heard': attributes.Schema('what was said')}\n"
        "    def handle_signal(self, details=None):\n"
        "        self.data_set('heard', details['word'])\n"
        "    def _resolve_attribute(self, name):\n"
        "        return self.data().get('heard')\n"
        "def resource_mapping():\n"
        "    return {'My::Ear': Ear}\n"
    )
    write("home/plugins/ear.py", plugin)
    text = (
        "heat_template_version: rocky\nresources: {a: {type: My::Ear}}\n"
        "outputs: {heard: {value: {get_attr: [a, heard]}}}\n"
    )
    zonda("stack", "create", "web", "-t", write("ear.yaml", text))

    file = write("signal.json", '{"word": "hello"}')
    zonda("stack", "resource", "signal", "web", "a", "--data-file", file)

    shown = zonda("stack", "output", "show", "web", "heard", "-f", "json").data
    assert shown["output_value"] == "hello"

    resource = zonda("stack", "resource", "show", "web", "a", "-f", "json").data["id"]
    zonda("stack", "resource", "signal", "web", resource, "--data-binary", '{"word": "bye"}')

    shown = zonda("stack", "output", "show", "web", "heard", "-f", "json").data
    assert shown["output_value"] == "bye"


def test_limits_and_attempts_are_told(zonda: Zonda, write: Write) -> None:
    text = (
        "heat_template_version: rocky\n"
        "resources: {a: {type: OS::Heat::TestResource, properties: {value: x, fail: true}}}\n"
    )
    environment = write("e.yaml", "zonda: {retries: {a: {attempts: 2, delay: 0.01s}}}\n")

    done = zonda("stack", "create", "web", "-t", write("f.yaml", text), "-e", environment, code=1)

    assert "attempt 1 of 2 failed" in done.err
    assert "(attempt 2 of 2)" in done.err


@pytest.mark.parametrize(
    ("words", "names"),
    [
        pytest.param(("--tags", "eu"), ["one", "two"], id="one-tag"),
        pytest.param(("--tags", "eu,prod"), ["one"], id="all"),
        pytest.param(("--tags", "us,prod", "--tag-mode", "any"), ["one", "three"], id="any"),
        pytest.param(("--tags", "eu,prod", "--tag-mode", "not"), ["two", "three"], id="not"),
        pytest.param(("--tags", "prod,us", "--tag-mode", "not-any"), ["two"], id="not-any"),
        pytest.param((), ["one", "two", "three"], id="no-tags"),
    ],
)
def test_stacks_by_tags(
    zonda: Zonda, template: Path, words: tuple[str, ...], names: list[str]
) -> None:
    for name, tags in (("one", "eu,prod"), ("two", "eu"), ("three", "us")):
        zonda("stack", "create", name, "-t", template, "--tags", tags)

    shown = zonda("stack", "list", *words, "-f", "json").data

    assert [one["Stack Name"] for one in shown] == names


def test_tags_can_be_changed_and_taken_away(zonda: Zonda, web: None, template: Path) -> None:
    zonda("stack", "update", "web", "-t", template, "--tags", "eu")
    assert zonda("stack", "show", "web", "-f", "json").data["tags"] == ["eu"]

    zonda("stack", "update", "web", "-t", template)
    assert zonda("stack", "show", "web", "-f", "json").data["tags"] == ["eu"]

    zonda("stack", "update", "web", "-t", template, "--tags", "")
    assert zonda("stack", "show", "web", "-f", "json").data["tags"] == []


def test_a_breakpoint_may_be_an_option(zonda: Zonda, write: Write, template: Path) -> None:
    environment = write("e.yaml", "resource_registry: {resources: {first: {hooks: post-create}}}\n")
    words = ("-t", template, "-e", environment, "--no-wait")

    zonda("stack", "create", "web", *words, "--pre-create", "first", "--pre-create", "n/*")
    zonda("stack", "cancel", "web", "--no-rollback")

    shown = zonda("stack", "environment", "show", "web", "-f", "json").data
    assert shown["resource_registry"]["resources"] == {
        "first": {"hooks": ["post-create", "pre-create"]},
        "n": {"*": {"hooks": ["pre-create"]}},
    }


def test_a_breakpoint_of_an_update_does_not_lose_the_environment(
    zonda: Zonda, web: None, template: Path
) -> None:
    words = ("stack", "update", "web", "--existing", "--pre-update", "first")

    assert "give that with -e" in zonda(*words, code=2).err

    zonda("stack", "update", "web", "-t", template, "--pre-update", "first", "--no-wait")
    # which nobody clears: a newer update ends the wait
    assert zonda("stack", "update", "web", "-t", template, "--supersede").code == 0


@pytest.mark.usefixtures("web")
def test_who_protects_and_who_lifts_that_is_recorded(zonda: Zonda) -> None:
    zonda("stack", "protect", "web")
    zonda("stack", "protect", "web", "first")
    zonda("stack", "unprotect", "web", "first")
    zonda("stack", "unprotect", "web")
    assert events(zonda)[-4:] == [
        "PROTECT_COMPLETE protected by command (by ann)",
        "PROTECT_COMPLETE protected by command (by ann)",
        "UNPROTECT_COMPLETE protected by no command any more (by ann)",
        "UNPROTECT_COMPLETE protected by no command any more (by ann)",
    ]
    shown = zonda("stack", "show", "web", "--at", "1", "-f", "json").data
    assert {one["resource_status"] for one in shown["resources"]} == {"CREATE_COMPLETE"}


def test_a_mark_does_not_tell_what_is_hidden(zonda: Zonda, write: Write) -> None:
    text = (
        "heat_template_version: rocky\n"
        "parameters: {word: {type: string, hidden: true, default: hush-hush}}\n"
        "resources: {a: {type: OS::Heat::TestResource, properties:"
        " {value: {get_param: word}}}}\n"
    )
    zonda("stack", "create", "web", "-t", write("h.yaml", text))
    zonda("stack", "resource", "mark", "unhealthy", "web", "a", "because hush-hush")
    assert events(zonda)[-1] == "CHECK_FAILED because (hidden) (by ann)"
    shown = zonda("stack", "resource", "show", "web", "a")
    assert "hush-hush" not in shown.out


def test_a_signal_that_its_resource_refuses(zonda: Zonda, write: Write) -> None:
    plugin = (
        "from zonda.hooks import resource\n"
        "class Deaf(resource.Resource):\n"
        "    def handle_signal(self, details=None):\n"
        "        raise ValueError('what?')\n"
        "def resource_mapping():\n"
        "    return {'My::Deaf': Deaf}\n"
    )
    write("home/plugins/deaf.py", plugin)
    text = "heat_template_version: rocky\nresources: {a: {type: My::Deaf}}\n"
    zonda("stack", "create", "web", "-t", write("deaf.yaml", text))
    said = zonda("stack", "resource", "signal", "web", "a", code=1).err
    assert "ValueError: resources.a: what?" in said
    assert "unexpected" not in said
    assert events(zonda)[-1] == "SIGNAL_FAILED ValueError: resources.a: what? (by ann)"
    (only,) = zonda("stack", "history", "web", "-f", "json").data
    assert only["counts"] == {"created": 1}, "a signal is nothing that the creation did"
