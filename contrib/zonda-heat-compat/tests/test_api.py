"""The modules by Heat's names, one by one, as plug-ins and their unit tests use them."""

from __future__ import annotations

import copy
import datetime
import json
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda.hooks import PluginError
from zonda.hooks.testing import FakeContext, Lifecycle

from heat.common import (
    environment_format,
    exception,
    identifier,
    netutils,
    password_gen,
    short_id,
    template_format,
)
from heat.common import timeutils as heat_timeutils
from heat.engine import (
    attributes,
    clients,
    constraints,
    function,
    output,
    properties,
    resource,
    rsrc_defn,
    scheduler,
    template,
)
from heat.engine.clients import client_plugin
from heat.engine.hot import parameters
from heat.openstack.common import jsonutils, strutils, timeutils, uuidutils
from zonda_heat_compat.adapter import adapted
from zonda_heat_compat.tokens import CannotBeStored, pack, unpack

S = properties.Schema

# -- properties ---------------------------------------------------------------------------------

SCHEMA = {
    "text": S(S.STRING),
    "number": S(S.NUMBER, default=3),
    "list": S(S.LIST),
    "flag": S(S.BOOLEAN),
    "map": S(S.MAP, schema={"a": S(S.STRING), "b": S(S.INTEGER, default=1)}),
    "items": S(S.LIST, schema=S(S.MAP, schema={"x": S(S.STRING)})),
    "old": {"Type": "Integer", "MinValue": 2, "UpdateAllowed": True},
}


def test_what_nobody_gave_is_none() -> None:
    props = properties.Properties(SCHEMA, {})
    assert dict(props) == {
        "text": None,
        "number": 3,
        "list": None,
        "flag": None,
        "map": None,
        "items": None,
        "old": None,
    }
    assert props.get("nothing", "x") == "x"
    assert (len(props), "text" in props, props.data) == (7, True, {})


def test_what_is_inside_a_map_is_none_where_it_is_not_given() -> None:
    props = properties.Properties(SCHEMA, {"map": {"b": "7"}, "items": [{}, {"x": 1}]})
    assert props["map"] == {"a": None, "b": 7}
    assert props["items"] == [{"x": None}, {"x": "1"}]


def test_bad_values_are_value_errors_and_unknown_names_key_errors() -> None:
    props = properties.Properties(SCHEMA, {"number": "x"})
    with pytest.raises(ValueError, match="could not convert"):
        props["number"]
    with pytest.raises(KeyError, match="Invalid Property nothing"):
        props["nothing"]


def test_validation_raises_in_the_words_of_heat() -> None:
    props = properties.Properties(SCHEMA, {"old": 1}, parent_name="thing", section="Properties")
    with pytest.raises(exception.StackValidationFailed) as caught:
        props.validate()
    assert str(caught.value) == (
        "Property error: thing.Properties.old: 1 is out of range (min: 2, max: None)"
    )
    assert caught.value.path == ["thing", "Properties", "old"]


def test_a_property_may_be_declared_anew() -> None:
    props = properties.Properties({"v": S(S.ANY)}, {"v": "5"})
    assert props["v"] == "5"
    props.props["v"] = properties.Property(S(S.INTEGER), "v")
    assert props["v"] == 5


def test_a_property_tells_of_its_schema() -> None:
    each = properties.Properties(SCHEMA, {}).props["old"]
    assert (each.type(), each.update_allowed(), each.required()) == ("Integer", True, False)
    assert each.get_value("4") == 4
    with pytest.raises(exception.StackValidationFailed):
        each.get_value(1, validate=True)


@pytest.mark.parametrize(
    ("legacy", "expected"),
    [
        pytest.param({"Type": "String"}, {"type": "string", "required": False}, id="plain"),
        pytest.param(
            {"Type": "String", "Required": True, "AllowedValues": ["a"]},
            {"required": True, "constraints": [{"allowed_values": ["a"]}]},
            id="values",
        ),
        pytest.param(
            {"Type": "Number", "MinValue": "1", "MaxValue": 5, "Default": 2},
            {"default": 2, "constraints": [{"range": {"min": 1, "max": 5}}]},
            id="range",
        ),
        pytest.param(
            {"Type": "String", "MinLength": 1, "AllowedPattern": "a+"},
            {"constraints": [{"length": {"min": 1}}, {"allowed_pattern": "a+"}]},
            id="two",
        ),
        pytest.param(
            {"Type": "List", "Schema": {"Type": "Map", "Schema": {"Type": {"Type": "Integer"}}}},
            {"type": "list"},
            id="a-property-called-Type",
        ),
    ],
)
def test_schemas_of_2013(legacy: Any, expected: dict[str, Any]) -> None:
    schema = S.from_legacy(legacy)
    assert {key: schema[key] for key in expected} == expected


def test_a_schema_reads_as_a_map() -> None:
    schema = S(S.STRING, "Text.", required=True, update_allowed=True)
    assert dict(schema)["update_allowed"] is True
    assert schema[S.DESCRIPTION] == "Text."
    assert S.REQUIRED in schema


def test_mistakes_that_heat_does_not_see_are_none_here() -> None:
    schema = S(S.LIST, constraints=constraints.AllowedPattern("a"), schema={"x": S(S.STRING)})
    assert schema.items is not None
    with pytest.raises(exception.InvalidSchemaError):
        schema.validate()


def test_unknown_types_and_keys_are_mistakes() -> None:
    with pytest.raises(exception.InvalidSchemaError, match="Invalid type"):
        S("Sting")
    with pytest.raises(exception.InvalidSchemaError, match="'Sort'"):
        S.from_legacy({"Type": "String", "Sort": 1})


# -- the rest -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(exception.Error("bad"), "bad", id="text"),
        pytest.param(
            exception.EntityNotFound(entity="Disk", name="d"),
            "The Disk (d) could not be found.",
            id="keywords",
        ),
        pytest.param(
            exception.EntityNotFound(entity="Disk"),
            "The Disk (%(name)s) could not be found.",
            id="keyword-missing",
        ),
        pytest.param(exception.NotFound("no %(x)s", x=1), "no 1", id="own-format"),
        pytest.param(
            exception.StackValidationFailed(error="E", path=["a", 0, "b"], message="m"),
            "E: a[0].b: m",
            id="path",
        ),
        pytest.param(exception.StackValidationFailed("only"), "only", id="error-only"),
        pytest.param(
            exception.ResourceInError(resource_status="ERROR"),
            'Went to status ERROR due to "Unknown"',
            id="status",
        ),
        pytest.param(exception.NotSupported(feature="x"), "x is not supported.", id="feature"),
        pytest.param(
            exception.UpdateReplace("r"), "The Resource r requires replacement.", id="replace"
        ),
    ],
)
def test_exceptions_say_what_they_are_given(error: Exception, text: str) -> None:
    assert str(error) == text


def test_exceptions_of_plugins() -> None:
    class New(exception.HeatException):
        msg_fmt = "new %(x)s"

    class Old(exception.OpenstackException):
        message = "old %(x)s"

    assert (str(New(x=1)), str(Old(x=2)), New(x=1).message) == ("new 1", "old 2", "new 1")


def test_a_failure_wraps_what_failed() -> None:
    class Thing:
        name, action = "r", "CREATE"

    failure = exception.ResourceFailure(ValueError("no"), Thing(), "UPDATE")
    assert str(failure) == "ValueError: resources.r: no"
    assert failure.action == "UPDATE"


@pytest.mark.parametrize(
    "token",
    [
        pytest.param(None, id="null"),
        pytest.param((1, "a", None), id="tuple"),
        pytest.param([{"a": (1,)}, {1: {2, 3}}], id="nested"),
        pytest.param((datetime.datetime(2024, 2, 29, 1, 2, 3, 4), 5.5), id="time"),
        pytest.param(datetime.timedelta(seconds=90), id="span"),
        pytest.param(b"\x00\xff", id="bytes"),
        pytest.param({"__heat__": "tuple", "value": [1]}, id="looks-like-ours"),
    ],
)
def test_tokens_come_back_as_they_were(token: Any) -> None:
    stored = json.loads(json.dumps(pack(token)))
    assert unpack(stored) == token
    assert type(unpack(stored)) is type(token)


def test_tokens_of_other_kinds_stay_in_memory() -> None:
    with pytest.raises(CannotBeStored):
        pack({"task": scheduler.TaskRunner(print)})


class Slow(resource.Resource):
    """Its token is a list that the check changes."""

    def handle_create(self) -> Any:
        return ["a"], datetime.date(2024, 1, 1)

    def check_create_complete(self, token: Any) -> bool:
        token[0].append("b")
        self.data_set("seen", len(token[0]))
        return len(token[0]) > 3


def test_a_token_survives_that_the_instance_is_made_anew_for_every_call() -> None:
    life = Lifecycle(adapted(Slow), context=FakeContext())
    life.create()
    assert (life.polls, life.saved.data) == (3, {"seen": "4"})


class Kept(resource.Resource):
    """Adopts, takes snapshots, goes back to them."""

    properties_schema = {"size": S(S.INTEGER, update_allowed=True)}  # noqa: RUF012

    def handle_snapshot(self) -> Any:
        self.data_set("backup", "b-1")
        return ("token",)

    def check_snapshot_complete(self, token: Any) -> bool:
        return bool(token == ("token",))

    def handle_delete_snapshot(self, snapshot: Any) -> None:
        self.data_set("forgotten", snapshot["resource_data"]["backup"])

    def handle_restore(self, defn: Any, restore_data: Any) -> Any:
        props = {**defn.properties(self.properties_schema), "size": 3}
        return defn.freeze(properties=props)


def test_things_are_adopted_kept_and_restored() -> None:
    life = Lifecycle(adapted(Kept), {"size": 1}, context=FakeContext())
    life.adopt({"resource_id": "there", "resource_data": {"k": "v"}, "metadata": {"m": 1}})
    assert (life.resource_id, life.saved.data, life.saved.metadata) == (
        *("there", {"k": "v"}),
        {"m": 1},
    )
    taken = life.snapshot()
    assert life.saved.data["backup"] == "b-1"
    life.delete_snapshot(taken)
    assert life.saved.data["forgotten"] == "b-1"
    restored: Any = life.instance()
    assert restored.handle_restore(life.definition, taken).properties == {"size": 3}


def test_a_thing_without_an_id_is_not_adopted() -> None:
    life = Lifecycle(adapted(Kept), {"size": 1}, context=FakeContext())
    with pytest.raises(exception.Error, match="Resource ID was not provided"):
        life.adopt({"resource_id": ""})


def test_schemas_can_be_copied() -> None:
    schema = copy.deepcopy(SCHEMA["map"])
    assert schema["type"] == "map"
    assert set(schema.fields) == {"a", "b"}


def test_tasks_run_step_by_step() -> None:
    done: list[int] = []

    def inner(count: int) -> Any:
        for number in range(count):
            done.append(number)
            yield

    @scheduler.wrappertask
    def outer() -> Any:
        yield inner(2)
        done.append(9)
        yield

    runner = scheduler.TaskRunner(outer)
    runner.start()
    assert done == [0]
    assert not runner.step()
    assert not runner.step()
    assert runner.step()
    assert (done, runner.done(), bool(runner)) == ([0, 1, 9], True, False)


def test_groups_of_tasks_end_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "ENABLE_SLEEP", False)
    done: list[str] = []

    def task(name: str, steps: int) -> Any:
        for _ in range(steps):
            yield
        done.append(name)

    group = scheduler.PollingTaskGroup.from_task_with_args(task, [("a", 3), ("b", 1)], [{}, {}])
    scheduler.TaskRunner(group)()
    assert done == ["b", "a"]


def test_a_task_can_be_cancelled() -> None:
    ended = []

    def task() -> Any:
        try:
            yield
            yield
        finally:
            ended.append(True)

    runner = scheduler.TaskRunner(task)
    runner.start()
    runner.cancel()
    assert (ended, runner.done()) == ([True], True)


class Plugin(client_plugin.ClientPlugin):
    def _create(self) -> Any:
        return object()

    def is_not_found(self, ex: BaseException) -> bool:
        return isinstance(ex, KeyError)


def test_what_is_not_there_is_ignored_in_both_forms() -> None:
    plugin = Plugin(None)
    with plugin.ignore_not_found:
        raise KeyError
    plugin.ignore_not_found(KeyError())
    with pytest.raises(TypeError), plugin.ignore_not_found:
        raise TypeError
    with pytest.raises(TypeError):
        plugin.ignore_not_found(TypeError())
    assert plugin.client() is plugin.client()


def test_clients_that_nobody_brings_say_so() -> None:
    from heat.common.context import RequestContext

    found = clients.Clients(RequestContext(FakeContext()))
    with pytest.raises(PluginError, match="nova"):
        found.client("nova")
    with pytest.raises(PluginError, match="nova"):
        found.nova()
    assert clients.novaclient is None


def test_definitions_are_read_by_method_and_by_key() -> None:
    before = rsrc_defn.ResourceDefinition("r", "T", {"a": 1}, {"m": 1}, deletion_policy="Retain")
    after = before.freeze(properties={"a": 2})
    assert before["Properties"] == before["properties"] == {"a": 1}
    assert before.get("DependsOn") is None
    assert (before.metadata(), before.deletion_policy()) == ({"m": 1}, "Retain")
    assert before.properties({"a": S(S.STRING)})["a"] == "1"
    diff = after - before
    assert (diff.properties_changed(), diff.metadata_changed()) == (True, False)
    assert "Properties" in diff
    assert before == before.freeze() != after
    assert not before - before.freeze()


def test_attributes_are_asked_for_as_their_schema_says() -> None:
    asked: list[str] = []
    schema = {
        "text": "A text.",
        "live": attributes.Schema("Live.", cache_mode=attributes.Schema.CACHE_NONE),
    }

    def resolve(name: str) -> str:
        asked.append(name)
        return name

    found = attributes.Attributes("r", schema, resolve)
    assert [found["text"], found["text"], found["live"], found["live"]] == [
        *("text", "text", "live", "live")
    ]
    assert asked == ["text", "live", "live"]
    with pytest.raises(KeyError):
        found["other"]


def test_constraints_of_heat() -> None:
    assert constraints.AllowedValues({"a": 1}.keys()).allowed == ("a",)
    schema = constraints.Schema("String", constraints=[constraints.Length(max=2)])
    with pytest.raises(exception.StackValidationFailed, match="out of range"):
        schema.validate_constraints("abc")
    assert parameters.HOTParamSchema.TYPES[0] == "string"
    known = parameters.HOTParamSchema.from_dict(
        "p", {"type": "number", "constraints": [{"range": {"min": 1}, "description": "low"}]}
    )
    with pytest.raises(exception.StackValidationFailed, match="low"):
        known.validate_constraints(0)


def test_templates_are_data() -> None:
    text = "heat_template_version: 2018-08-31\nresources: {a: {type: T, depends_on: b}}"
    found = template.Template(template_format.parse(text))
    assert found.version == ("heat_template_version", "2018-08-31")
    assert found.resource_definitions()["a"].required_resource_names() == {"b"}
    assert found.get_section_name("Properties") == "properties"
    found.remove_resource("a")
    found.add_output(output.OutputDefinition("o", 1, "One."))
    assert found["outputs"] == {"o": {"value": 1, "description": "One."}}
    with pytest.raises(ValueError, match="version not found"):
        template_format.parse("{}")
    with pytest.raises(ValueError, match="wrong section"):
        environment_format.parse("{nothing: 1}")


def test_small_things() -> None:
    class Five(function.Function):
        def result(self) -> Any:
            return 5

    assert function.resolve({"a": [Five(None, "five", None)]}) == {"a": [5]}
    assert len(short_id.generate_id()) == 12
    assert password_gen.generate_password(
        5, [password_gen.special_char_class("x", 2), password_gen.special_char_class("x", 1)]
    ) == ("xxxxx")
    assert heat_timeutils.parse_isoduration("PT1H2M3S") == 3723
    path = identifier.ResourceIdentifier("t", "s", 1, "", resource_name="r").url_path()
    assert path == "t/stacks/s/1/resources/r"
    assert netutils.is_prefix_subset(["10.0.1.0/24"], ["10.0.0.0/8"])
    assert not netutils.is_prefix_subset(["10.0.1.0/24"], ["fe80::/10", "10.0.2.0/24"])
    assert jsonutils.loads(jsonutils.dumps({"a": datetime.date(2024, 1, 2)})) == {"a": "2024-01-02"}
    assert strutils.bool_from_string("Yes")
    assert uuidutils.is_uuid_like(uuidutils.generate_uuid())
    assert timeutils.parse_isotime("2013-01-02T03:04:05Z").year == 2013
    name = resource.Resource.reduce_physical_resource_name("a" * 300 + "-tail", 40)
    assert len(name) <= 40
    assert name.endswith("-tail")


def test_a_fault_of_a_schema_names_its_property() -> None:
    declared = {"tags": {"Type": "Map", "Schema": {"colour": {"Type": "String", "Sort": 1}}}}
    with pytest.raises(exception.InvalidSchemaError, match=r"tags: colour: Unknown key.s. 'Sort'"):
        properties.schemata(declared)


def test_a_map_of_one_kind_is_a_map_of_anything() -> None:
    found = properties.schemata({"tags": {"Type": "Map", "Schema": {"Type": "String"}}})
    assert (found["tags"].type, found["tags"].schema) == ("Map", None)
