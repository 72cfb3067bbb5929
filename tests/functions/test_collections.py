"""list_concat, filter, contains, map_merge, map_replace, repeat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonda.core.functions.lists import drop_duplicates
from zonda.core.template.source.diagnostics import TooLarge

scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([0.0, 1.0, "a", "1"])
items = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.just("k"), scalars, max_size=1)


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [
        ("list_concat", [["a"], None, ["a", None], []], ["a", "a", None]),
        ("list_concat", [[["a"]], [["a"]]], [["a"], ["a"]]),
        ("list_concat", [], []),
        ("list_concat_unique", [[1, "1"], [1.0, True, "1"]], [1, "1"]),
        ("list_concat_unique", [[{"a": 1, "b": 2}], [{"b": 2, "a": 1}]], [{"a": 1, "b": 2}]),
        ("filter", [["a"], ["a", "b", "a"]], ["b"]),
        ("filter", [[3], ["3"]], ["3"]),
        ("filter", [None, ["a"]], ["a"]),
        ("filter", [["a"], ""], ""),
        ("contains", ["a", ["a", "b"]], True),
        ("contains", ["bc", "abcd"], True),
        ("contains", ["1", [1]], False),
        ("contains", [True, [1]], True),
        ("map_merge", [{"a": 1, "b": 2}, None, {"a": None}], {"a": None, "b": 2}),
        ("map_merge", "", {}),
        ("map_replace", [{"a": "v"}, {"keys": {"a": "A"}, "values": {"v": "V"}}], {"A": "V"}),
        ("map_replace", [{"a": True}, {"values": {1: "one"}}], {"a": "one"}),
        ("map_replace", [{"a": ["x"]}, {"values": {"x": "y"}}], {"a": ["x"]}),
        ("map_replace", [{"a": "v"}, {"values": {"v": None}}], {"a": None}),
        ("map_replace", [{"a": "v"}, {"keys": {"a": None}}], {"a": "v"}),
        ("map_replace", [None, None], {}),
    ],
)
def test_values(evaluate, name, args, value):
    assert evaluate({name: args}) == value


@pytest.mark.parametrize(
    ("name", "args", "kind", "message"),
    [
        ("list_concat", "abc", TypeError, "Incorrect arguments"),
        ("list_concat", [["a"], {"b": 1}], TypeError, r'not a list: \{"b": 1\}'),
        ("filter", "abc", TypeError, 'Argument to "filter" must be a list'),
        ("filter", [["a"]], ValueError, "expected 2 arguments"),
        ("filter", [["a"], "abc"], TypeError, "only works with lists"),
        ("contains", {"a": 1}, TypeError, "Incorrect arguments"),
        ("contains", ["a"], ValueError, "must be of the form"),
        ("contains", ["a", {"a": 1}], TypeError, "should be a sequence"),
        ("contains", [1, "abc"], TypeError, "look for text"),
        ("map_merge", {"a": 1}, TypeError, "Incorrect arguments"),
        ("map_merge", [{"a": 1}, "b"], TypeError, "'b' is type <class 'str'>"),
        ("map_replace", [{}], TypeError, "Incorrect arguments"),
        ("map_replace", [{}, {}, {}], TypeError, "Incorrect arguments"),
        ("map_replace", [{}, {"key": {}}], ValueError, "Incorrect arguments"),
        ("map_replace", [{}, {"keys": []}], TypeError, "must be a list of maps"),
        ("map_replace", [{"a": 1}, {"keys": {"a": []}}], TypeError, "cannot be a list"),
        (
            "map_replace",
            [{"a": 1, "b": 2}, {"keys": {"a": "b", "b": "a"}}],
            ValueError,
            "key replacement b collides with a key in the input map",
        ),
        (
            "map_replace",
            [{"a": 1, "b": 2}, {"keys": {"a": "x", "b": "x"}}],
            ValueError,
            "key replacement x collides with a key in the output map",
        ),
    ],
)
def test_refusals(evaluate, name, args, kind, message):
    with pytest.raises(kind, match=message):
        evaluate({name: args})


@given(st.lists(items, max_size=12))
def test_unique_keeps_the_first_of_equal_items(values):
    kept = []
    for value in values:
        if value not in kept:
            kept.append(value)
    assert list(map(repr, drop_duplicates(values))) == list(map(repr, kept))


def repeated(for_each, template, **more):
    return {"repeat": {"for_each": for_each, "template": template, **more}}


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (repeated({"%x%": ["a", "b"]}, "n-%x%"), ["n-a", "n-b"]),
        (repeated({"y": ["1", "2"], "x": ["a", "b"]}, "xy"), ["a1", "b1", "a2", "b2"]),
        (repeated({"a": ["b"], "b": ["z"]}, "a-b"), ["z-z"]),
        (repeated({"b": ["z"], "a": ["b"]}, "a-b"), ["b-z"]),
        (repeated({"x": ["a"]}, {"x": ["x", 1], 2: None}), [{"a": ["a", 1], 2: None}]),
        (repeated({"x": [1, 2]}, 5), [5, 5]),
        (repeated({"x": None, "y": ["a"]}, "xy"), []),
        (repeated({"x": {"k": 1, "l": 2}}, "x"), ["k", "l"]),
        (repeated({"x": ["a", "b"], "y": ["1", "2"]}, "xy", permutations=False), ["a1", "b2"]),
        (repeated({"x": ["a", "b"], "y": None}, "xy", permutations=False), []),
        (repeated({"x": ["a"]}, repeated({"y": ["1", "2"]}, "xy")), [["a1", "a2"]]),
        (repeated({"get_param": "m"}, "x"), ["p"]),
    ],
)
def test_repeat_repeats(evaluate, call, value):
    assert evaluate(call, parameters={"m": {"x": ["p"]}}) == value


@pytest.mark.parametrize(
    ("version", "call", "kind", "message"),
    [
        ("2015-04-30", {"repeat": []}, TypeError, "must be a map"),
        ("2015-04-30", {"repeat": {"template": 1}}, KeyError, "syntax should be repeat"),
        ("2015-04-30", repeated([], 1), TypeError, "must contain a map"),
        ("2015-04-30", repeated({}, 1), TypeError, "must contain a map"),
        ("2016-04-08", repeated({"x": {"a": 1}}, 1), TypeError, "must be lists$"),
        ("2016-10-14", repeated({"x": "abc"}, 1), TypeError, "must be lists or maps"),
        ("2017-09-01", repeated({"x": []}, 1, permutations=1), TypeError, "should be boolean"),
        (
            "2017-09-01",
            repeated({"x": ["a"], "y": ["1", "2"]}, "x", permutations=False),
            ValueError,
            "length of for_each values should be equal",
        ),
        ("2017-09-01", repeated({"x": {"a": 1}}, 1, permutations=False), TypeError, "be lists$"),
        ("2017-09-01", repeated({"x": [1]}, "x"), TypeError, "must be text, not int"),
        ("2017-09-01", repeated({1: ["a"]}, "x"), TypeError, "must be text, not int"),
    ],
)
def test_repeat_refuses(evaluate, version, call, kind, message):
    with pytest.raises(kind, match=message):
        evaluate(call, version=version)


def test_permutations_were_ignored_before_2017_09_01(evaluate):
    call = repeated({"x": ["a", "b"], "y": ["1", "2"]}, "xy", permutations=False)
    assert evaluate(call, version="2016-10-14") == ["a1", "a2", "b1", "b2"]


def test_nested_repeats_cannot_fill_the_memory(evaluate):
    tree = "x"
    for _ in range(4):
        tree = repeated({"%x%": [str(number) for number in range(200)]}, tree)
    with pytest.raises(TooLarge, match="more than 500000 values"):
        evaluate(tree)
