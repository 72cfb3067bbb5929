"""get_param, get_attr, get_resource, get_file, facades, and the Ref and Fn::* of the beginning."""

import pytest

from zonda.core.template.evaluation.unknown_values import UNKNOWN
from zonda.hooks.errors import TemplateError, UnknownReference
from zonda.hooks.function import Source, sources, validate

PARAMETERS = {"s": "text", "j": {"k": [1, {"d": 2}], "n": None}, "l": ["p", ["q"]], "name": "web"}
RESOURCES = {"web": {"ip": ["a", {"v": 4}], "s": "text"}, "w": {"x": 1}}


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ("s", "text"),
        (["s"], "text"),
        (["j", "k", 1, "d"], 2),
        (["j", "k", "1", "d"], 2),
        (["l", -1, "0"], "q"),
        (["l", True, 0], "q"),
        (["s", 0], "t"),
        (["j", "nope"], ""),
        (["j", "nope", "deeper"], ""),
        (["j", "n", "x"], ""),
        (["j", None], ""),
        (["j", ["k"]], ""),
        (["l", 7], ""),
        (["l", "word"], ""),
        (["l", 1.0], ""),
        ({"get_param": "name2"}, "text"),
        (["j", {"get_param": "key"}], None),
    ],
)
def test_get_param_gives_what_the_path_leads_to(evaluate, args, value):
    parameters = {**PARAMETERS, "name2": "s", "key": "n"}
    assert evaluate({"get_param": args}, parameters=parameters) == value


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        ("nope", TemplateError, r"The Parameter \(nope\) was not provided"),
        ("", ValueError, "must have arguments"),
        ([], ValueError, "must have arguments"),
        (None, ValueError, "must have arguments"),
        (5, TypeError, "must be string or list"),
        ({"a": "b"}, TypeError, "must be string or list"),
        ([5], TypeError, "Parameter name"),
    ],
)
def test_get_param_refuses(evaluate, args, kind, message):
    with pytest.raises(kind, match=message):
        evaluate({"get_param": args}, parameters=PARAMETERS)


@pytest.mark.parametrize(
    ("version", "args", "value"),
    [
        ("2021-04-16", ["web", "ip", 1, "v"], 4),
        ("2021-04-16", ["web", "ip", "1"], None),
        ("2021-04-16", ["web", "s", -1], "t"),
        ("2021-04-16", ["web"], RESOURCES["web"]),
        ("2021-04-16", ["web", None, "ignored"], RESOURCES["web"]),
        ("2021-04-16", "w", RESOURCES["w"]),
        ("2021-04-16", [{"get_param": "name"}, "s"], "text"),
        ("2014-10-16", ["web", "ip", 1, "v"], 4),
        ("2013-05-23", ["web", "ip", 1, "v"], 4),
        ("2013-05-23", ["web", "ip", ["a"]], None),
    ],
)
def test_get_attr_gives_what_the_path_leads_to(evaluate, version, args, value):
    scope = {"resources": RESOURCES, "parameters": PARAMETERS, "version": version}
    assert evaluate({"get_attr": args}, **scope) == value


@pytest.mark.parametrize(
    ("version", "args", "kind", "message"),
    [
        ("2021-04-16", [], ValueError, "can be of the next forms"),
        ("2021-04-16", None, ValueError, "can be of the next forms"),
        ("2021-04-16", "web", TypeError, "must be a list"),
        ("2021-04-16", 5, TypeError, "must be a list"),
        ("2014-10-16", ["web"], ValueError, "must be of the form"),
        ("2014-10-16", "w", TypeError, "must be a list"),
        ("2021-04-16", [["web"], "s"], TypeError, "Resource name"),
        ("2021-04-16", ["web", 5], TypeError, "Attribute name"),
        ("2021-04-16", ["web", "ip", ["a"]], TypeError, "Path in .* not list"),
        ("2014-10-16", ["web", "ip", 1, {"a": "b"}], TypeError, "Path in .* not dict"),
        ("2021-04-16", ["web", "ip", {"get_param": "l"}], TypeError, "Path in .* not list"),
        ("2021-04-16", ["nope", "s"], UnknownReference, "nope"),
    ],
)
def test_get_attr_refuses(evaluate, version, args, kind, message):
    scope = {"resources": RESOURCES, "parameters": PARAMETERS, "version": version}
    with pytest.raises(kind, match=message):
        evaluate({"get_attr": args}, **scope)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nope", "s", ["a"]], "nope"),
        (["web", "nope"], "web nope"),
        (["nope"], "nope"),
        (["web", "ip", ["a"]], "not list"),
    ],
)
def test_validation_finds_what_no_value_can_mend(parse, args, message):
    call, scope = parse({"get_attr": args}, resources=RESOURCES)
    (fault,) = validate(call, scope)
    assert message in str(fault)
    assert fault.path == ("o", "get_attr")


def test_get_resource_gives_the_reference(evaluate):
    scope = {"resources": RESOURCES, "parameters": PARAMETERS}
    assert evaluate({"get_resource": "web"}, **scope) == "id-of-web"
    assert evaluate({"get_resource": {"get_param": "name"}}, **scope) == "id-of-web"
    with pytest.raises(UnknownReference):
        evaluate({"get_resource": 5}, **scope)
    for wrong in (["web"], {"a": "b"}):
        with pytest.raises(TypeError, match="Resource name"):
            evaluate({"get_resource": wrong}, **scope)


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        ({"get_param": "s"}, [Source("param", "s")]),
        ({"get_param": ["j", {"get_param": "s"}]}, [Source("param", "j"), Source("param", "s")]),
        ({"get_resource": "web"}, [Source("ref", "web")]),
        (
            {"get_resource": {"get_param": "name"}},
            [Source("ref", "web"), Source("param", "name")],
        ),
        ({"get_attr": ["web", "ip", 0]}, [Source("attr", "web", "ip", (0,))]),
        ({"get_attr": ["web"]}, [Source("attr", "web")]),
        (
            {"get_attr": ["web", "ip", {"get_attr": ["w", "x"]}, "v"]},
            [Source("attr", "web", "ip", (UNKNOWN,)), Source("attr", "w", "x")],
        ),
        (
            {"get_attr": ["web", {"get_attr": ["w", "x"]}]},
            [Source("attr", "web"), Source("attr", "w", "x")],
        ),
        ({"get_attr": [{"get_attr": ["w", "x"]}, "s"]}, [Source("attr", "w", "x")]),
        ({"get_file": "f"}, [Source("file", "f")]),
        ({"resource_facade": "metadata"}, [Source("facade", "metadata")]),
        (
            {"if": ["c", {"get_param": "s"}, {"get_param": "nope"}]},
            [Source("condition", "c"), Source("param", "s")],
        ),
        (
            {"list_join": ["", [{"get_param": "s"}, {"get_resource": "w"}]]},
            [Source("param", "s"), Source("ref", "w")],
        ),
    ],
)
def test_sources_tell_everything_that_is_read(parse, tree, found):
    call, _ = parse(tree, parameters=PARAMETERS, resources=RESOURCES, conditions={"c": True})
    assert list(sources(call)) == found


def test_get_file_gives_the_text(evaluate):
    assert evaluate({"get_file": "a"}, files={"a": "text"}) == "text"
    for wrong in (5, ["a"], None):
        with pytest.raises(TypeError, match='Argument to "get_file" must be a string'):
            evaluate({"get_file": wrong})


@pytest.mark.parametrize(
    ("version", "name", "args", "allowed"),
    [
        ("2021-04-16", "resource_facade", "update_policy", "metadata, deletion_policy"),
        ("2013-05-23", "Fn::ResourceFacade", "UpdatePolicy", "Metadata, DeletionPolicy"),
    ],
)
def test_the_facade_is_read_by_the_names_of_the_language(evaluate, version, name, args, allowed):
    scope = {"version": version, "facade_parts": {"update_policy": {"p": 1}}}
    assert evaluate({name: args}, **scope) == {"p": 1}
    for wrong in ("properties", None, ["metadata"]):
        with pytest.raises(ValueError, match=f"should be one of: {allowed}"):
            evaluate({name: wrong}, **scope)


@pytest.mark.parametrize(
    ("tree", "value"),
    [
        ({"Ref": "s"}, "text"),
        ({"Ref": "web"}, "id-of-web"),
        ({"Fn::Select": [1, ["a", "b"]]}, "b"),
        ({"Fn::Select": ["1", ["a", "b"]]}, "b"),
        ({"Fn::Select": [5, ["a"]]}, ""),
        ({"Fn::Select": ["k", {"k": 1}]}, 1),
        ({"Fn::Select": ["z", {"k": 1}]}, ""),
        ({"Fn::Select": ["k", '{"k": 1}']}, 1),
        ({"Fn::Select": ["1", {"1": "a"}]}, "a"),
        ({"Fn::Select": ["1", {"k": 1}]}, ""),
        ({"Fn::Select": ["k", "null"]}, ""),
        ({"Fn::Select": [0, None]}, ""),
        ({"Fn::Join": ["-", ["a", None]]}, "a-"),
        ({"Fn::Split": [",", "a,b"]}, ["a", "b"]),
        ({"Fn::Replace": [{"$x": 1}, "a$x"]}, "a1"),
        ({"Fn::Base64": "text"}, "text"),
        ({"Fn::GetAZs": ""}, ["nova"]),
        (
            {
                "Fn::MemberListToMap": [
                    "N",
                    "V",
                    [".member.1.N=k", ".member.1.V=a=b", ".member.0.N=x"],
                ]
            },
            {"k": "a=b"},
        ),
    ],
)
def test_cfn_functions(evaluate, tree, value):
    scope = {"parameters": PARAMETERS, "resources": RESOURCES, "version": "2013-05-23"}
    assert evaluate(tree, **scope) == value


@pytest.mark.parametrize(
    ("tree", "kind", "message"),
    [
        ({"Ref": "nope"}, UnknownReference, "nope"),
        ({"Ref": ["s"]}, TypeError, "Resource name"),
        ({"Fn::Select": "ab"}, ValueError, "must be of the form"),
        ({"Fn::Select": ["x", ["a"]]}, TypeError, "must be an integer"),
        ({"Fn::Select": [0, {"a": 1}]}, TypeError, "must be a string"),
        ({"Fn::Select": [0, "{"]}, ValueError, '"Fn::Select"'),
        ({"Fn::Select": [0, 5]}, TypeError, "not fully resolved"),
        ({"Fn::Split": "a,b"}, ValueError, "Incorrect arguments"),
        ({"Fn::Split": [1, "a"]}, TypeError, "Delimiter"),
        ({"Fn::Split": [",", 1]}, TypeError, "String to split"),
        ({"Fn::Replace": {"a": 1}}, ValueError, "Incorrect arguments"),
        ({"Fn::Base64": ["a"]}, TypeError, "argument must be a string"),
        ({"Fn::MemberListToMap": ["N", "V"]}, TypeError, "Wrong Arguments"),
        ({"Fn::MemberListToMap": ["N", "V", "x"]}, TypeError, "must be a list"),
        ({"Fn::MemberListToMap": ["N", "V", [1]]}, TypeError, "must be strings"),
        ({"Fn::MemberListToMap": ["N", "V", ["x"]]}, ValueError, "must look like"),
    ],
)
def test_cfn_functions_refuse(evaluate, tree, kind, message):
    with pytest.raises(kind, match=message):
        evaluate(tree, version="2013-05-23", parameters=PARAMETERS, resources=RESOURCES)
