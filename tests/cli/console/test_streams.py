"""Output that cannot be written or encoded, or that would control a terminal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli.console import formats, sanitize
from zonda.core.cli.console.console import Screen
from zonda.core.cli.console.streams import OutputFailed, ResultStream, StatusStream
from zonda.core.settings import settings

EVIL = "a\x1b[31mb\x9b2J\0c"
LONE = "x\ud800y"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        pytest.param(Full(), "No space left", id="full"),
        pytest.param(None, "closed", id="none"),
        pytest.param(closed(), "closed", id="closed"),
    ],
)
def test_results_must_arrive_and_what_is_said_need_not(inner: Any, why: str) -> None:
    with pytest.raises(OutputFailed, match=why):
        ResultStream(inner).write("x")
    assert StatusStream(inner).write("x") == 0
    assert not ResultStream(inner).isatty()


def run(redirection: str, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    line = f'"$0" -m zonda "$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", line, sys.executable, *words, "--home", str(home)],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("redirection", "words", "why"),
    [
        pytest.param("> /dev/full", ("stack", "list"), "No space left on device", id="full"),
        pytest.param(">&-", ("stack", "list"), "it is closed", id="closed"),
        pytest.param("> /dev/full", ("stack", "list", "--help"), "No space left", id="help"),
    ],
)
def test_a_full_or_closed_output_is_one_sentence(
    tmp_path: Path, redirection: str, words: tuple[str, ...], why: str
) -> None:
    done = run(redirection, *words, home=tmp_path)

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("zonda: error: standard output cannot be written: ")
    assert why in line


def test_a_closed_standard_error_ends_nothing(tmp_path: Path) -> None:
    done = run("2>&-", "stack", "show", "nobody", home=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize(("fails", "code"), [("false", 0), ("true", 1)], ids=["well", "failed"])
def test_a_reader_that_goes_away_ends_no_action(tmp_path: Path, fails: str, code: int) -> None:
    template = tmp_path / "t.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        f"resources: {{r: {{type: OS::Heat::TestResource, properties: {{fail: {fails}}}}}}}\n"
    )
    done = unread("stack", "create", "web", "-t", template, home=tmp_path)

    assert done == code
    status = run("", "stack", "show", "web", "-c", "stack_status", "-f", "value", home=tmp_path)
    assert status.stdout == f"CREATE_{'FAILED' if code else 'COMPLETE'}\n"


def test_what_plugins_and_their_children_print_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "loud.py").write_text(
        "import subprocess\n"
        "from zonda.hooks import Resource\n\n\n"
        "class Loud(Resource):\n"
        "    def handle_create(self):\n"
        "        print('by print')\n"
        "        subprocess.run(['echo', 'by a child'], check=True)\n\n\n"
        "def resource_mapping():\n"
        "    return {'My::Loud': Loud}\n"
    )
    template = tmp_path / "t.yaml"
    template.write_text("heat_template_version: 2018-08-31\nresources: {a: {type: My::Loud}}\n")
    words = ("stack", "create", "web", "-t", str(template), "-f", "json")
    done = run("", *words, home=tmp_path)
    assert json.loads(done.stdout)["stack_status"] == "CREATE_COMPLETE"
    assert "by print\n" in done.stderr
    assert "by a child\n" in done.stderr


def test_what_nobody_has_read_is_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("heat_template_version: 2018-08-31\n")
    run("", "stack", "create", "web", "-t", str(tmp_path / "t.yaml"), home=tmp_path)

    assert unread("stack", "abandon", "-y", "web", home=tmp_path) == 1
    assert run("", "stack", "show", "web", home=tmp_path).returncode == 0


def unread(*words: str | Path, home: Path) -> int:
    """The exit code of a command all of whose output goes where nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    line = [sys.executable, "-m", "zonda", *map(str, words), "--home", str(home)]
    with os.fdopen(writer, "w") as out:
        return subprocess.run(line, stdout=out, stderr=out, check=False).returncode


def test_a_pipe_that_closes_is_silent(tmp_path: Path) -> None:
    done = run("| true", "stack", "list", home=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(EVIL, "a\\x1b[31mb\\x9b2J\\x00c", id="orders"),
        pytest.param(LONE, "x\\ud800y", id="lone-surrogate"),
        pytest.param("a\u202eb", "a\\u202eb", id="other-direction"),
        pytest.param("\ta\r", "    a\\r", id="tab"),
        pytest.param("ü漢 \u3000", "ü漢 \u3000", id="plain"),
    ],
)
def test_text_for_people_has_no_orders_for_their_terminal(text: str, shown: str) -> None:
    assert sanitize.sanitize_line(text) == shown


@pytest.mark.parametrize("form", ["table", "json", "yaml"])
def test_no_format_for_people_or_programs_has_raw_orders(form: str) -> None:
    out = io.StringIO()
    formats.write_fields(out, Namespace(format=form, column=[]), {"said": EVIL})

    assert not set("\x1b\x9b\0") & set(out.getvalue())
    if form == "json":
        assert json.loads(out.getvalue()) == {"said": EVIL}


@pytest.mark.parametrize(
    ("out", "shown"),
    [
        pytest.param(Terminal(), "a\\x1b[31mb\\x9b2J\\x00c\n", id="terminal"),
        pytest.param(io.StringIO(), EVIL + "\n", id="pipe"),
    ],
)
def test_a_bare_value_is_changed_for_terminals_only(out: io.StringIO, shown: str) -> None:
    formats.write_fields(out, Namespace(format="value", column=[]), {"said": EVIL})

    assert out.getvalue() == shown


@pytest.mark.parametrize("form", ["json", "value", "yaml", "table"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_what_the_encoding_lacks_is_spelt_out(form: str, encoding: str) -> None:
    raw = io.BytesIO()
    inner = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    thing = {"said": f"{LONE} é € 😀"}
    formats.write_fields(ResultStream(inner), Namespace(format=form, column=[]), thing)  # type: ignore[arg-type]

    text = raw.getvalue().decode(encoding)
    assert "\\ud800" in text.lower()
    if form == "json":
        assert json.loads(text) == thing


def test_a_line_of_the_result_steers_nobody_who_reads_it_later() -> None:
    screen = Screen()
    screen.out = io.StringIO()

    screen.show(f"{screen.colour_result('red', 'red')} {EVIL}")

    assert screen.out.getvalue() == "red a\\x1b[31mb\\x9b2J\\x00c\n"


@pytest.mark.parametrize("colour", [True, False])
def test_only_our_own_colours_reach_the_terminal(colour: bool) -> None:
    screen = Screen(colour=colour)
    screen.err = Terminal()

    screen.say(f"{screen.colour_message('error', 'red')}: \x1b[32mno\nnext")

    error = "\x1b[31merror\x1b[0m" if colour else "error"
    assert screen.err.getvalue() == f"{error}: \\x1b[32mno\nnext\n"


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
    ids=["nothing", "no-color", "empty", "dumb"],
)
def test_colours_can_be_refused(environ: dict[str, str], wanted: bool) -> None:
    assert settings.wants_colour(environ) is wanted


def test_documentation_marks_are_not_shown(zonda: Any) -> None:
    assert "``" not in zonda("template", "function", "list", "rocky", "-f", "value").out
    shown = zonda("resource", "type", "show", "OS::Mistral::ExternalResource", "-f", "json").data
    assert "``" not in json.dumps(shown)
    assert os.linesep not in shown["description"]


PRINTING = """
from zonda.hooks import resource

print("at import")


class Talks(resource.Resource):
    def handle_create(self):
        print("in a handler")


def resource_mapping():
    return {"My::Talks": Talks}
"""


def test_what_plugins_print_is_not_among_the_results(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "talks.py").write_text(PRINTING)
    template = tmp_path / "t.yaml"
    template.write_text("heat_template_version: 2018-08-31\nresources: {a: {type: My::Talks}}\n")
    places = ("--set", f"plugin_dirs={tmp_path / 'plugins'}")
    words = ("stack", "create", "s", "-t", str(template), "-f", "json", *places)
    done = run("", *words, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["stack_status"] == "CREATE_COMPLETE"
    assert "at import\n" in done.stderr
    assert "in a handler\n" in done.stderr
    gone = run("| head -c 0", "stack", "list", *places, home=tmp_path / "home")
    assert gone.returncode == 0
