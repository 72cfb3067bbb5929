"""``zonda man``: the page has every command with every option, and is good roff."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.cli import commands, parsers
from zonda.core.cli.shell import manual

Zonda = Callable[..., Any]


@pytest.fixture(scope="module")
def page() -> str:
    return manual.format_manual()


def section(page: str, name: str) -> str:
    """What the page says of one command, as plain text."""
    text = re.sub(r"\\f[BIR]", "", page).replace(r"\-", "-").replace(r"\e", "\\")
    sections = text.split("\n.SS zonda ")[1:]
    (found,) = (each for each in sections if commands.find_longest(each.split())[0] == name)
    return found


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_a_command_stands_in_the_page_with_all_its_options(page: str, name: str) -> None:
    text = section(page, name)
    assert commands.COMMANDS[name].help in text
    for action in parsers.make_command_parser(name)._actions:
        for flag in {*action.option_strings} - {"-h", "--help", "--home", "--set", "--debug"}:
            assert re.search(rf"(^|, ){re.escape(flag)}(,| |$)", text, re.M), flag


def test_the_command_prints_the_page(zonda: Zonda, page: str) -> None:
    assert zonda("man").out == page


def test_a_line_of_help_is_no_request_of_roff() -> None:
    assert manual._escape_roff(".so /etc/passwd") == r"\&.so /etc/passwd"
    assert manual._escape_roff("'a\\b-c") == r"\&'a\eb\-c"


def test_mandoc_finds_nothing_wrong(page: str) -> None:
    if shutil.which("mandoc") is None and os.environ.get("ZONDA_SHELL_TESTS") != "required":
        pytest.skip("mandoc is not installed: apt-get install mandoc")
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, text=True
    )
    said = (done.stdout + done.stderr).splitlines()
    # the page has no date, since nothing that makes it knows one
    assert [line for line in said if "missing date" not in line] == []
