"""What was sent against what was observed: nothing is taken for the same that is not."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.resources.live_state import Partial, compare_live_state
from zonda.hooks.schema.properties import Properties, Schema

PORT = Schema(
    Schema.MAP,
    schema={
        "number": Schema(Schema.INTEGER),
        "open": Schema(Schema.BOOLEAN, default=True),
        "note": Schema(Schema.STRING),
    },
)


def differs(schema: Schema, sent: Any, live: Any) -> bool:
    return compare_live_state(Properties({"p": schema}, {"p": sent}), {"p": live}).differing == (
        "p",
    )


@pytest.mark.parametrize(
    ("kind", "sent", "live"),
    [
        (Schema.INTEGER, 10, 10.4),
        (Schema.INTEGER, 10, "1_0"),
        (Schema.INTEGER, 10, " 10"),
        (Schema.INTEGER, 10, "10\n"),
        (Schema.INTEGER, 10, "010"),
        (Schema.INTEGER, 10, "+10"),
        (Schema.INTEGER, 10, "10.4"),
        (Schema.INTEGER, 10, "\u0661\u0660"),
        (Schema.INTEGER, 10, "9" * 5000),
        (Schema.INTEGER, 10, None),
        (Schema.INTEGER, 1, True),
        (Schema.INTEGER, 0, False),
        (Schema.INTEGER, 0, ""),
        (Schema.INTEGER, 0, None),
        (Schema.NUMBER, 1.5, "1_.5"),
        (Schema.NUMBER, 1.5, " 1.5"),
        (Schema.NUMBER, 1.5, 1.50001),
        (Schema.NUMBER, 1, True),
        (Schema.NUMBER, 1, "Infinity"),
        (Schema.BOOLEAN, True, 1),
        (Schema.BOOLEAN, True, "1"),
        (Schema.BOOLEAN, True, "yes"),
        (Schema.BOOLEAN, False, 0),
        (Schema.BOOLEAN, False, ""),
        (Schema.BOOLEAN, False, None),
        (Schema.STRING, "1", True),
        (Schema.STRING, "True", True),
        (Schema.STRING, "10", 10.0),
        (Schema.STRING, "a", "a "),
        (Schema.STRING, "", None),
        (Schema.MAP, {"a": 1}, {"a": True}),
        (Schema.MAP, {"a": 1}, {"a": "1"}),
        (Schema.MAP, {"a": 1}, {}),
        (Schema.MAP, {"a": None}, {}),
        (Schema.MAP, {}, {"a": 1}),
        (Schema.LIST, [1, 2], [1]),
        (Schema.LIST, [1], [True]),
        (Schema.LIST, [1, 2], [2, 1]),
        (Schema.ANY, 1, True),
        (Schema.ANY, 1, "1"),
    ],
)
def test_what_is_another_value_differs(kind: str, sent: Any, live: Any) -> None:
    assert differs(Schema(kind), sent, live)


class EqualText(str):
    """A text that calls itself equal to any other."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class EqualNumber(int):
    """A number that calls itself equal to any other."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "sent", "live"),
    [
        (Schema.STRING, "q", EqualText("other")),
        (Schema.INTEGER, 5, EqualNumber(7)),
        (Schema.LIST, ["q"], [EqualText("other")]),
        (Schema.MAP, {"a": {"b": 1}}, {"a": {"b": EqualNumber(2)}}),
    ],
)
def test_a_value_with_an_equality_of_its_own_is_compared_by_what_it_holds(
    kind: str, sent: Any, live: Any
) -> None:
    assert differs(Schema(kind), sent, live)


@pytest.mark.parametrize(
    ("kind", "sent", "live"),
    [
        (Schema.INTEGER, 10, 10.0),
        (Schema.INTEGER, 10, "10"),
        (Schema.INTEGER, "10", 10),
        (Schema.NUMBER, 1.5, "1.5"),
        (Schema.NUMBER, 2, "2.0"),
        (Schema.BOOLEAN, True, "true"),
        (Schema.BOOLEAN, False, "False"),
        (Schema.STRING, "10", 10),
        (Schema.MAP, {"a": {"b": 1}}, {"a": {"b": 1.0}}),
        (Schema.LIST, [1, "a"], [1, "a"]),
    ],
)
def test_what_means_the_same_does_not_differ(kind: str, sent: Any, live: Any) -> None:
    assert not differs(Schema(kind), sent, live)


def test_a_default_was_sent() -> None:
    props = Properties({"ttl": Schema(Schema.INTEGER, default=300), "x": Schema("String")}, {})
    assert compare_live_state(props, {"ttl": 300, "x": "of somebody"}).differing == ()
    found = compare_live_state(props, {"ttl": 5})
    assert (found.differing, found.sent, found.live) == (("ttl",), {"ttl": 300}, {"ttl": 5})
    assert compare_live_state(props, {}).is_blind


def test_a_default_inside_a_property_was_sent() -> None:
    props = Properties({"port": PORT}, {"port": {"number": 80}})
    assert compare_live_state(props, {"port": {"number": 80, "open": True}}).differing == ()
    found = compare_live_state(props, {"port": {"number": 80, "open": False}})
    assert found.differing == ("port",)
    assert found.live == {"port": {"number": 80, "open": False}}


def test_what_is_left_out_inside_a_property_was_not_observed() -> None:
    schemata = {"ports": Schema(Schema.LIST, schema=PORT), "name": Schema(Schema.STRING)}
    given = {"ports": [{"number": 80}, {"number": 81}], "name": "a"}
    props = Properties(schemata, given)
    found = compare_live_state(props, {"ports": [{"number": "80"}, {"open": True, "number": 81}]})
    assert (found.differing, found.is_blind) == ((), False)
    assert found.unobserved == (("name",), ("ports", 0, "open"))


@pytest.mark.parametrize(
    "live",
    [
        {},
        {"port": {}},
        {"port": {"unknown": 1}},
        {"ports": [{}]},
        {"free": Partial()},
        {"nothing": 1},
    ],
)
def test_nothing_observed_is_nothing_at_any_depth(live: dict[str, Any]) -> None:
    schemata = {"port": PORT, "ports": Schema("List", schema=PORT), "free": Schema("Map")}
    given = {"port": {"number": 80}, "ports": [{"number": 80}], "free": {"a": 1}}
    found = compare_live_state(Properties(schemata, given), live)
    assert (found.differing, found.is_blind) == ((), True)
    assert found.unobserved == (("free",), ("port",), ("ports",))


def test_of_a_map_that_was_observed_in_part_the_rest_is_not_known() -> None:
    props = Properties({"input": Schema("Map")}, {"input": {"size": 10, "name": "a"}})
    found = compare_live_state(props, {"input": Partial({"size": 10})})
    assert (found.differing, found.unobserved) == ((), (("input", "name"),))
    found = compare_live_state(props, {"input": Partial({"size": 9, "more": 1})})
    assert found.live == {"input": {"size": 9, "name": "a", "more": 1}}


def test_a_property_inside_that_nobody_gave_differs_where_it_is_set() -> None:
    props = Properties({"port": PORT}, {"port": {"number": 80}})
    assert (
        compare_live_state(props, {"port": {"number": 80, "open": True, "note": None}}).differing
        == ()
    )
    assert compare_live_state(props, {"port": {"number": 80, "open": True, "note": "x"}}).differing


def test_an_observation_is_compared_without_being_converted() -> None:
    schemata = {"size": Schema(Schema.INTEGER, update_allowed=True)}
    wanted, there = Properties(schemata, {"size": 10}), Properties(schemata, {"size": 10.4})
    assert wanted.diff(there) == []
    assert wanted.changes(there, observed=["size"]) == {"size": 10}
    assert wanted.diff(Properties(schemata, {"size": 10}), observed=["size"]) == []
