"""list_join, str_replace and its strict forms, str_split, digest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonda.core.functions.text import replace_placeholders, sort_longest_first
from zonda.core.template.source.bundle import Limits
from zonda.core.template.source.diagnostics import TooLarge

NEW, OLD = "2021-04-16", "2014-10-16"


@pytest.mark.parametrize(
    ("version", "args", "value"),
    [
        (NEW, [", ", ["a", "b"]], "a, b"),
        (NEW, ["-", ["a", None, ""]], "a--"),
        (NEW, ["-", ["a"], None, [], "", 0, ["b"]], "a-b"),
        (NEW, ["", [{"b": 1, "a": ["ä"]}, []]], '{"a": ["\\u00e4"], "b": 1}[]'),
        (OLD, ["-", ["a", None]], "a-"),
        (OLD, ["-", None], ""),
    ],
)
def test_list_join_joins(evaluate, version, args, value):
    assert evaluate({"list_join": args}, version=version) == value


@pytest.mark.parametrize(
    ("version", "args", "kind", "message"),
    [
        (NEW, [1, ["a"]], TypeError, '"list_join" delimiter must be a string'),
        (NEW, ["-", {"a": 1}], TypeError, '"list_join" must operate on a list'),
        (NEW, ["-", [1]], TypeError, "Items to join must be string, map or list not 1"),
        (NEW, ["-", [{1: 2, "a": 3}]], TypeError, "failed json serialization"),
        (OLD, ["-", [["a"]]], TypeError, r"Items to join must be strings not \['a'\]"),
        (OLD, ["-", ["a"], ["b"]], ValueError, "Incorrect arguments"),
        (NEW, ["-"], ValueError, "Incorrect arguments"),
        (NEW, "abc", TypeError, "Incorrect arguments"),
        (NEW, {"get_param": "p"}, TypeError, "Incorrect arguments"),
    ],
)
def test_list_join_refuses(evaluate, version, args, kind, message):
    with pytest.raises(kind, match=message):
        evaluate({"list_join": args}, version=version, parameters={"p": ["-", ["a"]]})


@pytest.mark.parametrize(
    ("template", "params", "value"),
    [
        ("$a and $a", {"$a": "x"}, "x and x"),
        ("$foobar $foo", {"$foo": 1, "$foobar": 2}, "2 1"),
        ("abc", {"ab": "X", "bc": "Y"}, "Xc"),
        ("abcd", {"ab": "X", "bcd": "Y"}, "aY"),
        ("a b", {"a": "b", "b": "a"}, "b a"),
        ("a.c abc $^*", {"a.c": 1, "$^*": 2}, "1 abc 2"),
        ("$x", {"$x": None}, ""),
        ("$x", {"$x": True}, "True"),
        ("$x", {"$x": 1e20}, "1e+20"),
        ("$x", {"$x": {"b": [True, None], "a": 1}}, '{"a": 1, "b": [true, null]}'),
        ("text", {"$unused": 1}, "text"),
        ("text", {}, "text"),
    ],
)
def test_str_replace_replaces(evaluate, template, params, value):
    assert evaluate({"str_replace": {"template": template, "params": params}}) == value


@pytest.mark.parametrize(
    ("name", "args", "kind", "message"),
    [
        ("str_replace", ["t", {}], TypeError, 'Arguments to "str_replace" must be a map'),
        ("str_replace", {"template": "t"}, KeyError, "syntax should be str_replace"),
        ("str_replace", {"template": "t", "params": []}, TypeError, "must be a mapping"),
        ("str_replace", {"template": 5, "params": {}}, TypeError, "template must be a string"),
        ("str_replace", {"template": "t", "params": {1: 2}}, TypeError, "must be strings"),
        ("str_replace", {"template": "t", "params": {"": 2}}, ValueError, "must not be empty"),
        (
            "str_replace_strict",
            {"template": "-", "params": {"$a": 1, "$bb": 2}},
            ValueError,
            r"not found in the template: \$bb,\$a",
        ),
        (
            "str_replace_strict",
            {"template": "$a", "params": {"$a": "$b", "$b": 1}},
            ValueError,
            r"not found in the template: \$b",
        ),
        (
            "str_replace_vstrict",
            {"template": "-", "params": {"$a": []}},
            ValueError,
            r"undefined or empty value for param \$a",
        ),
    ],
)
def test_str_replace_refuses(evaluate, name, args, kind, message):
    with pytest.raises(kind, match=message):
        evaluate({name: args})


@pytest.mark.parametrize("value", [[1], {"a": 1}], ids=["list", "map"])
def test_str_replace_took_no_structures_before_2015_10_15(evaluate, value):
    call = {"str_replace": {"template": "$x", "params": {"$x": value}}}
    with pytest.raises(TypeError, match=r"must be strings or numbers, param \$x is not valid"):
        evaluate(call, version="2015-04-30")


@pytest.mark.parametrize("value", [0, False, "x", [0]])
def test_vstrict_takes_every_value_that_is_not_empty(evaluate, value):
    call = {"str_replace_vstrict": {"template": "$x", "params": {"$x": value}}}
    assert evaluate(call) == (value if isinstance(value, str) else str(value))


class Endless:
    """Counts nothing, and takes every argument as it is."""

    def parse(self, value, path):
        return value

    def spend(self, values):
        pass


def model(template, values):
    """str_replace by recursion: cut at the first key, replace the others within the pieces."""
    if not values:
        return template
    (key, value), *rest = values
    return value.join(model(piece, rest) for piece in template.split(key))


@given(
    st.text("abc", max_size=20),
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3), st.text("abcX", max_size=4), max_size=4
    ),
)
def test_replacing_follows_the_model(template, params):
    ordered = [(key, params[key]) for key in sort_longest_first(params)]
    text, missing = replace_placeholders(template, dict(ordered), Endless())
    assert text == model(template, ordered)
    assert all(key not in template or len(params) > 1 for key in missing)


def test_a_text_cannot_grow_without_end(evaluate):
    tree = "x" * 1000
    for _ in range(5):
        tree = {"str_replace": {"template": "$" * 100, "params": {"$": tree}}}
    with pytest.raises(TooLarge):
        evaluate(tree)
    limits = Limits(max_nodes=200)
    join = {"list_join": ["x" * 1500, ["a", "b"]]}
    assert len(evaluate(join, limits=limits)) == 1502
    join["list_join"][1].append("c")
    with pytest.raises(TooLarge):
        evaluate(join, limits=limits)


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ([",", "a,b,c"], ["a", "b", "c"]),
        ([",", "a,b,c", 0], "a"),
        ([",", "a,b,c", "2"], "c"),
        ([",", "a,b,c", -1], "c"),
        ([",", "a,b,c", 1.9], "b"),
        ([",", "a,b,c", True], "b"),
        ([None, " a  b "], ["a", "b"]),
        ([",", None, 5], None),
        ([",", "a,b", 1, "ignored"], "b"),
        ({"get_param": "l"}, ["x", "y"]),
    ],
)
def test_str_split_splits(evaluate, args, value):
    assert evaluate({"str_split": args}, parameters={"l": ["-", "x-y"]}) == value


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        ("a,b", TypeError, "Incorrect arguments"),
        ([","], ValueError, "Incorrect arguments"),
        (None, ValueError, "Incorrect arguments"),
        ([",", "a,b", 2], ValueError, "should be between 0 and 1"),
        ([",", "a,b", "x"], ValueError, "Incorrect index"),
        ([",", "a,b", float("inf")], ValueError, "Incorrect index"),
        ([",", "a,b", None], TypeError, "Incorrect index"),
        ([",", 5], TypeError, "can only split text"),
        ([5, "a"], TypeError, "delimiter must be a string"),
        (["", "a"], ValueError, "empty separator"),
    ],
)
def test_str_split_refuses(evaluate, args, kind, message):
    with pytest.raises(kind, match=message):
        evaluate({"str_split": args})


@given(
    st.lists(st.text("ab c", max_size=5), min_size=1, max_size=6), st.sampled_from([",", ";;", "|"])
)
def test_what_is_joined_can_be_split(parts, delimiter):
    from zonda.core.functions.text import ListJoinMultiple, StrSplit

    scope = Endless()
    joined = ListJoinMultiple(scope, "list_join", [delimiter, parts], ()).resolve(scope)
    assert StrSplit(scope, "str_split", [delimiter, joined], ()).resolve(scope) == parts


@pytest.mark.parametrize(
    ("args", "value"),
    [
        (["md5", "abc"], "900150983cd24fb0d6963f7d28e17f72"),
        (["MD5", "abc"], "900150983cd24fb0d6963f7d28e17f72"),
        (["sha1", "é"], "1599e9fa41ec68c80230491902786bee889f5bcb"),
    ],
)
def test_digest_digests(evaluate, args, value):
    assert evaluate({"digest": args}) == value


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        (["md5", None], TypeError, "must be a list of strings"),
        ("md5", TypeError, "must be a list of strings"),
        (["md5"], ValueError, "usage"),
        ([], ValueError, "usage"),
        (["foo99", "a"], ValueError, "Algorithm must be one of"),
        (["shake_128", "a"], ValueError, "Algorithm must be one of"),
        (["md5", "日"], ValueError, "latin-1; the character at 0"),
    ],
)
def test_digest_refuses(evaluate, args, kind, message):
    with pytest.raises(kind, match=message):
        evaluate({"digest": args})
