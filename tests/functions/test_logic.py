"""if, equals, not, and, or."""

import pytest

from zonda.hooks.errors import TemplateError
from zonda.hooks.function import ABSENT, resolve

CONDITIONS = {"yes": True, "no": False}


@pytest.mark.parametrize(
    ("args", "value"),
    [
        (["yes", "a", "b"], "a"),
        (["no", "a", "b"], "b"),
        ([False, "a", "b"], "b"),
        ([None, "a", "b"], "a"),
        ([{"not": "yes"}, "a", "b"], "b"),
        (["yes", "a", {"str_split": "wrong"}], "a"),
        (["yes", "a", {"get_param": "unknown"}], "a"),
        (["no", {"list_join": 5}], None),
    ],
)
def test_if_takes_one_branch_and_does_not_look_at_the_other(evaluate, args, value):
    assert evaluate({"if": args}, conditions=CONDITIONS) == value


def test_an_absent_value_disappears_from_lists_and_maps(evaluate):
    gone = {"if": ["no", "x"]}
    scope = {"conditions": CONDITIONS}
    assert evaluate(["a", gone, {"k": gone, "l": 1}], **scope) == ["a", {"l": 1}]
    assert evaluate({"list_concat": [["a"], gone]}, **scope) == ["a"]
    assert evaluate({"list_join": [",", gone]}, **scope) == ""
    assert evaluate([{"if": ["yes", gone, 1]}, "a"], **scope) == ["a"]


def test_an_absent_value_is_told_apart_from_null(parse):
    call, scope = parse({"if": ["no", "x"]}, conditions=CONDITIONS)
    assert resolve(call, scope) is ABSENT


@pytest.mark.parametrize(
    ("version", "args"),
    [
        ("2018-08-31", ["yes", "a"]),
        ("2021-04-16", ["yes"]),
        ("2021-04-16", ["yes", 1, 2, 3]),
        ("2021-04-16", "yes"),
        ("2021-04-16", None),
        ("2021-04-16", {"get_param": "p"}),
    ],
)
def test_if_refuses_wrong_shapes(evaluate, version, args):
    with pytest.raises(ValueError, match=r"of the form: \[condition_name, value_if_true"):
        evaluate({"if": args}, version=version, conditions=CONDITIONS)


def test_an_unknown_condition_is_refused(evaluate):
    with pytest.raises(TemplateError, match='Invalid condition "maybe"'):
        evaluate({"if": ["maybe", 1, 2]})


@pytest.mark.parametrize(
    ("tree", "value"),
    [
        ({"equals": [3, 3.0]}, True),
        ({"equals": [True, 1]}, True),
        ({"equals": [3, "3"]}, False),
        ({"equals": [None, ""]}, False),
        ({"equals": [{"get_param": "p"}, "prod"]}, True),
        ({"not": False}, True),
        ({"not": "no"}, True),
        ({"not": {"get_param": "name"}}, True),
        ({"and": [True, "yes"]}, True),
        ({"and": ["no", "unknown"]}, False),
        ({"and": [None, True]}, True),
        ({"or": ["no", {"equals": [1, 1]}]}, True),
        ({"or": ["yes", "unknown"]}, True),
        ({"or": ["no", False]}, False),
        ({"contains": ["a", ["a"]]}, True),
        ({"yaql": {"expression": "$.data > 1", "data": 2}}, True),
    ],
)
def test_conditions_have_truth(evaluate, tree, value):
    parameters = {"p": "prod", "name": "no"}
    scope = {"parameters": parameters, "conditions": CONDITIONS, "in_condition": True}
    assert evaluate(tree, **scope) is value


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"equals": [1]}, r"of the form: \[value_1, value_2\]"),
        ({"equals": "a"}, r"of the form: \[value_1, value_2\]"),
        ({"not": None}, 'Argument to "not" must be a condition'),
        ({"not": 1}, 'Invalid condition "1"'),
        ({"not": ["yes"]}, "Invalid condition"),
        ({"and": "yes"}, "must be a list of conditions"),
        ({"and": ["yes"]}, 'The minimum number of condition arguments to "and" is 2.'),
        ({"or": [True]}, "is 2."),
        ({"or": [0, True]}, 'Invalid condition "0"'),
        ({"and": [True, "unknown"]}, 'Invalid condition "unknown"'),
    ],
)
def test_conditions_refuse(evaluate, tree, message):
    with pytest.raises((ValueError, TemplateError), match=message):
        evaluate(tree, conditions=CONDITIONS, in_condition=True)
