"""Which function a name stands for in which version, and what plug-ins may add."""

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.template.source.versions import DATES, NAMES
from zonda.hooks.errors import TemplateError
from zonda.hooks.function import Function
from zonda.hooks.markers import hookimpl

SINCE = {
    "get_param": "2013-05-23",
    "get_attr": "2013-05-23",
    "get_resource": "2013-05-23",
    "get_file": "2013-05-23",
    "list_join": "2013-05-23",
    "resource_facade": "2013-05-23",
    "str_replace": "2013-05-23",
    "digest": "2015-04-30",
    "repeat": "2015-04-30",
    "str_split": "2015-10-15",
    "map_merge": "2016-04-08",
    "if": "2016-10-14",
    "map_replace": "2016-10-14",
    "yaql": "2016-10-14",
    "filter": "2017-02-24",
    "str_replace_strict": "2017-02-24",
    "contains": "2017-09-01",
    "list_concat": "2017-09-01",
    "list_concat_unique": "2017-09-01",
    "make_url": "2017-09-01",
    "str_replace_vstrict": "2017-09-01",
}
UNTIL = {"Fn::Select": "2015-04-30"} | dict.fromkeys(
    (
        "Ref",
        "Fn::Base64",
        "Fn::GetAZs",
        "Fn::Join",
        "Fn::MemberListToMap",
        "Fn::Replace",
        "Fn::ResourceFacade",
        "Fn::Split",
    ),
    "2013-05-23",
)
CONDITIONS_SINCE = dict.fromkeys(("and", "equals", "get_param", "not", "or"), "2016-10-14")
CONDITIONS_SINCE |= dict.fromkeys(("contains", "yaql"), "2017-09-01")


@pytest.mark.parametrize("version", DATES)
def test_each_version_has_its_functions(version):
    table = build_function_table(version)
    there = {name for name, since in SINCE.items() if since <= version}
    there |= {name for name, until in UNTIL.items() if version <= until}
    assert table.functions.keys() - table.removed == there
    assert table.removed == {name for name, until in UNTIL.items() if version > until}


@pytest.mark.parametrize("version", DATES[DATES.index("2016-10-14") :])
def test_each_version_has_its_functions_inside_conditions(version, parse):
    table = build_function_table(version)
    valid = {name for name, since in CONDITIONS_SINCE.items() if since <= version}
    assert valid <= table.conditions.keys()
    for name in table.conditions.keys() - valid:
        with pytest.raises(TemplateError, match=r"is invalid in this context|is not supported in"):
            parse({name: None}, version=version, in_condition=True)


@pytest.mark.parametrize(("name", "date"), NAMES.items())
def test_a_name_stands_for_its_date(name, date):
    assert build_function_table(name) is build_function_table(date)


def test_a_removed_function_is_refused(evaluate):
    with pytest.raises(TemplateError, match="The function Ref is not supported in this version"):
        evaluate({"Ref": "x"}, version="2014-10-16")


def test_a_removed_function_inside_a_condition_names_the_call_around_it(parse):
    with pytest.raises(TemplateError) as caught:
        parse(
            {"equals": [{"Fn::Join": ["", []]}, "a"]}, in_condition=True, root=("conditions", "c")
        )
    assert str(caught.value).startswith("equals: [0].Fn::Join: The template version is invalid")
    assert caught.value.at == ("conditions", "c", "equals", 0, "Fn::Join")


@pytest.mark.parametrize("name", ["Fn::GetAtt", "Fn::If", "Fn::FindInMap", "equals", "nonsense"])
@pytest.mark.parametrize("version", DATES)
def test_what_is_no_function_is_data(evaluate, name, version):
    assert evaluate({name: ["a", "b"]}, version=version) == {name: ["a", "b"]}


class Shout(Function):
    __slots__ = ()

    def resolve(self, scope):
        return str(self.args).upper()


class Plugin:
    @hookimpl
    def zonda_functions(self, version):
        return {"shout": Shout, "get_param": Shout} if version >= "2018-08-31" else {}


def test_plugins_add_functions_but_replace_none():
    plugins = gather_plugins(make_manager(Plugin(), discover=False))
    table = build_function_table("rocky", plugins)
    assert issubclass(table.functions["shout"], Shout)
    assert table.functions["get_param"] is build_function_table("rocky").functions["get_param"]
    build_function_table("rocky", plugins)
    assert [str(failure) for failure in plugins.failures] == [
        "A plug-in brings the function get_param, which is Heat's own: it is left out."
    ]
    assert "shout" not in build_function_table("2018-03-02", plugins).functions


def test_a_function_of_a_plugin_is_refused_inside_conditions():
    plugins = gather_plugins(make_manager(Plugin(), discover=False))
    with pytest.raises(TemplateError, match='The function "shout" is invalid in this context'):
        build_function_table("rocky", plugins).conditions["shout"](None, "shout", None, ())


@pytest.mark.parametrize("sources", ["text", [["a list"]], {1}, [None]], ids=repr)
def test_sources_of_another_kind_are_a_fault_when_the_call_is_parsed(sources):
    class Reader(Shout):
        __slots__ = ()

        def __init__(self, scope, name, args, path):
            self.name, self.path, self.args = name, path, args

        def sources(self):
            return sources

    class Readers:
        @hookimpl
        def zonda_functions(self, version):
            return {"reader": Reader}

    table = build_function_table("rocky", gather_plugins(make_manager(Readers(), discover=False)))
    with pytest.raises(TypeError, match="a Source is wanted"):  # located by the parser
        table.functions["reader"](None, "reader", [], ())


@pytest.mark.parametrize(
    "value", [object(), iter([1]), ValueError()], ids=["object", "iterator", "error"]
)
def test_a_function_of_a_plugin_that_gives_no_data_is_named(value):
    class Odd(Shout):
        __slots__ = ()

        def __init__(self, scope, name, args, path):
            self.name, self.path, self.args = name, path, args

        def sources(self):
            return ()

        def resolve(self, scope):
            return value

    class Functions:
        @hookimpl
        def zonda_functions(self, version):
            return {"odd": Odd}

    table = build_function_table("rocky", gather_plugins(make_manager(Functions(), discover=False)))
    call = table.functions["odd"](None, "odd", [], ())
    with pytest.raises(TypeError, match=f'"odd" gives a value of type {type(value).__name__}'):
        call.resolve(None)
