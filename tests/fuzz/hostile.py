"""Throw hostile documents at whole commands, and watch what each costs.

    python -m tests.fuzz.hostile --minutes 60 --seed 1 [--keep FOLDER] [--first N --count 1]

An input is a folder of documents (``hostile_documents``) and the commands that read it: all that a
user of zonda may be handed by somebody else. Every input is made from the seed and its number
alone. Each runs in a child process with limits. A failure is a command of more than five seconds
of CPU time, a process of more than 300 MB, an exit code that is none, a traceback, or an error that
calls itself a fault in zonda. One line of JSON tells the result.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from zonda.core.cli.main import main as zonda

from .hostile_documents import Input, make_input

#: What one command may cost.
SECONDS = 5.0
MEGABYTES = 300.0
#: A child is ended after so many seconds of CPU time, of the clock, and beyond so much memory.
_GIVEN_UP = 40
_WALL = 300
_MOST_BYTES = 3 << 30

CODES = frozenset((0, 1, 2, 3, 4))
_FAULTS = (
    "fault in zonda",
    "Traceback",
    "Error in sys.excepthook",
    "Exception in thread",
    "OverflowError",
    "int too large",
    "integer string conversion",
    "RecursionError",
    "recursion depth",
)


@dataclass(frozen=True, slots=True)
class Done:
    """How one command ended. ``said``: what stood in its output."""

    words: list[str]
    code: int | None
    seconds: float
    megabytes: float
    said: str = ""

    def problem(self) -> str:
        """What must not happen; empty where it did not."""
        if self.code not in CODES:
            return f"code {self.code}"
        for words in _FAULTS:
            if words in self.said:
                line = next(line for line in self.said.splitlines() if words in line)
                return f"{words}: {line[:200]}"
        if self.seconds > SECONDS:
            return f"slow: {self.seconds:.1f} s"
        if self.megabytes > MEGABYTES:
            return f"large: {self.megabytes:.0f} MB"
        return ""


def peak_mb() -> float:
    """The largest this process ever was."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_command(words: list[str], home: Path, folder: Path) -> Done:
    """One command in this process."""
    os.chdir(folder)
    before = time.process_time()
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
    code: int | None = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = zonda([*words, "--home", str(home)])
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except BaseException:
            traceback.print_exc()
    seconds = time.process_time() - before
    out.flush()
    said = out.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
    return Done(words, code, seconds, peak_mb(), said)


@contextlib.contextmanager
def written(given: Input, template_home: Path | None = None) -> Iterator[tuple[Path, Path]]:
    """A home and the folder of an input's documents."""
    with tempfile.TemporaryDirectory(prefix="hostile") as name:
        folder = Path(name)
        if template_home is not None:
            shutil.copytree(template_home, folder / "home")
        given.write(folder / "given")
        yield folder / "home", folder / "given"


def run_input(given: Input) -> list[Done]:
    """Every command of an input in this process."""
    with written(given) as (home, folder):
        return [run_command(words, home, folder) for words in given.commands]


def in_children(given: Input, template_home: Path, log: Path) -> list[Done]:
    """The same, each in a child process with limits, as if it were called by itself."""
    with written(given, template_home) as (home, folder):
        return [in_child(words, home, folder, log) for words in given.commands]


def in_child(words: list[str], home: Path, folder: Path, log: Path) -> Done:
    """One command in a child process with limits."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(words, home, folder, writing, log)
    os.close(writing)
    pieces, end = [], time.monotonic() + _WALL
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGABRT)  # faulthandler tells where it was
            break
        piece = os.read(reading, 1 << 16)
        if not piece:
            break
        pieces.append(piece)
    os.close(reading)
    _, status, used = os.wait4(child, 0)
    if status == 0:
        return Done(**json.loads(b"".join(pieces)))
    seconds = used.ru_utime + used.ru_stime
    return Done(words, -status, seconds, used.ru_maxrss / 1024, log.read_text()[:4000])


def _child(words: list[str], home: Path, folder: Path, writing: int, log: Path) -> None:
    code = 1
    try:
        with log.open("w") as errors:
            os.dup2(errors.fileno(), 2)
            os.setsid()
            faulthandler.enable(errors)
            faulthandler.register(signal.SIGXCPU, errors, chain=True)
            resource.setrlimit(resource.RLIMIT_CPU, (_GIVEN_UP, _GIVEN_UP + 5))
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
            said = json.dumps(asdict(run_command(words, home, folder))).encode()
            while said:
                said = said[os.write(writing, said) :]
        code = 0
    finally:
        os._exit(code)


@dataclass
class Result:
    """What a run has found."""

    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str, str, str]] = field(default_factory=list)
    commands: int = 0
    slowest: tuple[float, int] = (0.0, -1)
    largest: tuple[float, int] = (0.0, -1)

    def note(self, number: int, given: Input, done: Sequence[Done]) -> Iterator[str]:
        """Count how an input ended; gives what must not happen."""
        self.kinds[given.kind] += 1
        for each in done:
            self.commands += 1
            self.codes[str(each.code)] += 1
            self.slowest = max(self.slowest, (round(each.seconds, 2), number))
            self.largest = max(self.largest, (round(each.megabytes), number))
            if problem := each.problem():
                self.failures.append((number, given.kind, " ".join(each.words), problem))
                yield f"input {number} ({given.kind}): {' '.join(each.words)}: {problem}"

    def line(self, seed: int, seconds: float) -> str:
        """The result as one line of JSON."""
        return json.dumps(
            {
                "seed": seed,
                "inputs": self.kinds.total(),
                "commands": self.commands,
                "exit_codes": self.codes,
                "kinds": self.kinds,
                "slowest_s_and_input": self.slowest,
                "largest_mb_and_input": self.largest,
                "wall_s": round(seconds),
                "failures": len(self.failures),
                "failing_inputs": sorted({number for number, *_ in self.failures})[:200],
            }
        )


def warm(folder: Path) -> Path:
    """A home with an empty database; every module is loaded afterwards."""
    home = folder / "home"
    template = "heat_template_version: 2018-08-31\nresources: {a: {type: 'OS::Heat::Value', "
    template += "properties: {value: {yaql: {expression: $.data, data: 1}}}}}\n"
    given = Input("warm", {"t.yaml": template.encode()}, [])
    given.write(folder / "warm")
    for words in (["stack", "create", "-t", "t.yaml", "s"], ["stack", "delete", "-y", "s"]):
        done = run_command(words, home, folder / "warm")
        assert done.code == 0, done.said
    return home


def main(words: Sequence[str] | None = None) -> int:
    """The command line; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--count", type=int, help="so many inputs, whatever time they take")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--keep", type=Path, help="where failing inputs go")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(words)
    for name in [name for name in os.environ if name.startswith("ZONDA_")]:
        del os.environ[name]
    began, result, number = time.monotonic(), Result(), given.first
    with tempfile.TemporaryDirectory(prefix="hostile") as name:
        folder = Path(name)
        home = warm(folder)
        while _goes_on(given, number, time.monotonic() - began):
            each = make_input(given.seed, number)
            done = in_children(each, home, folder / "log")
            problems = list(result.note(number, each, done))
            for problem in problems:
                print(problem, file=sys.stderr, flush=True)
            if given.verbose:
                for one in done:
                    print(one.words, one.code, f"{one.seconds:.2f} s {one.megabytes:.0f} MB")
                    print(one.said[:3000])
            if problems and given.keep:
                each.write(given.keep / f"{given.seed}-{number}")
                said = "\n".join(f"$ {' '.join(one.words)}\n{one.said}" for one in done)
                (given.keep / f"{given.seed}-{number}" / "said.txt").write_text(said[-200_000:])
            number += 1
            if number % 500 == 0:
                print(result.line(given.seed, time.monotonic() - began), file=sys.stderr)
    print(result.line(given.seed, time.monotonic() - began))
    return 1 if result.failures else 0


def _goes_on(given: argparse.Namespace, number: int, seconds: float) -> bool:
    if given.count is not None:
        return number < int(given.first + given.count)
    return seconds < float(given.minutes * 60)


if __name__ == "__main__":
    sys.exit(main())
