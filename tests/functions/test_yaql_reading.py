"""yaql expressions that are read without yaql's own parser: as that reads them, or not at all."""

import random
import subprocess
import sys

import pytest
import yaql
from yaql.language import exceptions

from zonda.core.functions import yaql_reading

#: Operators beside each other, one of each group at least, and what may stand between them.
_BINARY = ["+", "-", "*", "/", "mod", ".", "?.", "=", "!=", "<", ">", "<=", ">=", "=~", "!~"]
_BINARY += ["in", "and", "or", "->"]
_PREFIX = ["-", "+", "not "]
_ATOMS = ["$", "$x", "a", "1", "2.5", "'t'", '"u"', "`v`", "true", "null"]
_PARTS = [*_BINARY, *_PREFIX, *_ATOMS, *"()[]{},,", "=>", "f(", "not(", "__x", "5x", "1.", "&", "'"]


@pytest.fixture(scope="module")
def engine():
    return yaql.YaqlFactory().create()


def by_yaql(engine, text):
    try:
        return engine.parser.parse(text, lexer=engine.lexer)
    except (exceptions.YaqlException, ValueError):
        return None


def form(tree):
    """A tree as plain data, so that two of them can be compared."""
    if isinstance(tree, list | tuple):
        return [form(each) for each in tree]
    if hasattr(tree, "__dict__"):
        return type(tree).__name__, {key: form(value) for key, value in vars(tree).items()}
    return type(tree).__name__, repr(tree)


@pytest.mark.parametrize(
    "text",
    [
        "$.data.where($ > 1)",
        "$.data.l.toDict($.k, $.v)",
        "let(x => $.data) -> $x + 1",
        "switch($.data > 5 => big, true => small)",
        "$.a.b[0].c[$ = 1]",
        "- $.a * 2 - -3",
        "not $.a and not b or c != d",
        "a * not b = c and d",
        "[1, [2], a => b][0]",
        "{a => 1, 'b' => {}}",
        "f()",
        "not(x) -> g(a, b => c)",
        r"$.join('\n').matches(`(\d|\`)`)",
        r'"\x41\"".len()',
        "  $ \n .a\t",
        "x.5",
        "a.-b",
        "(((1)))",
    ],
)
def test_an_expression_is_read_as_yaql_reads_it(engine, text):
    assert form(yaql_reading.read(text)) == form(by_yaql(engine, text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$.data.where(",
        "1 +",
        "a b",
        "a => b",
        "f(a => b, c)",
        "f(, a)",
        "f(a,)",
        "5x",
        "__x",
        "a & b",
        "'a",
        r"'\N{no such}'",
        r"'\xZZ'",
        "f)",
        "[1}",
        "(" * 5000 + "1" + ")" * 5000,
        "9" * 5000,
    ],
)
def test_what_is_wrong_or_rare_is_left_to_yaql(text):
    assert yaql_reading.read(text) is None


def _made(source, depth):
    """An expression by chance."""
    if depth == 0 or source.random() < 0.3:
        return source.choice(_ATOMS)
    inner = [_made(source, depth - 1) for _ in range(3)]
    kind = source.randrange(6)
    if kind == 0:
        return source.choice(_PREFIX) + inner[0]
    if kind == 1:
        opened = source.choice(["f()", "[]", "{}", "()"])
        inside = [inner[0]] if opened == "()" else inner[: source.randrange(4)]
        return opened[:-1] + ", ".join(inside) + opened[-1]
    if kind == 2:
        return f"{inner[0]}[{inner[1]}]"
    return f"{inner[0]} {source.choice(_BINARY)} {inner[1]}"


def test_expressions_by_chance_are_read_as_yaql_reads_them(engine):
    source = random.Random(7)
    for _ in range(600):
        text = _made(source, 4)
        assert form(yaql_reading.read(text)) == form(by_yaql(engine, text)), text


def test_what_is_no_expression_for_yaql_is_none(engine):
    source = random.Random(8)
    for _ in range(1500):
        text = source.choice(["", " "]).join(source.choices(_PARTS, k=source.randrange(1, 7)))
        found = yaql_reading.read(text)
        assert found is None or form(found) == form(by_yaql(engine, text)), text


def test_an_ordinary_expression_needs_no_tables_of_a_parser():
    script = (
        "from zonda.core.functions import yaql_engine\n"
        "value = yaql_engine.Evaluator(200, 10000, 60.0).evaluate('$.data.select($ + 1)', [1])\n"
        "print(value, yaql_engine._engine.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[2] 0", "")
