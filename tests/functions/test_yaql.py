"""yaql: values, limits of elements, memory and time, and what must never happen."""

import itertools
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from zonda.core.functions.yaql_engine import engine
from zonda.core.functions.yaql_engine import limits as yaql_work
from zonda.core.functions.yaql_engine.engine import Evaluator
from zonda.core.template.source.bundle import Limits
from zonda.core.template.source.diagnostics import TooLarge
from zonda.hooks.errors import TemplateError


def yaql(expression, data=None):
    return {"yaql": {"expression": expression, "data": data}}


@pytest.mark.parametrize(
    ("expression", "data", "value"),
    [
        ("$.data.where($ > 1)", [1, 2, 3], [2, 3]),
        ("$.data.l.toDict($.k, $.v)", {"l": [{"k": "a", "v": 1}]}, {"a": 1}),
        ("dict($.data.select([$, $ + 1]))", [1, 2], {1: 2, 2: 3}),
        ("coalesce($.data, []).len()", None, 0),
        ("$.data.toSet()", [2, 1, 2], {1, 2}),
        ("range(200).toList().len()", None, 200),
        ("pow(2, 10) + shiftBitsLeft(1, 4)", None, 1040),
        ("pow(3, 100, 7)", None, 4),
        ("switch($.data > 5 => big, true => small)", 3, "small"),
        ("let(x => $.data) -> $x + 1", 1, 2),
        ("'abc'.replace(b, x)", None, "axc"),
        ("'a,b'.split(',')", None, ["a", "b"]),
        ('"{0}".format($.data)', None, "None"),
        ('"{0}:{1}".format($.data.a, $.data.get(b, x))', {"a": 1}, "1:x"),
        ('"{}-{name!r}-{:>3}-{{}}".format(1, 2, name => z)', None, "1-'z'-  2-{}"),
    ],
)
def test_expressions_have_values(evaluate, expression, data, value):
    assert evaluate(yaql(expression, data)) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('"{0.__class__}".format($.data)', "format takes names and numbers, not {0.__class__}"),
        ('"{0[0]}".format($.data)', "format takes names and numbers, not {0[0]}"),
        ('"{1}".format($.data)', "format has no value number 1"),
        ('"{} {}".format($.data)', "format has no value number 1"),
        ('"{x}".format($.data)', "'format has no value x'"),
        ('"{0:1001}".format($.data)', "format cannot have the layout '1001'"),
        ('"{0:{0}}".format($.data)', "format cannot have the layout '{0}'"),
        ('"{0".format($.data)', "expected '}' before end of string"),
    ],
)
def test_format_reaches_nothing_but_its_values(evaluate, expression, message):
    with pytest.raises(TemplateError) as caught:
        evaluate(yaql(expression, [1]))
    assert caught.value.message == message


def test_format_cannot_fill_the_memory(evaluate):
    with pytest.raises(TemplateError) as caught:
        evaluate(yaql(f'"{"{0}" * 1000}".format($.data)', "x" * 5000))
    assert caught.value.heat_type == "MemoryQuotaExceededException"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("regex(`a+`).matches(caat)", True),
        ("caat.matches(`^a+`)", False),
        ("caat =~ `a+`", True),
        ("caat =~ regex(`A+`)", False),
        ("caat =~ regex(`A+`, ignoreCase => true)", True),
        ("'a\nb' =~ regex(`a.b`, dotAll => true)", True),
        ("'a\nb' =~ regex(`^b`, multiLine => true)", True),
        ("caat !~ `x`", True),
        ("caat !~ regex(`a`)", False),
        ("regex(`(a+)t`).search(caat)", "aat"),
        ("regex(`x`).search(caat)", None),
        ("regex(`(a+)t`).search(caat, $2.value)", "aa"),
        ("regex(`(?P<n>a+)t`).search(caat, $n.start)", 1),
        ("regex(`a.`).searchAll(abcadc)", ["ab", "ad"]),
        ("regex(`a(.)`).searchAll(abcadc, $2.value)", ["b", "d"]),
        ("regex(`a.`).split(abcadc, maxSplit => 1)", ["", "cadc"]),
        ("abcadc.split(regex(`a.`))", ["", "c", "c"]),
        ("regex(`a.`).replace(abcadc, xx, count => 1)", "xxcadc"),
        ("abcadc.replace(regex(`a.`), xx)", "xxcxxc"),
        ("abcadc.replaceBy(regex(`a.`), $1.value + z)", "abzcadzc"),
        ("regex(`a.`).replaceBy(abcadc, z, count => 1)", "zcadc"),
        ("escapeRegex(`a.`)", "a\\."),
        ("[isRegex(regex(a)), isRegex(a)]", [True, False]),
    ],
)
def test_regular_expressions_work_as_in_yaql(evaluate, expression, value):
    assert evaluate(yaql(expression)) == value


@pytest.mark.parametrize(
    ("expression", "data", "heat_type", "message"),
    [
        ("$.data.fooBar()", {}, "NoMethodRegisteredException", 'Unknown method "fooBar"'),
        ("1 + a", None, "NoMatchingFunctionException", r'No function "#operator_\+"'),
        ("$.data.nope", {}, "KeyError", "'nope'"),
        ("1 / 0", None, "ZeroDivisionError", "division"),
        ("$.data.first()", [], "StopIteration", "StopIteration"),
        ("regex(`(`)", None, re.error.__name__, "unterminated"),
        ("range(300).toList()", None, "CollectionTooLargeException", "exceeds 200 elements"),
        ("range(300)", None, "CollectionTooLargeException", "exceeds 200 elements"),
        ("a * 1000000", None, "MemoryQuotaExceededException", "too much memory"),
        ("pow(10, 1000000000)", None, "MemoryQuotaExceededException", "too much memory"),
        ("shiftBitsLeft(1, 1000000000)", None, "MemoryQuotaExceededException", "too much memory"),
        ("def(f, f($)) -> f(1)", None, "RecursionError", "too deep"),
        ("generate(1, true, $ * $ + 7)", None, "MemoryQuotaExceededException", "too much"),
        ("generate(1, true, $ + 1)", None, "CollectionTooLargeException", "exceeds"),
    ],
)
def test_faults_of_an_expression_carry_the_class_that_heat_shows(
    evaluate, expression, data, heat_type, message
):
    with pytest.raises(TemplateError, match=message) as caught:
        evaluate(yaql(expression, data))
    assert caught.value.heat_type == heat_type


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        ("1", TypeError, 'Arguments to "yaql" must be a map.'),
        ({"data": 1}, KeyError, "syntax should be yaql"),
        ({"expression": "1", "more": 1}, KeyError, "syntax should be yaql"),
    ],
)
def test_a_wrong_call_is_refused_when_it_is_parsed(parse, args, kind, message):
    with pytest.raises(kind, match=message):
        parse({"yaql": args})


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (5, 'The "expression" argument to yaql must contain a string.'),
        ("$.data[", "Bad expression Parse error: unexpected end"),
        ("", "Bad expression Parse error: unexpected end"),
        ("\x01", "Bad expression"),
        ("1" * 101, "a number has more than 100 digits"),
        ("1 + " + "7" * 400_000 + "a", "a number has more than 100 digits"),
        ("'a' + '\\" + "\\'" * 3 + "' + " + "1" * 101, "a number has more than 100 digits"),
    ],
)
def test_a_wrong_expression_is_a_static_fault(parse, expression, message):
    call, scope = parse({"yaql": {"expression": expression}})
    [fault] = call.validate(scope)
    assert message in str(fault)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("datetime(2018, 1, 1)", "gives a datetime"),
        ("regex(a)", "gives a Pattern"),
        ("[[regex(a)]]", "gives a Pattern"),
        ("{[1] => 2}", "a map with a"),
    ],
)
def test_a_value_that_no_template_can_hold_is_refused(evaluate, expression, message):
    with pytest.raises((TypeError, TemplateError), match=f"{message}|unhashable"):
        evaluate(yaql(expression))


@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_a_text_of_many_digits_is_a_text(evaluate, quote):
    assert evaluate(yaql(f"{quote}{'1' * 200}{quote}")) == "1" * 200
    assert evaluate(yaql("1" * 100)) == int("1" * 100)


@pytest.mark.parametrize("text", ["'\\'" * 3, "'" + "\\'" * 9, "`\\", "'\\" + "\\'" * 5 + "\\"])
def test_a_text_without_an_end_ends_with_the_expression(text):
    found = list(engine._LONG_NUMBER.finditer(text))
    assert found[-1].end() == len(text)
    assert [match["digits"] for match in found] == [None] * len(found)


def test_the_expression_may_come_from_a_parameter(evaluate):
    call = {"yaql": {"expression": {"get_param": "e"}, "data": [1, 2]}}
    assert evaluate(call, parameters={"e": "$.data.sum()"}) == 3
    with pytest.raises(ValueError, match="Bad expression"):
        evaluate(call, parameters={"e": "$.("})
    with pytest.raises(TypeError, match="must contain a string"):
        evaluate(call, parameters={"e": 5})


def test_limits_can_be_raised(evaluate):
    limits = Limits(yaql_iterators=9000, yaql_memory=900_000)
    assert evaluate(yaql("range(8000).toList().len()"), limits=limits) == 8000


def test_an_expression_ends_at_its_deadline():
    ticks = itertools.count()
    slow = Evaluator(200, 10_000, 50.0, *[lambda: float(next(ticks))] * 2)
    nested = "range(200).select(range(200).select(range(200).sum()))"
    with pytest.raises(TemplateError, match="took more than 50 seconds of CPU time") as caught:
        slow.evaluate(nested, None)
    assert caught.value.heat_type == "TimeoutError"
    assert next(ticks) < 100


def test_a_pattern_ends_at_the_deadline():
    hungry = Evaluator(200, 10_000, 0.05)
    with pytest.raises(TemplateError, match=r"took more than 0\.05 seconds of CPU time"):
        hungry.evaluate("$.data =~ `^(a|aa)+$`", "a" * 60 + "b")


@pytest.mark.parametrize(
    ("expression", "data", "value"),
    [
        ("$.data.replace(a, bb)", "aXa", "bbXbb"),
        ("$.data.replace(a, bb, 1)", "aXa", "bbXa"),
        ("$.data.replace({a => c, X => 1})", "aXa", "c1c"),
        ("$.data.replace({a => c}, 1)", "aXa", "cXa"),
        ("$.data.replace(regex(a), b)", "aXa", "bXb"),
    ],
)
def test_replacing_gives_what_the_library_gives(expression, data, value):
    assert Evaluator(200, 10_000, 60.0).evaluate(expression, data) == value


@pytest.mark.parametrize(
    "expression", ["$.data.replace(a, $.data)", "$.data.replace({a => $.data})"]
)
def test_replacing_cannot_fill_the_memory(expression):
    with pytest.raises(TemplateError, match="too much memory"):
        Evaluator(200, 10_000, 60.0).evaluate(expression, "a" * 5000)


class Allowance:
    """So many values."""

    def __init__(self, values):
        self.left = values

    def __call__(self, values):
        if values > self.left:
            raise TooLarge("too many")
        self.left -= values


def cost(expression, data=None, most=10_000_000):
    allowance = Allowance(most)
    Evaluator(200, 10_000, 60.0).evaluate(expression, data, allowance)
    return most - allowance.left


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("range(60).aggregate([$1, $1], [1, 2, 3])", id="lists"),
        pytest.param("range(60).aggregate(dict(a => $1, b => $1), 1)", id="dict"),
        pytest.param("range(60).aggregate({a => $1, b => $1}, 1)", id="map"),
        pytest.param("range(60).aggregate({[$1, $1] => 1}, 1)", id="keys"),
        pytest.param("range(60).aggregate([$1] + [$1], [1])", id="sum-of-lists"),
        pytest.param("range(60).aggregate(set($1, [$1]), 1)", id="set"),
        pytest.param("range(60).aggregate([$1, $1], $.data).len()", id="data"),
        pytest.param("range(60).accumulate([$1, $1], 1).toList().len()", id="accumulate"),
        pytest.param("range(60).aggregate([$1, $1], 1) = 1", id="only-compared"),
        pytest.param("str(range(60).aggregate([$1, $1], 1)).len()", id="only-printed"),
        pytest.param("def(f, [$, $]) -> range(60).aggregate(f($1), 1)", id="own-function"),
        pytest.param("range(199).select(range(199).select(range(199)))", id="lists-of-lists"),
    ],
)
def test_a_value_that_doubles_at_each_step_is_refused_before_it_is_made(expression):
    with pytest.raises(TooLarge):
        cost(expression, data=[1, 2], most=500_000)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("range(199).select(range(199).select($ * 2).sum()).sum()", id="select"),
        pytest.param(
            "def(f, switch($ < 2 => 1, true => f($ - 1) + f($ - 2))) -> f(20)", id="own-function"
        ),
        pytest.param(
            "let(x => range(15).aggregate([$1, $1], 1)) -> "
            "range(199).select(range(199).where([$x].distinct().len() = 1).len()).sum()",
            id="few-steps-on-large-values",
        ),
    ],
)
def test_an_expression_of_too_many_steps_is_refused_wherever_it_runs(expression):
    with pytest.raises(TooLarge):
        cost(expression, most=500_000)


def test_a_step_costs_the_same_each_time():
    expression = "range(50).select(range(10).select($ * 2).sum()).sum()"
    assert cost(expression) == cost(expression) > 50 * 10 * yaql_work.PER_STEP


def test_data_that_is_only_read_costs_no_more_than_its_steps():
    data = {"a": [list(range(100))] * 100}
    assert cost("$.data.a.select($.len()).sum()", data) < 500 * yaql_work.PER_STEP


@pytest.mark.parametrize(
    "expression", ["pow(9, 20000)", "[pow(9, 20000)]", "dict(pow(9, 20000) => 1)"]
)
def test_a_number_of_too_many_digits_is_no_value(expression):
    with pytest.raises(TemplateError, match="a number of more than 4300 digits"):
        cost(expression)


def test_numbers_on_the_way_cannot_grow_without_end():
    with pytest.raises(TemplateError, match="too much memory"):
        cost("range(60).aggregate($1 * $1, 9) > 0")


@pytest.mark.parametrize("expression", ["def(f, f($) + 1) -> f(1)", "not " * 3000 + "true"])
def test_an_expression_that_goes_too_deep_says_so(expression):
    with pytest.raises((TemplateError, ValueError), match=r"nested, or calls itself, too deep"):
        cost(expression)


def test_a_value_nested_too_deep_is_refused():
    with pytest.raises(TemplateError, match="nested deeper than 200 levels"):
        cost("range(199).aggregate([$1], range(150).aggregate([$1], 1))")


def test_a_pattern_too_large_to_compile_is_refused():
    with pytest.raises(TemplateError, match="too large"):
        Evaluator(200, 10_000, 60.0).evaluate("regex('((a{90}){90}){90}').matches(a)", None)


def test_an_expression_on_many_threads_gives_each_its_own_value():
    evaluator = Evaluator(200, 10_000, 60.0)

    def evaluated(number):
        return evaluator.evaluate(f"$.data.select($ + {number % 7}).sum()", [number, 1])

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(evaluated, range(100)))
    assert values == [number + 1 + 2 * (number % 7) for number in range(100)]


def test_yaql_is_not_imported_before_it_is_used():
    code = "import sys, zonda.core.functions.versions; print('yaql' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
