"""Capabilities and requirements: the candidates that are excluded, with their reasons."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from zonda.core.template.capabilities import requirements
from zonda.core.template.capabilities import section as capabilities
from zonda.core.template.capabilities.selection import TemplateSelector
from zonda.core.template.types.registry import Choice, Registry
from zonda.hooks.errors import TemplateError
from zonda.hooks.resources.resource import Resource


class Fast(Resource):
    capabilities: ClassVar[dict[str, Any]] = {"speed": "fast", "resource_type": ["My::T"]}


class Plain(Resource):
    pass


TYPES: dict[str, type[Resource]] = {"Acme::Fast": Fast, "Acme::Plain": Plain}


def registry(
    targets: Any, requires: dict[str, Any], templates: dict[str, str], **more: Any
) -> Registry:
    files = {
        name: f"heat_template_version: 2015-10-15\ncapabilities: {text}\n" if text else "x: y\n"
        for name, text in templates.items()
    }
    made = Registry(TYPES, candidates=TemplateSelector(files))
    errors: list[TemplateError] = []
    made.read({"My::T": targets, **more}, errors)
    assert errors == []
    made.candidates.required = requirements.parse_requirements(requires)
    return made


def chosen(choice: Choice) -> str:
    return choice.template_file or choice.meant


PUPPET = {"p.yaml": "{deployment: puppet}", "d.yaml": "{deployment: docker}"}
VERSIONS = {"one.yaml": "{v: 1.9}", "two.yaml": "{v: [2, '2.5']}", "three.yaml": "{v: '3.0.1'}"}


@pytest.mark.parametrize(
    ("requires", "templates", "found"),
    [
        pytest.param({"deployment": "puppet"}, PUPPET, "p.yaml", id="one-value"),
        pytest.param({"deployment": ["x", "docker"]}, PUPPET, "d.yaml", id="any-of-several"),
        pytest.param(
            {"deployment": "ansible"},
            {**PUPPET, "a.yaml": "{deployment: [salt, ansible]}"},
            "a.yaml",
            id="several-values-declared",
        ),
        pytest.param(
            {"deployment": "puppet", "colour": "red"}, PUPPET, "p.yaml", id="nobody-declares-it"
        ),
        pytest.param(
            {"deployment": "puppet"},
            {"p.yaml": "{deployment: puppet, extra: [1, 2], more: x}", "d.yaml": "{}"},
            "p.yaml",
            id="extra-tags-and-one-without",
        ),
        pytest.param({}, {"only.yaml": "{deployment: docker}"}, "only.yaml", id="list-of-one"),
        pytest.param({"size": "3"}, {"a.yaml": "{size: 3}", "b.yaml": "{size: 4}"}, "a.yaml"),
        pytest.param({"ha": "true"}, {"a.yaml": "{ha: yes}", "b.yaml": "{ha: no}"}, "a.yaml"),
        pytest.param(
            {}, {"a.yaml": "{resource_type: My::U}", "b.yaml": "{}"}, "b.yaml", id="other-type"
        ),
        pytest.param(
            {},
            {"a.yaml": "{resource_type: [My::U, My::V]}", "b.yaml": "{resource_type: [My::T]}"},
            "b.yaml",
            id="list-of-types",
        ),
        pytest.param({"v": ">=2,<3"}, VERSIONS, "two.yaml", id="range"),
        pytest.param({"v": "> 2.5"}, VERSIONS, "three.yaml", id="longer-version"),
        pytest.param({"v": ["<2", "7"]}, VERSIONS, "one.yaml", id="range-or-value"),
        pytest.param({"v": "==3.0.1"}, VERSIONS, "three.yaml", id="exactly"),
        pytest.param(
            {"v": "==2.0.0"}, {"a.yaml": "{v: 2}", "b.yaml": "{v: '2.0.1'}"}, "a.yaml", id="zeros"
        ),
    ],
)
def test_requirements_leave_one(
    requires: dict[str, Any], templates: dict[str, str], found: str
) -> None:
    made = registry(list(templates), requires, templates)

    choice = made.choose("My::T", "r")

    assert chosen(choice) == found
    assert [rule.name for rule in choice.rules] == ["My::T"]


@pytest.mark.parametrize(
    ("requires", "templates", "said", "table"),
    [
        pytest.param(
            {"deployment": "salt"},
            PUPPET,
            "None of the 2 candidates for My::T of resource r fits",
            [
                "candidate | deployment: salt | result",
                "----------+------------------+-------------",
                "p.yaml    | no: puppet       | does not fit",
                "d.yaml    | no: docker       | does not fit",
            ],
            id="none",
        ),
        pytest.param(
            {},
            PUPPET,
            "2 of the 2 candidates for My::T of resource r fit: p.yaml, d.yaml",
            ["candidate | result", "----------+-------", "p.yaml    | fits", "d.yaml    | fits"],
            id="several",
        ),
        pytest.param(
            {"deployment": "puppet", "v": ">=2"},
            {"a.yaml": "{deployment: puppet}", "b.yaml": "{v: latest, resource_type: My::U}"},
            "None of the 2",
            [
                "candidate | deployment: puppet | v: >=2                   | resource_type: My::T "
                "| result",
                "----------+--------------------+--------------------------+----------------------"
                "+-------------",
                "a.yaml    | yes                | no: not declared         | any                  "
                "| does not fit",
                "b.yaml    | no: not declared   | no: latest is no version | no: My::U            "
                "| does not fit",
            ],
            id="every-reason",
        ),
    ],
)
def test_anything_but_one_is_refused_with_a_table(
    requires: dict[str, Any], templates: dict[str, str], said: str, table: list[str]
) -> None:
    made = registry(list(templates), requires, templates)

    with pytest.raises(TemplateError) as caught:
        made.choose("My::T", "r")

    error = caught.value
    assert said in error.message
    assert error.code == "ZON150"
    assert error.at == ("resource_registry", "My::T")
    lines = [line.strip() for line in error.hint.split("\n")]
    assert [line for line in lines if line in table] == table


def test_what_tells_the_candidates_apart_is_hinted_at() -> None:
    with pytest.raises(TemplateError) as caught:
        registry(list(PUPPET), {}, PUPPET).choose("My::T", "r")

    assert caught.value.hint.startswith(
        "Say which one in an environment, e.g. requires: {deployment: puppet}."
    )


def test_a_requirement_that_nobody_declares_is_named_as_without_effect() -> None:
    with pytest.raises(TemplateError) as caught:
        registry(list(PUPPET), {"ha": 1}, PUPPET).choose("My::T", "r")

    assert "no candidate declares what ha: 1 asks for" in caught.value.hint


def test_files_that_are_not_there_and_names_of_nothing_are_never_chosen() -> None:
    made = registry(["gone.yaml", "No::Such", "p.yaml"], {}, {"p.yaml": "{}"})

    choice = made.choose("My::T", "r")

    assert chosen(choice) == "p.yaml"
    (selection,) = choice.selections
    results = [verdict.result for verdict in selection.verdicts]
    assert results == ["there is no file gone.yaml", "leads to no type", "fits"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("capabilities: {v: {}}", "malformed (bad.yaml:1:16: the capability v", id="v"),
        pytest.param("a: [", "cannot be read: Error parsing template bad.yaml", id="text"),
        pytest.param("- a", "is no template", id="list"),
    ],
)
def test_a_candidate_that_is_malformed_is_never_chosen(text: str, said: str) -> None:
    made = Registry(TYPES, candidates=TemplateSelector({"bad.yaml": text}))
    made.read({"My::T": ["bad.yaml", "Acme::Plain"]}, [])

    choice = made.choose("My::T", "r")

    assert choice.cls is Plain
    assert said in choice.selections[0].verdicts[0].result


def test_a_single_value_is_never_filtered() -> None:
    made = registry("p.yaml", {"deployment": "docker"}, PUPPET)

    assert chosen(made.choose("My::T", "r")) == "p.yaml"


@pytest.mark.parametrize(
    ("requires", "found"),
    [({"speed": "fast"}, "Acme::Fast"), ({"speed": "slow"}, "slow.yaml")],
    ids=["type", "template"],
)
def test_lists_mix_templates_and_types_of_plug_ins(requires: dict[str, Any], found: str) -> None:
    templates = {"slow.yaml": "{speed: slow}"}

    made = registry(["Acme::Fast", "slow.yaml"], requires, templates)

    assert chosen(made.choose("My::T", "r")) == found


def test_a_candidate_may_be_an_alias_and_the_type_itself() -> None:
    lists: dict[str, Any] = {"Acme::Plain": ["My::Alias", "Acme::Plain"], "My::Alias": "p.yaml"}
    made = registry(None, {"deployment": "puppet"}, PUPPET, **lists)

    choice = made.choose("Acme::Plain", "r")

    assert chosen(choice) == "p.yaml"
    assert [rule.name for rule in choice.rules] == ["Acme::Plain", "My::Alias"]


@pytest.mark.parametrize("name", ["My::Alias", "My::T"])
def test_resource_type_is_the_type_or_the_alias_that_led_to_the_list(name: str) -> None:
    templates = {"a.yaml": f"{{resource_type: {name}}}", "b.yaml": "{resource_type: My::U}"}
    made = registry(list(templates), {}, templates, **{"My::Alias": "My::T"})

    assert chosen(made.choose("My::Alias", "r")) == "a.yaml"


def test_two_names_of_one_thing_are_one() -> None:
    made = registry(["p.yaml", "My::P"], {}, PUPPET, **{"My::P": "p.yaml"})

    assert chosen(made.choose("My::T", "r")) == "p.yaml"


def test_a_pattern_may_have_a_list_and_the_type_decides() -> None:
    templates = {"a.yaml": "{resource_type: My::A}", "b.yaml": "{resource_type: My::B}"}
    made = registry(None, {}, templates, **{"My::*": list(templates)})

    assert [chosen(made.choose(name, "r")) for name in ("My::A", "My::B")] == ["a.yaml", "b.yaml"]


def test_a_list_of_its_own_for_one_resource() -> None:
    own = {"resources": {"r": {"My::T": list(PUPPET)}}}
    made = registry("Acme::Plain", {"deployment": "docker"}, PUPPET, **own)

    assert chosen(made.choose("My::T", "r")) == "d.yaml"
    assert chosen(made.choose("My::T", "s")) == "Acme::Plain"


def test_inside_a_template_the_rule_that_chose_it_does_not_apply() -> None:
    made = registry(list(PUPPET), {"deployment": "docker"}, PUPPET, **{"Acme::Plain": "d.yaml"})
    assert made.choose("Acme::Plain", "r").rules[-1].name == "Acme::Plain"

    inner = made.derive_nested(("r",), ("Acme::Plain",))

    assert chosen(inner.choose("Acme::Plain", "r")) == "Acme::Plain"
    assert chosen(inner.choose("My::T", "r")) == "d.yaml"
    assert chosen(made.choose("Acme::Plain", "r")) == "d.yaml"


def test_inside_a_resource_the_entries_below_its_name_apply() -> None:
    levels = {"outer": {"inner": {"My::T": "Acme::Fast", "hooks": "pre-create"}}}
    made = registry("Acme::Plain", {}, {}, resources=levels)

    inner = made.derive_nested(("outer",), ())

    assert chosen(inner.choose("My::T", "inner")) == "Acme::Fast"
    assert inner.breakpoints == {"inner": ("pre-create",)}
    assert chosen(made.derive_nested(("x",), ()).choose("My::T", "inner")) == "Acme::Plain"


@pytest.mark.parametrize(
    ("section", "at"),
    [
        pytest.param([], ("capabilities",), id="list"),
        pytest.param("text", ("capabilities",), id="text"),
        pytest.param({5: "x"}, ("capabilities", 5), id="key"),
        pytest.param({"a": None}, ("capabilities", "a"), id="null"),
        pytest.param({"a": {"b": "c"}}, ("capabilities", "a"), id="map"),
        pytest.param({"a": ["x", ["y"]]}, ("capabilities", "a", 1), id="list-in-list"),
        pytest.param({"resource_type": 5}, ("capabilities", "resource_type"), id="type-number"),
        pytest.param({"resource_type": ["A", True]}, ("capabilities", "resource_type", 1)),
    ],
)
def test_malformed_capabilities(section: Any, at: tuple[Any, ...]) -> None:
    assert [fault.at for fault in capabilities.find_faults(section)] == [at]


@pytest.mark.parametrize("version", ["2013-05-23", "2018-08-31", "2021-04-16"])
def test_a_malformed_section_is_told_with_its_place(faults: Any, version: str) -> None:
    (fault,) = faults("capabilities:\n  a: b\n  c: {d: e}\n", version=version)

    assert (fault.code, str(fault.place)) == ("ZON148", "t.yaml:4:3")


@pytest.mark.parametrize(
    ("section", "at"),
    [
        pytest.param({5: "x"}, ("requires", 5), id="key"),
        pytest.param({"a": {}}, ("requires", "a"), id="map"),
        pytest.param({"a": []}, ("requires", "a"), id="empty"),
        pytest.param({"a": ["x", None]}, ("requires", "a", 1), id="null-in-list"),
        pytest.param({"v": ">=two"}, ("requires", "v"), id="no-version"),
        pytest.param({"v": ">=2,3"}, ("requires", "v"), id="no-sign"),
        pytest.param({"v": ">=2,"}, ("requires", "v"), id="nothing-behind-a-comma"),
        pytest.param({"v": [">1", "<" + ",<1" * 99]}, ("requires", "v", 1), id="too-many"),
    ],
)
def test_malformed_requirements(section: Any, at: tuple[Any, ...]) -> None:
    assert [fault.at for fault in requirements.find_faults(section)] == [at]


def test_a_malformed_requirement_is_told_with_its_place(faults: Any) -> None:
    (fault,) = faults("", environment="parameters: {}\nrequires:\n  a: x\n  v: '>= x'\n")

    assert (fault.code, fault.stage) == ("ZON149", "environment")
    assert str(fault.place) == "environment:4:3"


def test_the_later_environment_wins_for_each_key(loaded: Any) -> None:
    files = (
        ("a", "requires: {deployment: puppet, v: '1'}"),
        ("b", "requires: {deployment: docker, v: null}"),
    )

    definition = loaded("resources: {}", environment_files=files)

    assert definition.environment.requires == {"deployment": "docker", "v": "1"}


def test_a_list_that_is_no_list_of_names_is_told_item_by_item(faults: Any) -> None:
    found = faults("", environment="resource_registry:\n  My::T:\n  - a.yaml\n  - 5\n  - ''\n")

    assert [str(fault.place) for fault in found] == ["environment:4:5", "environment:5:5"]


def test_a_choice_that_fails_points_to_the_environment_and_to_the_declarations(
    faults: Any,
) -> None:
    text = "heat_template_version: rocky\ncapabilities:\n  deployment: puppet\n"
    (fault,) = faults(
        "resources:\n  r: {type: 'My::T'}\n",
        environment="requires: {deployment: salt}\nresource_registry:\n  My::T: [p.yaml]\n",
        files={"p.yaml": text},
    )

    assert str(fault.place) == "environment:3:3"
    assert [(str(each.place), each.message) for each in fault.related] == [
        ("t.yaml:3:7", "r has the type My::T"),
        ("environment:1:12", "deployment is required here"),
        ("p.yaml:3:3", "p.yaml declares puppet"),
    ]
