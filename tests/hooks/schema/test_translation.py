"""Translation rules: old property forms become new ones."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.errors import NotFound, TemplateError
from zonda.hooks.schema.translation import TranslationRule, translate

RULE = TranslationRule


class Names:
    """A client plug-in that finds ids by name."""

    def find(self, name: str) -> str:
        if name == "missing":
            raise NotFound("network", name)
        return f"id-of-{name}"

    def find_by(self, entity: str, name: str) -> str:
        return f"{entity}:{name}"


def rule(kind: str, path: list[str], **how: Any) -> TranslationRule:
    return TranslationRule(None, kind, path, **how)


def resolve(path: list[str], **how: Any) -> TranslationRule:
    return rule(RULE.RESOLVE, path, **{"client_plugin": Names(), "finder": "find", **how})


@pytest.mark.parametrize(
    ("rules", "given", "result"),
    [
        pytest.param(
            [rule(RULE.ADD, ["l"], value=[3])], {"l": [1]}, {"l": [1, 3]}, id="add-to-a-list"
        ),
        pytest.param([rule(RULE.ADD, ["l"], value=[3])], {}, {"l": [3]}, id="add-to-nothing"),
        pytest.param(
            [rule(RULE.REPLACE, ["a"], value=1)], {"a": 5}, {"a": 1}, id="replace-by-a-value"
        ),
        pytest.param(
            [rule(RULE.REPLACE, ["n", "new"], value_name="old")],
            {"n": [{"old": 1}, {"new": 2}, {}]},
            {"n": [{"new": 1}, {"new": 2}, {}]},
            id="replace-by-a-neighbour-in-every-item",
        ),
        pytest.param(
            [rule(RULE.REPLACE, ["m", "new"], value_path=["x", "old"])],
            {"m": {}, "x": {"old": 1, "rest": 2}},
            {"m": {"new": 1}, "x": {"rest": 2}},
            id="replace-by-a-path",
        ),
        pytest.param(
            [rule(RULE.REPLACE, ["new"], value_path=["old"])],
            {"new": 1},
            {"new": 1},
            id="replace-by-nothing",
        ),
        pytest.param(
            [rule(RULE.DELETE, ["n", "a"])],
            {"n": [{"a": 1, "b": 2}, {"b": 3}]},
            {"n": [{"b": 2}, {"b": 3}]},
            id="delete",
        ),
        pytest.param([resolve(["net"])], {"net": "a"}, {"net": "id-of-a"}, id="resolve"),
        pytest.param(
            [resolve(["nets"])],
            {"nets": ["a", "", None]},
            {"nets": ["id-of-a", "", None]},
            id="resolve-a-list",
        ),
        pytest.param(
            [resolve(["ports", "net"])],
            {"ports": [{"net": "a"}, {"net": None}, {}]},
            {"ports": [{"net": "id-of-a"}, {"net": None}, {}]},
            id="resolve-in-items",
        ),
        pytest.param(
            [resolve(["net"], finder="find_by", entity="network")],
            {"net": "a"},
            {"net": "network:a"},
            id="resolve-with-entity",
        ),
        pytest.param(
            [resolve(["net"], custom_value_path=["inner", "name"])],
            {"net": {"inner": {"name": "a"}}},
            {"net": {"inner": {"name": "id-of-a"}}},
            id="resolve-inside-a-value",
        ),
        pytest.param([resolve(["net"])], {}, {}, id="resolve-nothing"),
        pytest.param(
            [
                rule(RULE.REPLACE, ["new"], value_path=["old"]),
                resolve(["new"]),
            ],
            {"old": "a"},
            {"new": "id-of-a"},
            id="one-after-the-other",
        ),
    ],
)
def test_rules(rules: list[TranslationRule], given: dict[str, Any], result: dict[str, Any]) -> None:
    assert translate(given, rules)[0] == result


def test_the_given_data_is_left_alone() -> None:
    given = {"l": [1], "n": [{"a": 1}]}
    translate(given, [rule(RULE.ADD, ["l"], value=[2]), rule(RULE.DELETE, ["n", "a"])])
    assert given == {"l": [1], "n": [{"a": 1}]}


def test_nothing_is_resolved_where_values_are_still_to_come() -> None:
    assert translate({"net": "a"}, [resolve(["net"])], {"net"})[0] == {"net": "a"}


@pytest.mark.parametrize("source", [{"value_path": ["old"]}, {"value_name": "old"}])
def test_nothing_is_resolved_where_a_value_that_is_still_to_come_moves_to(source: Any) -> None:
    rules = [rule(RULE.REPLACE, ["net"], **source), resolve(["net"])]
    assert translate({"old": "a"}, rules, {"old"}) == ({"net": "a"}, {"net"})


def test_a_value_that_is_not_known_yet_moves_like_any_other() -> None:
    rules = [rule(RULE.REPLACE, ["new"], value_path=["old"]), rule(RULE.ADD, ["l"], value=[1])]
    made, unknown = translate({"old": None, "l": None, "x": 1}, rules, {"old", "l", "x"})
    assert made == {"new": None, "l": None, "x": 1}
    assert unknown == {"new", "l", "x"}


@pytest.mark.parametrize(
    ("rules", "given", "message"),
    [
        pytest.param(
            [rule(RULE.REPLACE, ["new"], value_name="old")],
            {"new": 1, "old": 2},
            "Property error: new: Cannot use new and old at the same time.",
            id="both-given",
        ),
        pytest.param(
            [rule(RULE.ADD, ["l"], value=[1])],
            {"l": "text"},
            "Property error: l: Only a list can be added to",
            id="add-to-text",
        ),
        pytest.param(
            [resolve(["net"])],
            {"net": "missing"},
            "Property error: net: The network (missing) could not be found.",
            id="not-found",
        ),
    ],
)
def test_a_rule_that_cannot_be_applied(
    rules: list[TranslationRule], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(TemplateError) as caught:
        translate(given, rules)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: rule("Rename", ["a"]), id="unknown-kind"),
        pytest.param(lambda: rule(RULE.DELETE, []), id="no-path"),
        pytest.param(lambda: rule(RULE.ADD, ["a"], value=1), id="add-no-list"),
        pytest.param(lambda: rule(RULE.REPLACE, ["a"], value=1, value_name="b"), id="two-sources"),
        pytest.param(lambda: rule(RULE.RESOLVE, ["a"], finder="find"), id="no-client"),
    ],
)
def test_a_malformed_rule_shows_when_it_is_made(make: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()
