"""The tutorials: a page is carried out in an empty folder, command by command, and compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorial"
LESSONS = sorted(path for path in TUTORIALS.glob("*.md") if path.name != "index.md")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)
OUTPUT = "Output"
SECOND_TERMINAL = "In a second terminal"


class Reader:
    """Does what a page says, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.exports: list[str] = []
        self.output = ""
        self.commands = 0
        programs = folder / "bin"
        programs.mkdir()
        zonda = programs / "zonda"
        zonda.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m zonda "$@"\n')
        zonda.chmod(0o700)
        path = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
        self.environment = {"HOME": str(folder), "PATH": os.pathsep.join(path)}
        self.work = folder / "work"
        self.work.mkdir()

    def shell(self, commands: str) -> list[str]:
        """The words that run commands of a block, with what earlier blocks have exported."""
        return ["sh", "-euc", "\n".join([*self.exports, commands])]

    def run(self, commands: str) -> None:
        """Runs a block to its end and keeps the output."""
        done = subprocess.run(
            self.shell(commands),
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        self.output = done.stdout
        self.commands += len(commands.splitlines())
        self.exports += re.findall(r"^export .*$", commands, re.M)

    @contextmanager
    def second_terminal(self, commands: str) -> Iterator[None]:
        """Runs a block beside the others: it is there once it has printed its first line."""
        with subprocess.Popen(
            self.shell(commands),
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        ) as process:
            assert process.stdout is not None
            try:
                assert process.stdout.readline()
                yield
                assert process.wait() in (0, 143), commands
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, 15)

    def compare(self, text: str) -> None:
        """Holds a block of output against what came; ``...`` stands for any text."""
        lines = [r"(?:.*\n)*?" if line == "..." else escape(line) for line in text.splitlines()]
        pattern = "^" + "".join(lines)
        assert re.search(pattern, self.output, re.M), f"{text}\nis not in\n{self.output}"


def escape(line: str) -> str:
    return re.escape(line).replace(r"\.\.\.", ".*") + r"(?:\n|\Z)"


def carry_out(reader: Reader, blocks: list[tuple[str, str, str]]) -> None:
    for number, (language, title, text) in enumerate(blocks):
        if language == "sh" and title == SECOND_TERMINAL:
            with reader.second_terminal(text):
                carry_out(reader, blocks[number + 1 :])
            return
        if language == "sh":
            reader.run(text)
        elif title == OUTPUT:
            reader.compare(text)
        else:
            assert title, f"a block that is no command, no output and no file:\n{text}"
            (reader.work / title).write_text(text)


def test_there_are_three_lessons() -> None:
    names = [path.stem for path in LESSONS]
    assert names == ["first-plugin", "first-stack", "first-workflow-type"]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_tutorial_does_what_it_says(lesson: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(lesson.read_text())
    assert lesson.read_text().count("\n```") == 2 * len(blocks)
    reader = Reader(tmp_path)
    carry_out(reader, blocks)
    assert reader.commands >= 6
