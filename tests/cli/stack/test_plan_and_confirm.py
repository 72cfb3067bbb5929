"""``stack create --plan`` and ``stack update --plan``: shown, confirmed, carried out exactly."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {word: {type: string, hidden: true, default: hush-hush}}
resources:
  a: {type: OS::Heat::TestResource, properties: {value: %s}}
  b: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
outputs:
  said: {value: {get_attr: [a, output]}}
"""


class Person(io.StringIO):
    """Somebody at a terminal, who does something before each answer."""

    def __init__(self, answer: str = "", before: Callable[[], object] = lambda: None) -> None:
        super().__init__(answer)
        self.before = before

    def isatty(self) -> bool:
        return True

    def readline(self, *size: Any) -> str:
        self.before()
        return super().readline(*size)


@pytest.fixture
def ask(zonda: Zonda, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, str]]:
    """Run a command at a terminal; how it ended, and what was said there."""

    def run(person: Person, *words: str | Path, code: int = 0) -> tuple[Any, str]:
        terminal = Person()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", person)
            patch.setattr(sys, "stderr", terminal)
            done = zonda(*words, code=code)
        return done, terminal.getvalue()

    return run


def said(zonda: Zonda) -> str:
    value: str = zonda("stack", "output", "show", "s", "said", "--raw").out
    return value


def test_what_was_shown_is_done_after_a_yes(zonda: Zonda, write: Write, ask: Any) -> None:
    one, two = write("one.yaml", TEMPLATE % "one"), write("two.yaml", TEMPLATE % "two")

    made, terminal = ask(Person("y\n"), "stack", "create", "s", "-t", one, "--plan")
    assert "+ a  OS::Heat::TestResource  will be created" in made.out
    assert "Do this? [y/N]" in terminal
    assert "hush" not in made.out + terminal
    assert said(zonda) == "one"

    # the file is another one by the time of the answer: it does not count
    person = Person("yes\n", lambda: two.write_text(TEMPLATE % "three"))
    changed, _ = ask(person, "stack", "update", "s", "-t", two, "--plan")
    assert '~ properties.value: "one" -> "two"' in changed.out
    assert said(zonda) == "two"


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_done(zonda: Zonda, write: Write, ask: Any, answer: str) -> None:
    one, two = write("one.yaml", TEMPLATE % "one"), write("two.yaml", TEMPLATE % "two")
    zonda("stack", "create", "s", "-t", one)

    _, terminal = ask(Person(answer), "stack", "update", "s", "-t", two, "--plan", code=1)
    ask(Person(answer), "stack", "create", "new", "-t", two, "--plan", code=1)

    assert "Nothing was done." in terminal
    assert said(zonda) == "one"
    assert len(zonda("stack", "history", "s", "-f", "json").data) == 1
    assert len(zonda("stack", "list", "-f", "json").data) == 1


def test_a_stack_that_changed_before_the_answer_is_refused(
    zonda: Zonda, write: Write, ask: Any
) -> None:
    one, two = write("one.yaml", TEMPLATE % "one"), write("two.yaml", TEMPLATE % "two")
    other = write("other.yaml", TEMPLATE % "other")
    zonda("stack", "create", "s", "-t", one)
    between = Person("y\n", lambda: zonda("stack", "update", "s", "-t", other))

    _, terminal = ask(between, "stack", "update", "s", "-t", two, "--plan", code=1)

    assert "[ZON210]" in terminal
    assert said(zonda) == "other"


@pytest.mark.parametrize("verb", ["create", "update"])
def test_where_nobody_can_be_asked_it_takes_a_yes_on_the_command_line(
    zonda: Zonda, write: Write, verb: str
) -> None:
    one, two = write("one.yaml", TEMPLATE % "one"), write("two.yaml", TEMPLATE % "two")
    if verb == "update":
        zonda("stack", "create", "s", "-t", one)

    refused = zonda("stack", verb, "s", "-t", two, "--plan", code=2)
    assert (refused.out, "give -y" in refused.err) == ("", True)
    done = zonda("stack", verb, "s", "-t", two, "--plan", "--yes")
    assert done.out.startswith("Stack s: ")
    assert said(zonda) == "two"


def test_nothing_to_do_is_not_asked_for_and_no_action(zonda: Zonda, write: Write, ask: Any) -> None:
    one = write("one.yaml", TEMPLATE % "one")
    zonda("stack", "create", "s", "-t", one)

    done, terminal = ask(Person(), "stack", "update", "s", "-t", one, "--plan")

    assert "Nothing to do" in done.out
    assert terminal == ""
    assert len(zonda("stack", "history", "s", "-f", "json").data) == 1


def test_a_plan_that_is_known_to_fail_is_not_carried_out(
    zonda: Zonda, write: Write, ask: Any
) -> None:
    zonda("stack", "create", "s", "-t", write("one.yaml", TEMPLATE % "one"))
    zonda("stack", "protect", "s", "a")

    _, terminal = ask(
        Person("y\n"),
        *("stack", "update", "s", "--plan", "-t"),
        write("two.yaml", TEMPLATE.replace("OS::Heat::TestResource", "OS::Heat::None") % "two"),
        code=1,
    )

    assert "Do this?" not in terminal
    assert len(zonda("stack", "history", "s", "-f", "json").data) == 1


def test_with_a_format_the_result_is_the_stack_and_the_plan_is_said(
    zonda: Zonda, write: Write
) -> None:
    one = write("one.yaml", TEMPLATE % "one")

    done = zonda("stack", "create", "s", "-t", one, "--plan", "-y", "-f", "json")

    assert done.data["stack_status"] == "CREATE_COMPLETE"
    assert "+ a  OS::Heat::TestResource  will be created" in done.err
    assert "\ue001" not in done.err
