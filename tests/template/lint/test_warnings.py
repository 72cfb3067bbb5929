"""Warnings: code and place of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins
from zonda.core.template.lint import functions
from zonda.core.template.load import Bundle, Identity, load
from zonda.hooks import attributes, properties
from zonda.hooks.errors import TemplateWarning, ValidationErrors
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.support import DEPRECATED, HIDDEN, UNSUPPORTED, SupportStatus

_Schema = properties.Schema


class Old(Resource):
    """Everything about it is old."""

    support_status = SupportStatus(HIDDEN, "Use New.", "1.0")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "old": _Schema(_Schema.STRING, support_status=SupportStatus(DEPRECATED, "Use new.")),
        "nested": _Schema(
            _Schema.LIST,
            schema=_Schema(
                _Schema.MAP,
                schema={
                    "old": _Schema(_Schema.STRING, support_status=SupportStatus(UNSUPPORTED)),
                    "new": _Schema(_Schema.ANY),
                },
            ),
        ),
        "new": _Schema(_Schema.ANY),
        "free": _Schema(_Schema.MAP, known_keys=("type", "metadata")),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        "old": attributes.Schema(support_status=SupportStatus(DEPRECATED)),
        "new": attributes.Schema(),
    }


class New(Old):
    """The same under a name that is still good."""

    support_status = SupportStatus()


TYPES: dict[str, type[Resource]] = {"Old": Old, "New": New}


def warnings(text: str, version: str = "2018-08-31", **bundle: Any) -> list[TemplateWarning]:
    stack = load(
        Bundle(f"heat_template_version: {version}\n{text}", "t.yaml", **bundle),
        identity=Identity("5eb1", "stack", "pr0j"),
        plugins=Plugins(resource_types=TYPES),
        functions=build_function_table,
    )
    return stack.warnings


def shown(found: list[TemplateWarning]) -> list[tuple[str, str]]:
    return [(each.code, str(each.place)) for each in found]


USED = "outputs: {o: {value: {get_param: p}}}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"parameters: {{p: {{type: string, default: x}}}}\n{USED}", [], id="used"),
        pytest.param(
            "parameters:\n  p: {type: string, default: x}\n",
            [("ZON602", "t.yaml:3:3")],
            id="unused",
        ),
        pytest.param(
            "parameters:\n  p: {type: json, default: {a: 1}}\n"
            "outputs: {o: {value: {get_param: [p, a]}}}",
            [],
            id="used-with-a-path",
        ),
        pytest.param(
            "parameters:\n  p: {type: string, default: x}\n"
            "resources: {a: {type: New, properties: {new: {if: [false, {get_param: p}, 1]}}}}",
            [],
            id="used-in-a-branch-not-taken",
        ),
        pytest.param(
            "parameters:\n  p: {type: string, default: x}\n"
            "conditions: {c: {equals: [{get_param: p}, x]}}",
            [],
            id="used-in-a-condition",
        ),
        pytest.param(
            "parameters:\n  p: {type: string, default: q}\n  q: {type: string, default: x}\n"
            "outputs: {o: {value: {get_param: {get_param: p}}}}",
            [],
            id="a-name-that-is-made-may-be-any",
        ),
        pytest.param("resources:\n", [("ZON610", "t.yaml:2:1")], id="empty-section"),
        pytest.param("outputs: {}\n", [("ZON610", "t.yaml:2:1")], id="empty-map"),
        pytest.param("description:\n", [], id="an-empty-description-says-nothing"),
        pytest.param(
            "outputs: {o: {value: 1, descripton: x}}", [("ZON611", "t.yaml:2:25")], id="ignored-key"
        ),
        pytest.param(
            "resources: {a: {type: New, properties: {free: {type: x, depends_on: y}}}}",
            [("ZON611", "t.yaml:2:57")],
            id="ignored-key-in-a-property",
        ),
        pytest.param(
            "resources:\n  a:\n    type: Old\n", [("ZON605", "t.yaml:4:5")], id="old-type"
        ),
        pytest.param(
            "resources: {a: {type: New, properties: {old: x}}}",
            [("ZON606", "t.yaml:2:41")],
            id="old-property",
        ),
        pytest.param(
            "resources: {a: {type: New, properties: {nested: [{new: 1}, {old: x}]}}}",
            [("ZON606", "t.yaml:2:61")],
            id="old-nested-property",
        ),
        pytest.param(
            "resources: {a: {type: New}, b: {type: New, properties: {new: {get_attr: [a, old]}}}}",
            [("ZON607", "t.yaml:2:63")],
            id="old-attribute",
        ),
        pytest.param(
            "resources: {a: {type: New}}\noutputs: {o: {value: {get_attr: [a, new]}}}",
            [],
            id="good-attribute",
        ),
    ],
)
def test_warnings(text: str, expected: list[tuple[str, str]]) -> None:
    assert shown(warnings(text)) == expected


@pytest.mark.parametrize(
    ("call", "version", "code", "said"),
    [
        pytest.param("{str_split: [',', a]}", "2014-10-16", "ZON608", "2015-10-15", id="later"),
        pytest.param(
            "{repeat: {for_each: {a: [b]}, template: a}}", "2014-10-16", "ZON608", "2015-04-30",
            id="an-everyday-word-in-the-form-of-a-call",
        ),
        pytest.param("{repeat: 3}", "2014-10-16", None, "", id="an-everyday-word"),
        pytest.param("{if: always}", "2015-10-15", None, "", id="if-of-another-kind"),
        pytest.param("{str_split: [',', a]}", "2018-08-31", None, "", id="a-call"),
        pytest.param("{get_parm: p}", "2018-08-31", "ZON609", "get_param", id="misspelt"),
        pytest.param("{get-param: p}", "2018-08-31", "ZON609", "get_param", id="hyphen"),
        pytest.param("{'Fn::GetAtt': [a, b]}", "2018-08-31", "ZON609", "get_attr", id="cfn"),
        pytest.param("{get_up: 7}", "2018-08-31", None, "", id="not-alike"),
        pytest.param("{get_parm: p, also: 1}", "2018-08-31", None, "", id="two-keys"),
    ],
)  # fmt: skip
def test_data_that_looks_like_a_call(call: str, version: str, code: str | None, said: str) -> None:
    found = warnings(f"outputs: {{o: {{value: {call}}}}}", version)

    assert [each.code for each in found] == ([code] if code else [])
    assert all(said in f"{each.message} {each.hint}" for each in found)


def test_a_duplicate_key_of_an_environment_points_there_with_both_places() -> None:
    (found,) = warnings(
        f"parameters: {{p: {{type: string}}}}\n{USED}",
        environment_files=(("e.yaml", "parameters:\n  p: a\n  p: b\n"),),
    )

    assert (found.code, str(found.place)) == ("ZON601", "e.yaml:3:3")
    assert [str(each.place) for each in found.related] == ["e.yaml:2:3"]


def test_an_entry_of_the_registry_that_another_covers() -> None:
    (found,) = warnings(
        "resources: {a: {type: 'My::New'}}",
        environment_files=(
            ("one.yaml", 'resource_registry:\n  "My::New": Old\n'),
            ("two.yaml", 'resource_registry:\n  "My::*": "*"\n'),
        ),
    )

    assert (found.code, str(found.place)) == ("ZON604", "one.yaml:2:3")
    assert [str(each.place) for each in found.related] == ["two.yaml:2:3"]


def test_an_entry_for_one_resource_is_not_covered_by_one_for_another() -> None:
    (found,) = warnings(
        "resources: {a: {type: 'My::New'}}",
        environment=(
            "resource_registry:\n"
            "  'My::New': New\n"
            "  resources: {b: {'My::*': '*'}}\n"
        ),
    )  # fmt: skip

    assert "below a resource's name a * is no pattern" in found.message


def test_a_requirement_that_no_candidate_declares_is_warned_of() -> None:
    (found,) = warnings(
        "resources: {a: {type: 'My::New'}}",
        environment=(
            "requires: {deployment: puppet, coluor: red}\n"
            "resource_registry: {'My::New': [one.yaml, Old]}\n"
        ),
        files={
            "one.yaml": "heat_template_version: rocky\n"
            "capabilities: {deployment: puppet, colour: red}\n"
        },
    )

    assert (found.code, str(found.place)) == ("ZON615", "environment:1:32")
    assert found.hint == "Did you mean colour?"


def test_a_template_with_faults_brings_its_warnings_where_they_are_asked_for(loaded: Any) -> None:
    text = "parameters: {p: {type: string, default: x}}\nresources: {a: {type: Gone}}"
    bundle = Bundle(f"heat_template_version: rocky\n{text}", "t.yaml")

    with pytest.raises(ValidationErrors) as caught:
        load(
            bundle,
            identity=Identity("5eb1", "stack", "pr0j"),
            plugins=Plugins(resource_types=TYPES),
            functions=build_function_table,
            with_warnings=True,
        )

    assert [each.code for each in caught.value.errors] == ["ZON122"]
    assert [each.code for each in caught.value.warnings] == ["ZON602"]


def test_aliases_that_hold_each_other_many_times_cost_nothing() -> None:
    levels = "".join(f"      k{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 12))

    assert (
        warnings(f"resources:\n  a:\n    type: New\n    metadata:\n      k0: &a0 [x]\n{levels}")
        == []
    )


@pytest.mark.parametrize("key", ["[1]", "{k: v}", "null", "[]", "2001-01-01", "1.5", "true"])
def test_a_path_may_hold_anything_and_is_advised_about(key: str) -> None:
    text = (
        "resources:\n  a: {type: New}\n  b: {type: New, metadata: {k: {get_attr: [a, old, KEY]}}}\n"
        "outputs:\n  o: {value: {get_attr: [a, old, k, KEY, j]}}\n"
    )
    found = shown(warnings(text.replace("KEY", key)))
    assert found == [("ZON607", "t.yaml:4:33"), ("ZON607", "t.yaml:6:15")]


def test_advice_that_breaks_ends_nothing_and_the_rest_is_given(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> NoReturn:
        raise TypeError("of no use")

    monkeypatch.setattr(functions, "list_warnings", broken)
    found = warnings("parameters: {}\n", environment="parameters: {}\n")
    assert [code for code, _ in shown(found)] == ["ZON610"]
    assert "of no use" in caplog.text
