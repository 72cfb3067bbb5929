"""What is answered at once in an expression: the same values and faults as yaql itself gives."""

import pytest
import yaql

from zonda.core.functions.yaql_engine.engine import Evaluator
from zonda.hooks.errors import TemplateError

ROLES = [{"a": 1, "l": [1, [2]], "t": ["x"]}, None, {"a": None, "t": ["x", "y"]}, {"b": {"c": 2}}]

#: Expressions, each with its data.
SAME = [
    ("$", 1),
    ("$.data.where($ != null).select($.get(a))", ROLES),
    ("$.data.where($ != null).select($.get(a, 7))", ROLES),
    ("$.data.where($ != null).select($.get(key => a))", ROLES),
    ("$.data.where($ != null).select($.get('t')).where(null != $).flatten().distinct()", ROLES),
    ("$.data.where($ = null)", ROLES),
    ("$.data.where(left => $) = 1", ROLES),
    ("coalesce($.data, []).where($ != null).reduce($1.mergeWith($2), {})", ROLES),
    ("dict(coalesce($.data, []).where($ != null).select([$.get('a'), $.get('t')]))", ROLES[2:3]),
    ("let(x => $.data, y => 2) -> [$x, $y, $nothing]", 5),
    ("$.data.b.c + $.data.get(b).get(c)", ROLES[3]),
    ("$.data.select($.a)", [{"a": 1}, {"a": 2}]),
    ("$.data.a", [{"a": 1}, {"a": 2}]),
    ("$.data.select($.get(a))", [[1]]),
    ("$.data.get($.data.k)", {"k": "v", "v": 3}),
    ("$.data.get()", {}),
    ("$.data.get(1, 2, 3)", {}),
    ("$.data.nothing()", {}),
    ("$.data.first()", []),
    ("$.data.select($.first())", [[]]),
    ("[1 = 1.0, true = 1, a = 'a', [1] = [1], {a => 1} = {a => 1}, null != false]", None),
    ("def(twice, $ * 2) -> $.data.select(twice($))", [1, 2]),
    ("def('*not_equal', true) -> [$.data != $.data, 1 != 1]", 1),
    ("def('#get_context_data', 9) -> $.data", 1),
    ("def(get, 9) -> $.data.get(a)", {"a": 1}),
    ("$.data.select(def(f, $ + 1) -> f($))", [1, 2]),
    ("$.data.orderBy($.get(a)).select($?.get(a))", [{"a": 2}, {"a": 1}]),
    ("$.data.zip([1, 2]).where($[1] != 1).select($[0].toUpper())", ["a", "b"]),
    ("$.data.items().where($[0] != a).select($[1])", {"a": 1, "b": 2}),
    ("$.data.toDict($, $.len()).keys().orderBy($)", ["a", "bb"]),
]


def by_yaql(expression, data):
    """(value, class of the fault) by the library alone."""
    engine = yaql.YaqlFactory().create({"yaql.limitIterators": 200, "yaql.memoryQuota": 10_000})
    try:
        return engine(expression).evaluate({"data": data}, yaql.create_context()), None
    except Exception as error:
        return None, type(error).__name__


def by_us(expression, data):
    """The same by the evaluator."""
    try:
        return Evaluator(200, 10_000, 60.0).evaluate(expression, data), None
    except TemplateError as error:
        return None, error.heat_type


@pytest.mark.parametrize(("expression", "data"), SAME, ids=[text for text, _ in SAME])
def test_an_expression_means_what_it_means_to_yaql(expression, data):
    assert by_us(expression, data) == by_yaql(expression, data)


def test_what_one_expression_defines_is_unknown_to_the_next():
    evaluator = Evaluator(200, 10_000, 60.0)
    defining = "def('*not_equal', 9) -> $.data != 1"
    assert evaluator.evaluate(defining, 1) == 9
    assert evaluator.evaluate("$.data != 1", 1) is False


def test_values_that_are_answered_at_once_are_measured_too():
    with pytest.raises(TemplateError) as caught:
        Evaluator(200, 10_000, 60.0).evaluate("$.data.get(a)", {"a": "x" * 20_000})
    assert caught.value.heat_type == "MemoryQuotaExceededException"
