"""Throw random inputs at loading, validating and resolving, and watch for what must not happen.

Stands alone, and ``test_fuzz.py`` runs a few hundred inputs of it:

    python tests/fuzz/fuzz.py --count 200000 --seed 1 [--keep FOLDER] [--corpus FOLDER]

Every input is made from the seed and its number alone, so that a failure can be made again
(``--first N --count 1``). A failure is an exception that is none of ours, more than two seconds of
CPU time, or a process of more than 500 MB. One line of JSON tells the result.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from zonda.builtin_resources import plugin
from zonda.core.functions.versions import build_function_table
from zonda.core.functions.yaql_call import make_evaluator
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.template.load import StackDefinition, load
from zonda.core.template.source.bundle import Bundle, Identity, Limits
from zonda.core.template.source.versions import DATES
from zonda.core.template.validation.resource import NullValues
from zonda.hooks.errors import ValidationErrors, ZondaError
from zonda.hooks.testing import FakeContext
from zonda.hooks.text.patterns import full_match

SECONDS = 2.0
MEGABYTES = 500.0
#: A hang that not even a timeout ends: the traceback is printed and the process ends.
GIVEN_UP = 120

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
LARGEST = 6_000

PLUGINS = gather_plugins(make_manager(plugin, discover=False))
IDENTITY = Identity("id", "stack", "project")
LIMITS = Limits(yaql_seconds=1.0, pattern_seconds=0.5)
NAMES = sorted({name for version in DATES for name in build_function_table(version).functions})
TYPES = sorted(PLUGINS.resource_types)
CONSTRAINTS = sorted(PLUGINS.constraints)

SECTIONS = ("parameters", "resources", "outputs", "conditions", "parameter_groups", "description")
_KEYS = """
type default constraints hidden immutable label description properties metadata depends_on
update_policy deletion_policy external_id condition value template params for_each keys
permutations expression data range length modulo allowed_values allowed_pattern min max
step offset custom_constraint scheme host port path query tags a b p r
"""
KEYS = _KEYS.split()
TEXTS = (
    "",
    "a",
    "b",
    "p",
    "q",
    "r",
    "r0",
    "%x%",
    "$a",
    ",",
    "web",
    "md5",
    "string",
    "number",
    "json",
    "boolean",
    "comma_delimited_list",
    "Retain",
    "Snapshot",
    "(a+)+$",
    "[a-z",
    "(a|aa)+$",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    "$.data",
    "$.data.a.select($ + 1)",
    "$.data.where($ > 1).sum()",
    "range(0, 100000).sum()",
    "pow(9, 99999999)",
    "'a' * 1000000",
    "regex('(a|aa)+$').matches($.data)",
    "OS::stack_name",
    "2018-08-31",
    "1e999",
    "0o17",
    "\u00e4\u2028\U0001f600",
    "\x00",
    "a\tb\n",
    "*a",
    "&a",
    "!!int x",
    "{",
    "0x10",
    "12:30:45",
    "~",
    "<<",
    "=",
)
NUMBERS = (0, 1, -1, 2, 7, 65536, 2**63, -(2**70), 0.5, -1e308, float("inf"), float("nan"))


class Context(FakeContext):
    """A context whose patterns are bounded, as the application's are."""

    def full_match(self, pattern: str, text: str) -> bool:
        return full_match(pattern, text, LIMITS.pattern_seconds)


class LongTexts(NullValues):
    """What resources give once they exist."""

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        return {"a": ["x" * 1000] * 50, "b": None} if attribute is None else ["y", {"a": 1}, name]


# -- inputs -------------------------------------------------------------------------------------


def random_bytes(chance: random.Random) -> str:
    """Bytes of any kind, read as the command line might read them."""
    length = int(2 ** chance.uniform(0, 12))
    if chance.random() < 0.5:
        data = chance.randbytes(length)
    else:
        marks = b"{}[]:,-&*!|>'\"%@`#? \n\t\x00az09<=.~\\\xc3\xa4"
        data = bytes(chance.choice(marks) for _ in range(length))
    return data.decode(chance.choice(("latin-1", "utf-8")), chance.choice(("replace", "ignore")))


def random_tree(chance: random.Random, depth: int) -> Any:
    """Plain data in which calls are frequent."""
    kind = chance.random()
    if depth <= 0 or kind < 0.3:
        return chance.choice((None, True, False, chance.choice(NUMBERS), *[_text(chance)] * 4))
    if kind < 0.6:
        return {chance.choice(NAMES): random_tree(chance, depth - 1)}
    size = chance.choice((0, 1, 2, 2, 3, 4))
    if kind < 0.8:
        return [random_tree(chance, depth - 1) for _ in range(size)]
    return {chance.choice(KEYS): random_tree(chance, depth - 1) for _ in range(size)}


def _text(chance: random.Random) -> str:
    if chance.random() < 0.1:
        return chance.choice(TEXTS) * chance.choice((1, 2, 100, 5000))
    return chance.choice(TEXTS)


def random_template(chance: random.Random) -> str:
    """A template with the right sections and anything in them."""
    entry: dict[str, Any] = {}
    template: dict[str, Any] = {"heat_template_version": chance.choice(DATES)}
    for section in chance.sample(SECTIONS, chance.randint(1, 5)):
        if chance.random() < 0.1:
            template[section] = random_tree(chance, 3)
            continue
        entries = {}
        for number in range(chance.randint(0, 4)):
            entry = _ENTRIES.get(section, random_tree)(chance, 4)
            entries[chance.choice(("a", "b", "p", "q", "r", f"r{number}"))] = entry
        template[section] = entries
    if chance.random() < 0.3:
        return json.dumps(template)
    return yaml.dump(template, default_flow_style=chance.choice((None, True, False)))


def _parameter(chance: random.Random, depth: int) -> Any:
    kinds = ("string", "number", "json", "boolean", "comma_delimited_list")
    entry = {"type": chance.choice(kinds)}
    for key in chance.sample(("default", "constraints", "hidden", "immutable", "tags"), 2):
        entry[key] = random_tree(chance, depth - 2)
    if chance.random() < 0.5:
        kind = chance.choice(("allowed_pattern", "range", "length", "modulo", "custom_constraint"))
        rule = random_tree(chance, 1)
        if kind == "custom_constraint" and CONSTRAINTS:
            rule = chance.choice(CONSTRAINTS)
        elif kind == "allowed_pattern":
            rule = _text(chance)
        entry["constraints"] = [{kind: rule}]
    return entry


def _resource(chance: random.Random, depth: int) -> Any:
    cls = chance.choice(TYPES)
    known = list(PLUGINS.resource_types[cls].properties_schema) or ["value"]
    entry: dict[str, Any] = {"type": cls}
    count = chance.randint(0, min(4, len(known)))
    given = {key: random_tree(chance, depth) for key in chance.sample(known, count)}
    entry["properties"] = given
    for key in chance.sample(("metadata", "depends_on", "condition", "update_policy"), 1):
        entry[key] = random_tree(chance, depth - 2)
    return entry


def _output(chance: random.Random, depth: int) -> Any:
    return {"value": random_tree(chance, depth + 2)}


_ENTRIES = {"parameters": _parameter, "resources": _resource, "outputs": _output}


def random_anchors(chance: random.Random) -> str:
    """Anchors, aliases and merge keys, some of them multiplying."""
    lines = [f"heat_template_version: {chance.choice(DATES)}", "outputs:"]
    known: list[str] = []
    width = chance.randint(1, 12)
    for number in range(chance.randint(1, 12)):
        used = ", ".join(f"*{chance.choice(known)}" if known else "x" for _ in range(width))
        name = chance.choice(("list_concat", "list_join", "map_merge", "data", "repeat", "yaql"))
        body = chance.choice((f"[{used}]", f"{{{name}: [{used}]}}", f"{{a: [{used}], b: 1}}"))
        if known and chance.random() < 0.2:
            body = f"{{<<: [*{chance.choice(known)}], c: {body}}}"
        lines.append(f"  o{number}: {{value: &v{number} {body}}}")
        known.append(f"v{number}")
    return "\n".join(lines) + "\n"


def nested(chance: random.Random) -> str:
    """One thing inside itself, many times."""
    depth = int(2 ** chance.uniform(1, 14))
    opening, closing = chance.choice(
        (("[", "]"), ("{a: ", "}"), ('{"a":', "}"), ("{not: ", "}"), ("{get_param: ", "}"))
    )
    head = f"heat_template_version: {chance.choice(DATES)}\n"
    section = chance.choice(("outputs: {o: {value: %s}}", "conditions: {c: %s}", "%s"))
    return head + section % (opening * depth + "1" + closing * (depth - chance.randint(0, 1)))


def mutated(chance: random.Random, corpus: Sequence[str]) -> str:
    """A real template with a few accidents."""
    lines = chance.choice(corpus).split("\n")
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        at = chance.randrange(len(lines))
        line = lines[at]
        kind = chance.randrange(9)
        if kind == 0:
            del lines[at]
            lines = lines or [""]
        elif kind == 1:
            lines.insert(at, chance.choice(lines))
        elif kind == 2:
            lines[at] = " " * chance.randint(0, 8) + line.lstrip()
        elif kind == 3 and ":" in line:
            value = json.dumps(random_tree(chance, 3))
            lines[at] = line[: line.index(":")] + ": " + value
        elif kind == 4 and line:
            spot = chance.randrange(len(line))
            lines[at] = line[:spot] + chance.choice("{}[]:,&*!|>'\"%@#\t ~0a") + line[spot + 1 :]
        elif kind == 5:
            other = chance.choice(corpus).split("\n")
            start = chance.randrange(len(other))
            lines[at:at] = other[start : start + chance.randint(1, 12)]
        elif kind == 6:
            lines[at] = line.replace(chance.choice(NAMES), chance.choice(NAMES))
            lines = [text.replace("2013-05-23", "2021-04-16") for text in lines]
        elif kind == 7:
            lines = lines[: at + 1]
        else:
            lines[at] = f"{line.rstrip()} {chance.choice(('&a', '*a', '!x', '<<', '- x', '? y'))}"
    return "\n".join(lines)


def read_corpus(*folders: Path) -> list[str]:
    """The texts of every template that is small enough, in a fixed order."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*.yaml")):
            if path.is_file() and path.stat().st_size < LARGEST:
                found.append(path.read_text(encoding="utf-8", errors="replace"))
    return [text for text in found if text.strip()]


def own_templates() -> list[str]:
    """The templates of the examples and of the conformance cases."""
    found = read_corpus(ROOT / "examples")
    for path in sorted((ROOT / "tests" / "conformance" / "cases").glob("*.yaml")):
        cases = yaml.load(path.read_text(), yaml.CSafeLoader)
        found.extend(case["template"] for case in cases if isinstance(case.get("template"), str))
    return [text for text in found if len(text) < LARGEST]


def make_input(seed: int, number: int, corpus: Sequence[str]) -> tuple[str, str]:
    """The kind and the text of one input."""
    chance = random.Random(f"{seed}:{number}")
    kind = chance.choices(
        ("bytes", "template", "anchors", "nested", "mutated"), (40, 30, 6, 2, 22)
    )[0]
    if kind == "bytes":
        return kind, random_bytes(chance)
    if kind == "template":
        return kind, random_template(chance)
    if kind == "anchors":
        return kind, random_anchors(chance)
    if kind == "nested":
        return kind, nested(chance)
    return kind, mutated(chance, corpus)


# -- what is done with an input -----------------------------------------------------------------


def exercise(text: str, *, unchecked: bool = True) -> str:
    """Load, validate and resolve; gives ``good`` or ``refused``. Anything else is raised.

    ``unchecked``: what is refused is loaded once more without the check of its resources.
    """
    definition = None
    for check in (True, False) if unchecked else (True,):
        try:
            definition = _loaded(text, check)
            break
        except ValidationErrors as error:
            for fault in error.errors:
                str(fault)
                str(fault.place)
        except ZondaError as error:
            str(error)
    if definition is None:
        return "refused"
    _resolve(definition)
    return "good" if check else "refused"


def _loaded(text: str, check: bool) -> StackDefinition:
    return load(
        Bundle(text),
        identity=IDENTITY,
        plugins=PLUGINS,
        functions=lambda version: build_function_table(version, PLUGINS),
        limits=LIMITS,
        context_for=(lambda node: Context()) if check else None,
        yaql=make_evaluator(LIMITS),
        all_given=False,
    )


def _resolve(definition: StackDefinition) -> None:
    scope = definition.scope(LongTexts())
    definition.conditions()
    for output in definition.outputs.values():
        try:
            output.resolve(scope)
        except ZondaError as error:
            str(error)
    for name, node in definition.resources.items():
        definition.classify_properties(name)
        try:
            definition.fingerprint(name)
            node.resolve(scope)
        except ZondaError as error:
            str(error)


@dataclass
class Result:
    """What a run found. ``failures`` are (number, kind of input, what happened, text)."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str, str, str]] = field(default_factory=list)
    slowest: float = 0.0
    slowest_number: int = -1
    peak_mb: float = 0.0

    def line(self, seed: int, count: int, seconds: float) -> str:
        """The result as one line of JSON."""
        found = Counter(what.splitlines()[0] for _, _, what, _ in self.failures)
        return json.dumps(
            {
                "inputs": count,
                "seed": seed,
                **self.outcomes,
                "kinds": self.kinds,
                "slowest_s": round(self.slowest, 3),
                "slowest_input": self.slowest_number,
                "peak_rss_mb": round(self.peak_mb, 1),
                "wall_s": round(seconds, 1),
                "failures": len(self.failures),
                "failures_by_kind": found,
                "failing_inputs": [number for number, *_ in self.failures[:50]],
            }
        )


def peak_mb() -> float:
    """The largest the process ever was."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(text: str, *, unchecked: bool = True) -> tuple[str, float]:
    """The outcome, or the traceback, and the CPU seconds of one input."""
    before = time.process_time()
    try:
        outcome = exercise(text, unchecked=unchecked)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        head = f"{type(error).__name__} at {Path(last.filename).name}:{last.name}"
        outcome = f"{head}\n{traceback.format_exc(limit=-12)}"
    return outcome, time.process_time() - before


def run(numbers: Sequence[int], seed: int, corpus: Sequence[str]) -> Iterator[Result]:
    """Try the inputs of these numbers; gives the same result after each."""
    result = Result()
    for number in numbers:
        kind, text = make_input(seed, number, corpus)
        result.kinds[kind] += 1
        before = result.peak_mb or peak_mb()
        outcome, seconds = one(text, unchecked=number % 4 == 0)
        result.peak_mb = peak_mb()
        if seconds > result.slowest:
            result.slowest, result.slowest_number = seconds, number
        if seconds > SECONDS:
            outcome = f"slow\n{seconds:.1f} s"
        elif before <= MEGABYTES < result.peak_mb:
            outcome = f"large\n{result.peak_mb:.0f} MB"
        if outcome in ("good", "refused"):
            result.outcomes[outcome] += 1
        else:
            result.failures.append((number, kind, outcome, text))
        yield result


def main(words: Sequence[str] | None = None) -> int:
    """The command line; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="templates of other people")
    parser.add_argument("--keep", type=Path, help="where failing inputs go")
    given = parser.parse_args(words)
    corpus = own_templates() + read_corpus(given.corpus)
    started = time.perf_counter()
    result, told = Result(), 0
    for result in run(range(given.first, given.first + given.count), given.seed, corpus):
        faulthandler.dump_traceback_later(GIVEN_UP, exit=True)
        for number, kind, what, text in result.failures[told:]:
            print(f"input {number} ({kind}): {what}", file=sys.stderr, flush=True)
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{given.seed}-{number}.txt").write_bytes(
                    text.encode("utf-8", "surrogatepass")
                )
        told = len(result.failures)
        done = sum(result.kinds.values())
        if done % 10_000 == 0:
            print(f"{done} inputs, {told} failures", file=sys.stderr, flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(result.line(given.seed, given.count, time.perf_counter() - started))
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
