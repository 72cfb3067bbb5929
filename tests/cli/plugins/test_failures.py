"""Exceptions of plug-ins anywhere: the command goes on or names the plug-in."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

ANYTHING = {
    "interrupt": "KeyboardInterrupt",
    "exit": "SystemExit(3)",
    "generator exit": "GeneratorExit",
    "own": "Own('own')",
    "end of the process": "__import__('os')._exit(0)",
    "runtime": "RuntimeError('broken')",
    "lookup": "LookupError('broken')",
    "mute": "Mute()",
}

PLUGIN = """
from zonda.hooks import attributes, constraints, function, hookimpl, properties, resource

class Own(BaseException):
    pass

class Mute(Exception):
    def __str__(self):
        raise KeyboardInterrupt

def breaks(where):
    if where == {where!r}:
        raise {error}

class Rule(constraints.BaseCustomConstraint):
    def validate(self, value, context):
        breaks("constraint")
        return True

class Shout(function.Function):
    def __init__(self, scope, name, args, path):
        super().__init__(scope, name, args, path)
        breaks("parse")
    def sources(self):
        breaks("sources")
        yield from super().sources()
    def resolve(self, scope):
        breaks("resolve")
        return str(self.args)

class Thing(resource.Resource):
    properties_schema = {{
        "value": properties.Schema(
            "String", constraints=[constraints.CustomConstraint("a.rule")], update_allowed=True
        ),
    }}
    attributes_schema = {{"late": attributes.Schema()}}

    def __init__(self, *given):
        super().__init__(*given)
        breaks("init")

    def translation_rules(self, props):
        breaks("translation")
        return ()

    def validate(self):
        breaks("validate")

    def add_dependencies(self, deps):
        breaks("dependencies")

    def _resolve_attribute(self, name):
        breaks("attribute")

@hookimpl
def zonda_resource_types():
    return {{"My::Thing": Thing}}

@hookimpl
def zonda_constraints():
    return {{"a.rule": Rule}}

@hookimpl
def zonda_functions(version):
    return {{"shout": Shout}}
"""
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  good: {type: "OS::Heat::None"}
  thing:
    type: My::Thing
    properties:
      value: {shout: x}
outputs:
  late: {value: {get_attr: [thing, late]}}
"""
GOOD = 'heat_template_version: 2018-08-31\nresources: {good: {type: "OS::Heat::None"}}\n'


def written(write: Any, where: str, error: str) -> Path:
    write("home/plugins/thing.py", PLUGIN.format(where=where, error=error))
    write("good.yaml", GOOD)
    path: Path = write("t.yaml", TEMPLATE)
    return path


@pytest.mark.parametrize("error", ANYTHING)
@pytest.mark.parametrize(
    "where",
    [
        *("constraint", "parse", "sources", "resolve"),
        *("init", "translation", "validate", "dependencies"),
    ],
)
def test_what_breaks_while_a_template_is_checked_is_a_located_error(
    where: str, error: str, zonda: Any, write: Any, tmp_path: Path
) -> None:
    template = written(write, where, ANYTHING[error])
    done = zonda("stack", "create", "s", "-t", template, code=2)
    assert f"{template}:" in done.err
    assert "unexpected" not in done.err
    assert "0 errors" not in done.err
    assert zonda("stack", "create", "g", "-t", tmp_path / "good.yaml").code == 0


@pytest.mark.parametrize("error", ANYTHING)
def test_an_attribute_that_raises_ends_no_command_that_reads(
    error: str, zonda: Any, write: Any
) -> None:
    template = written(write, "attribute", ANYTHING[error])
    zonda("stack", "create", "s", "-t", template)
    shown = zonda("stack", "show", "s", "-f", "json").data
    assert "attribute late of thing cannot be read" in str(shown["outputs"])
    (output,) = zonda("stack", "output", "list", "s", "-f", "json").data
    assert output["output_key"] == "late"
    zonda("stack", "export", "s")


META = """
from zonda.hooks import resource

class Meta(type):
    def __getattribute__(cls, name):
        raise {error}

class Thing(resource.Resource, metaclass=Meta):
    pass

def resource_mapping():
    return {{"My::Thing": Thing}}
"""


@pytest.mark.parametrize("error", [each for each in ANYTHING if each not in ("own", "mute")])
@pytest.mark.parametrize("text", ["raise {error}", META], ids=["at import", "metaclass"])
def test_a_plug_in_that_raises_when_it_is_loaded_is_left_out(
    text: str, error: str, zonda: Any, write: Any, tmp_path: Path
) -> None:
    write("home/plugins/bad.py", text.format(error=ANYTHING[error]))
    good = write("good.yaml", GOOD)
    assert zonda("stack", "create", "g", "-t", good).code == 0
    template = write("t.yaml", TEMPLATE.replace("{shout: x}", "x"))
    assert "My::Thing" in zonda("stack", "create", "s", "-t", template, code=2).err
    assert "bad.py" in zonda("plugin", "list", code=1).out


def in_a_process(*words: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own: it sets up logging, or ends with threads."""
    return subprocess.run(
        [sys.executable, "-m", "zonda", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


RAISES = """
from zonda.hooks import properties, resource

class Thing(resource.Resource):
    properties_schema = {"secret": properties.Schema("String", hidden=True)}

    def handle_create(self):
        self.inner()

    def inner(self):
        raise LookupError(f"no {self.properties['secret']} {'x' * 20000}")

def resource_mapping():
    return {"My::Thing": Thing}
"""


def test_why_and_debug_show_where_a_plug_in_has_raised_and_no_hidden_value(
    zonda: Any, write: Any
) -> None:
    plugin = write("home/plugins/thing.py", RAISES)
    kinds = "resources: {a: {type: My::Thing, properties: {secret: hush-hush}}}\n"
    template = write("t.yaml", f"heat_template_version: 2018-08-31\n{kinds}")
    zonda("stack", "create", "s", "-t", template, code=1)
    (failure,) = zonda("stack", "why", "s", "-f", "json").data["failures"]
    text = zonda("stack", "why", "s").out
    words = ("stack", "create", "t", "-t", template, "--debug", "--home", plugin.parents[1])
    debugged = in_a_process(*words).stderr
    for shown in (failure["traceback"], text, debugged):
        assert f'File "{plugin}", line 11, in inner' in shown
        assert f'File "{plugin}", line 8, in handle_create' in shown
        assert "core/engine" not in shown
        assert "hush-hush" not in shown
    assert len(failure["traceback"]) < 6100


LEAVES = """
import threading
from concurrent.futures import ThreadPoolExecutor
from zonda.hooks import resource

class Thing(resource.Resource):
    def handle_create(self):
        threading.Thread(target=threading.Event().wait, name="left", daemon=False).start()
        ThreadPoolExecutor().submit(threading.Event().wait)

def resource_mapping():
    return {"My::Thing": Thing}
"""


def test_threads_that_a_plug_in_leaves_behind_hold_up_no_end(write: Any, tmp_path: Path) -> None:
    write("home/plugins/thing.py", LEAVES)
    kinds = "resources: {a: {type: My::Thing}}\n"
    template = write("t.yaml", f"heat_template_version: 2018-08-31\n{kinds}")
    words = ("stack", "create", "s", "-t", template, "--home", tmp_path / "home")
    done = in_a_process(*words)
    assert done.returncode == 0
    assert "Stack s CREATE_COMPLETE" in done.stderr
    assert "plug-ins have left threads behind, which end now: left" in done.stderr


DAEMON = """
import atexit
import threading
from zonda.hooks import resource

class Remains:
    def __del__(self, say=print):
        say("Python has freed what threads may use")

remains = Remains()

class Thing(resource.Resource):
    def handle_create(self):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        atexit.register(print, "the plug-in has put away its things")

def resource_mapping():
    return {"My::Thing": Thing}
"""


@pytest.mark.parametrize("daemon", [True, False])
def test_python_frees_nothing_at_the_end_of_a_command(
    write: Any, tmp_path: Path, *, daemon: bool
) -> None:
    plugin = DAEMON if daemon else DAEMON.replace("threading.Thread(", "dict(", 1)
    write("home/plugins/thing.py", plugin.replace(".start()", ".start()" if daemon else ""))
    kinds = "resources: {a: {type: My::Thing}}\n"
    template = write("t.yaml", f"heat_template_version: 2018-08-31\n{kinds}")
    words = ("stack", "create", "s", "-t", template, "--home", tmp_path / "home")
    done = in_a_process(*words)
    assert done.returncode == 0
    assert "Stack s CREATE_COMPLETE" in done.stderr
    said = done.stdout + done.stderr
    assert "has put away its things" in said
    assert "what threads may use" not in said


def test_a_poll_without_an_answer_fails_the_action_instead_of_waiting_on(
    zonda: Any, write: Any
) -> None:
    runner = """
    from zonda.hooks import hookimpl
    from zonda.hooks import runners

    class Mute(runners.WorkflowRunner):
        polls = 0
        def start(self, request):
            return runners.Started({}, 0.0, request.key)
        def poll(self, token):
            self.polls += 1
            return None if self.polls == 1 else runners.Failed("it was asked again")

    @hookimpl
    def zonda_runners():
        return {"mute": lambda section: Mute()}
    """
    write("home/plugins/mute.py", textwrap.dedent(runner))
    write("home/zonda.toml", '[runners.m]\nkind = "mute"\n')
    flow = "{runner: m, actions: {CREATE: {workflow: w}}}"
    one = f"{{type: Zonda::Workflow::ExternalResource, properties: {flow}}}"
    template = write("m.yaml", f"heat_template_version: 2018-08-31\nresources: {{r: {one}}}\n")
    done = zonda("stack", "create", "s", "-t", template, code=1)
    assert "Runner m has answered poll with None; expected: Running or" in done.out + done.err
