"""Functions begin with verbs; first lines of docstrings have a subject."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("core", "hooks", "builtin_resources", "workflows")
MODULES = [
    path
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
    if "versions" not in path.parts
]


#: Those of the packages of contrib, but for copies of Heat's own modules, which keep its words.
PACKAGES = [
    path for path in sorted(ROOT.glob("contrib/*/src/**/*.py")) if "heat" not in path.parts[:-1]
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Participles that do not end in "ed".
IRREGULAR = _words(
    "found told said made known given shown gone left kept taken meant held sent seen done drawn"
    " written begun chosen lost built bound broken frozen hidden led paid sold spent stood thought"
    " understood heard came went took saw began got"
)
#: Words that are no verbs, and with which names began that only their author understood.
PARTICLES = _words(
    "of at in inside below above after before again also only without within through not no what"
    " who why how which when where still once yet too now then there here so if unless"
    " since"
)
#: Verbs that end in "ed".
VERBS = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "succeed"})
#: Names of the plug-in API, of Python and of commands; ``of`` makes or finds the object of another.
PUBLIC = frozenset(
    {
        "encoded",
        "hidden_properties",
        "now",
        "of",
        "redacted_url",
        "referenced_attributes",
        "referenced_paths",
        "required_resources",
        "why",
    }
)
_NO_SUBJECT = re.compile(r"(What|Who|Whoever|Whatever|Whose|Somebody|How|Where|Which|When)\b")


def functions(path: Path) -> Iterator[str]:
    """The names of the functions and methods of a module that are no properties."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if "property" not in decorators and ".setter" not in decorators:
                yield node.name


def breaks_the_rule(name: str) -> bool:
    """Whether a name begins with a participle or a particle."""
    word = name.strip("_").split("_")[0]
    is_participle = word in IRREGULAR or (word.endswith("ed") and word not in VERBS)
    return not name.startswith("__") and (is_participle or word in PARTICLES)


def lines(path: Path) -> Iterator[tuple[str, str]]:
    """Each module, class and function with the first line of its docstring."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "module"), text.splitlines()[0]


def test_a_function_is_no_participle_and_no_particle() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        for name in functions(path)
        if breaks_the_rule(name) and name not in PUBLIC
    ] == []


def test_the_first_line_of_a_docstring_has_a_subject() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {name}: {line}"
        for path in [*MODULES, *PACKAGES]
        for name, line in lines(path)
        if _NO_SUBJECT.match(line)
    ] == []


def test_the_first_line_of_a_comment_on_a_name_has_a_subject() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {second}"
        for path in [*MODULES, *PACKAGES]
        for first, second in pairwise(map(str.strip, path.read_text().splitlines()))
        if second.startswith("#: ") and not first.startswith("#:")
        if _NO_SUBJECT.match(second.removeprefix("#: "))
    ] == []
