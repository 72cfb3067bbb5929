"""The outermost shape: versions, sections, groups, names, conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template.source.versions import DATES, NAMES, resolve_version
from zonda.hooks.errors import TemplateError

Faults = Callable[..., tuple[TemplateError, ...]]


@pytest.mark.parametrize("version", [*DATES, *NAMES])
def test_every_version_is_spoken_of_by_its_date(version: str) -> None:
    assert resolve_version({"heat_template_version": version}) in DATES


@pytest.mark.parametrize(
    ("data", "message", "hint"),
    [
        pytest.param(
            ["a"], "The template is not a JSON object or YAML mapping.",
            'A template begins with "heat_template_version: 2021-04-16".', id="list",
        ),
        pytest.param(
            {"Heat_Template_Version": "rocky"}, "Template format version not found.",
            "Did you mean heat_template_version instead of Heat_Template_Version?", id="case",
        ),
        pytest.param(
            {"heat_template_versoin": "rocky"}, "Template format version not found.",
            "Did you mean heat_template_version instead of heat_template_versoin?", id="misspelt",
        ),
        pytest.param(
            {"AWSTemplateFormatVersion": "2010-09-10"}, "The template version is invalid: "
            '"AWSTemplateFormatVersion: 2010-09-10". '
            '"AWSTemplateFormatVersion" should be: 2010-09-09',
            "Did you mean 2010-09-09?", id="cfn",
        ),
        pytest.param(
            {"heat_template_version": 2018}, "The template version is invalid: "
            "Template version was not provided",
            "Write the version as a date or a name, in quotes if YAML reads it otherwise.",
            id="number",
        ),
        pytest.param(
            {"heat_template_version": "rocky", "AWSTemplateFormatVersion": "x"},
            "The template version is invalid: "
            "Ambiguous versions (heat_template_version, AWSTemplateFormatVersion)", "", id="both",
        ),
    ],
)  # fmt: skip
def test_what_is_no_version(data: Any, message: str, hint: str) -> None:
    with pytest.raises(TemplateError) as caught:
        resolve_version(data)

    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("template", "messages"),
    [
        pytest.param("resource: {}", ["The template section is invalid: resource"], id="section"),
        pytest.param(
            "resources: [a]",
            ["\"resources\" must contain a map of resource maps. Found a [<class 'list'>] instead"],
            id="resources-list",
        ),
        pytest.param(
            "resources: {b: {}, a: {foo: 1}}",
            [
                '"foo" is not a valid keyword inside a resource definition',
                "Each resource must contain a type key.",
                "Each resource must contain a type key.",
            ],
            id="sorted-by-name",
        ),
        pytest.param(
            "resources: {off: {type: Thing}}",
            ["The name of a resource must be text, not False."],
            id="boolean-name",
        ),
        pytest.param(
            "resources: {a/b: {type: Thing}}", ['Resource name may not contain "/"'], id="slash"
        ),
        pytest.param("outputs: [a]", None, id="outputs-list"),
        pytest.param("outputs: {o: {}}", None, id="output-without-value"),
        pytest.param("parameters: [a]", None, id="parameters-list"),
        pytest.param("parameters: {5: {type: string}}", None, id="parameter-number"),
        pytest.param("conditions:", None, id="conditions-null"),
        pytest.param("conditions: {1: true}", None, id="condition-number"),
    ],
)
def test_wrong_shapes(faults: Faults, template: str, messages: list[str] | None) -> None:
    found = faults(template)

    assert messages is None or [str(fault) for fault in found] == messages
    assert all(fault.place for fault in found)
    assert {fault.stage for fault in found} == {"validate"}


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("capabilities: {deployment: puppet}", id="capabilities"),
        pytest.param("resources:\noutputs:\nparameters:", id="null-sections"),
        pytest.param(
            "resources: []\noutputs: ''\nparameters: []\nparameter_groups: {}", id="empty-sections"
        ),
        pytest.param("conditions: {}", id="no-conditions"),
        pytest.param("description: [a, {get_param: x}]", id="description-is-not-looked-at"),
        pytest.param("__undefined__: 1", id="a-name-that-slips-through"),
        pytest.param("outputs: {o: {value: 1, foo: 2}}", id="unknown-output-key"),
    ],
)
def test_what_is_fine(loaded: Any, template: str) -> None:
    assert loaded(template).resources == {}


def test_conditions_come_with_their_version(faults: Faults) -> None:
    (fault,) = faults("conditions: {}", version="2016-04-08")

    assert str(fault) == "The template section is invalid: conditions"
    assert "2016-10-14" in fault.hint


@pytest.mark.parametrize(
    ("name", "good"),
    [
        pytest.param("a.b-c_D9", True, id="all-signs"),
        pytest.param("a" * 255, True, id="longest"),
        pytest.param("a" * 256, False, id="too-long"),
        pytest.param("1a", False, id="digit-first"),
        pytest.param("a b", False, id="blank"),
        pytest.param("a\n", False, id="line-end"),
    ],
)
def test_stack_names(loaded: Any, faults: Faults, name: str, good: bool) -> None:
    if good:
        assert loaded("", stack_name=name).parameters.value("OS::stack_name") == name
    else:
        assert faults("", stack_name=name)[0].message.startswith("Invalid stack name")


CONDITIONS = """\
parameters:
  env: {type: string, default: prod}
  flag: {type: boolean, default: false}
conditions:
  yes_: true
  flagged: {get_param: flag}
  prod: {equals: [{get_param: env}, prod]}
  both: {and: [yes_, {not: flagged}]}
  text: {get_param: env}
  loop: {not: loop}
  stray: {or: [false, nowhere]}
  early: {or: [yes_, nowhere]}
"""


def test_conditions_are_evaluated_only_when_asked_for(loaded: Any) -> None:
    truths = loaded(CONDITIONS).conditions()

    faults = {name: str(truth) for name, truth in truths.items() if not isinstance(truth, bool)}
    assert {name: truth for name, truth in truths.items() if name not in faults} == {
        "yes_": True,
        "flagged": False,
        "prod": True,
        "both": True,
        "early": True,
    }
    assert faults == {
        "text": 'Condition validation error: The definition of condition "text" is invalid: prod',
        "loop": 'Condition validation error: Circular definition for condition "loop"',
        "stray": 'Invalid condition "nowhere"',
    }


def test_conditions_may_not_lead_to_one_another_for_ever(loaded: Any) -> None:
    chain = "".join(f"  c{at}: {{not: c{at + 1}}}\n" for at in range(2000))
    truths = loaded(f"conditions:\n{chain}  c2000: true\n").conditions()

    assert "100 conditions deep" in str(truths["c0"])
    assert truths["c1999"] is False


def test_aliases_that_multiply_are_refused(faults: Faults) -> None:
    lines = "".join(
        f"    a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 9)
    )
    (fault,) = faults(f"outputs:\n  o:\n    a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n{lines}")

    assert fault.stage == "parse"
    assert "aliases" in str(fault)


@pytest.mark.parametrize(
    ("condition", "enabled"),
    [
        pytest.param("prod", True, id="name"),
        pytest.param("false", False, id="boolean"),
        pytest.param("{not: prod}", False, id="inline"),
        pytest.param("{equals: [1, true]}", True, id="python-equality"),
    ],
)
def test_a_condition_enables(loaded: Any, condition: str, enabled: bool) -> None:
    stack = loaded(
        f"{CONDITIONS}resources: {{a: {{type: Thing, condition: {condition}}}}}\n"
        f"outputs: {{o: {{condition: {condition}, value: 1}}, n: {{condition: null, value: 1}}}}"
    )

    assert ("a" in stack.resources) is enabled
    assert stack.outputs["o"].enabled is enabled
    assert stack.outputs["n"].enabled
