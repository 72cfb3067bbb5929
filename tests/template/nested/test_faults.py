"""Faults in nested templates: all of them, each in its own file, with the way that led there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template.load import Limits, StackDefinition
from zonda.hooks.errors import TemplateError, ValidationErrors

Tree = Callable[..., StackDefinition]


@pytest.fixture
def wrong(tree: Tree) -> Callable[..., tuple[TemplateError, ...]]:
    def faults_of(*arguments: Any, **more: Any) -> tuple[TemplateError, ...]:
        with pytest.raises(ValidationErrors) as caught:
            tree(*arguments, **more)
        return caught.value.errors

    return faults_of


Wrong = Callable[..., tuple[TemplateError, ...]]
ONE = "resources: {c: {type: c.yaml}}"
GIVEN = "resources: {c: {type: c.yaml, properties: {x: 1}}}"


def told(fault: TemplateError) -> tuple[str, str]:
    return str(fault), str(fault.place)


@pytest.mark.parametrize(
    ("template", "child", "message", "place"),
    [
        pytest.param(
            ONE,
            "resources: {t: {type: Thing, properties: {number: many}}}",
            "Property error: resources.c<c.yaml>.resources.t.properties.number: "
            "could not convert string to float: 'many'",
            "c.yaml:2:43",
            id="a property",
        ),
        pytest.param(
            ONE,
            "resources:\n  t: {type: No::Such}",
            "resources.c<c.yaml>: The Resource Type (No::Such) could not be found.",
            "c.yaml:3:7",
            id="a type",
        ),
        pytest.param(
            ONE,
            "outputs: {o: {value: {list_join: 1}}}",
            "resources.c<c.yaml>.outputs.o.value.list_join: Incorrect arguments to "
            '"list_join" should be: "list_join" : [ " ", [ "str1", "str2"] ...]',
            "c.yaml:2:23",
            id="a function",
        ),
        pytest.param(
            GIVEN,
            "resources: {}",
            "Property error: resources.c.properties: Unknown Property x",
            "root.yaml:2:44",
            id="no such parameter",
        ),
        pytest.param(
            ONE,
            "parameters: {x: {type: string}}",
            "Property error: resources.c.properties: Property x not assigned",
            "root.yaml:2:13",
            id="a parameter without a value",
        ),
        pytest.param(
            ONE,
            "parameters: {x: {type: text}}",
            "Invalid type (text)",
            "c.yaml:2:18",
            id="a schema",
        ),
        pytest.param(
            "resources: {c: {type: d.yaml}}",
            "",
            'Could not fetch remote template "d.yaml": Invalid URL scheme ',
            "root.yaml:2:17",
            id="no such file",
        ),
        pytest.param(
            "resources: {c: {type: d.yaml, properties: {x: 1}}}",
            "",
            'Could not fetch remote template "d.yaml": Invalid URL scheme ',
            "root.yaml:2:17",
            id="no such file for properties",
        ),
        pytest.param(
            ONE,
            "a: b: c",
            "Error parsing template c.yaml: mapping values are not allowed in this context",
            "c.yaml:2:5",
            id="no YAML",
        ),
        pytest.param(
            "resources: {c: {type: c.yaml, update_policy: {batch: 3}}}",
            "",
            "Property error: resources.c.update_policy: Unknown Property batch",
            "root.yaml:2:47",
            id="an update policy",
        ),
        pytest.param(
            "resources: {g: {type: Group, properties: {member: {type: c.yaml}}}}",
            "resources: {t: {type: Thing, properties: {n: 1}}}",
            "Property error: resources.g<nested_stack>.resources.0<c.yaml>.resources.t"
            ".properties: Unknown Property n",
            "c.yaml:2:43",
            id="in a group",
        ),
        pytest.param(
            "resources:\n  g:\n    type: Group\n    properties:\n      member:\n"
            "        type: Thing\n        properties: {number: many}",
            "",
            "Property error: resources.g<nested_stack>.resources[0].properties.number: "
            "could not convert string to float: 'many'",
            "root.yaml:8:22",
            id="of a generated template",
        ),
        pytest.param(
            "resources:\n  g:\n    type: Group\n    properties:\n      member: {type: No::Such}",
            "",
            "resources.g<nested_stack>: The Resource Type (No::Such) could not be found.",
            "root.yaml:6:16",
            id="a type of a generated template",
        ),
        pytest.param(
            "resources:\n  g: {type: Group, properties: {count: 10}}",
            "",
            "ResourceFailure: resources.g<nested_stack>: too many",
            "root.yaml:3:3",
            id="a plug-in refuses",
        ),
    ],
)
def test_a_fault_stands_in_its_own_file(
    wrong: Wrong, template: str, child: str, message: str, place: str
) -> None:
    fault = wrong(template, {"c.yaml": child})[0]
    assert told(fault) == (message, place)


def test_a_fault_knows_the_way_that_led_to_it(wrong: Wrong) -> None:
    files = {
        "mid.yaml": "resources:\n  g: {type: Group, properties: {member: {type: leaf.yaml}}}",
        "leaf.yaml": "resources:\n  t: {type: Thing, properties: {number: many}}",
    }
    (fault,) = wrong("resources:\n  a: {type: mid.yaml}", files)
    assert [(str(step.place), step.message) for step in fault.way] == [
        ("root.yaml:3:3", "a has the type mid.yaml"),
        ("mid.yaml:3:3", "g has the type Group"),
        ("None", "0 has the type leaf.yaml"),
    ]


def test_every_fault_is_told_once_whatever_leads_to_it(wrong: Wrong) -> None:
    text = "parameters: {n: {type: number}}\nresources: {t: {type: No}}\noutputs: {o: 1}"
    files = {"c.yaml": text}
    faults = wrong(
        "resources:\n"
        "  a: {type: c.yaml, properties: {n: 1}}\n"
        "  b: {type: c.yaml, properties: {n: 2}}\n"
        "  z: {type: Thing, properties: {zzz: 2}}\n",
        files,
    )
    assert [str(fault.place) for fault in faults] == [
        "c.yaml:4:11",
        "c.yaml:3:17",
        "root.yaml:5:33",
    ]


@pytest.mark.parametrize(
    "template",
    [
        "resources: {c: {type: c.yaml, properties: {size: {get_attr: [s, value]}}}, "
        "s: {type: Thing}}",
        "resources: {c: {type: c.yaml, properties: {size: {get_resource: s}}}, s: {type: Thing}}",
        "resources: {g: {type: Group, properties: {member: {type: c.yaml, properties: "
        "{size: {get_attr: [s, value]}}}}}, s: {type: Thing}}",
        "resources: {g: {type: Group, properties: {count: {get_attr: [s, value]}, member: "
        "{type: c.yaml, properties: {size: small}}}}, s: {type: Thing}}",
        "resources: {g: {type: Group, properties: {types: {get_attr: [s, value]}, member: "
        "{type: No::Such}}}, s: {type: Thing}}",
        "resources: {g: {type: Group, properties: {types: [{get_attr: [s, value]}]}}, "
        "s: {type: Thing}}",
    ],
)
def test_what_depends_on_resources_is_not_judged(tree: Tree, template: str) -> None:
    files = {
        "c.yaml": "parameters: {size: {type: string, default: none}}\n"
        "conditions: {large: {equals: [{get_param: size}, large]}}\n"
        "resources:\n"
        "  t: {type: Choosy, properties: {size: {get_param: size}}}\n"
        "  u: {type: Choosy, condition: large, properties: {size: {get_param: size}}}\n"
        "  d: {type: d.yaml, properties: {size: {if: [large, {get_param: size}, small]}}}\n"
        "outputs: {o: {condition: large, value: {get_param: size}}}",
        "d.yaml": "parameters: {size: {type: string}}\n"
        "resources: {t: {type: Choosy, properties: {size: {get_param: size}}}}",
    }
    tree(template, files)


def test_a_value_from_above_is_judged_where_it_is_used(wrong: Wrong) -> None:
    files = {
        "c.yaml": "parameters: {size: {type: string}}\n"
        "resources: {d: {type: d.yaml, properties: {size: {get_param: size}}}}",
        "d.yaml": "parameters: {size: {type: string}}\n"
        "resources: {t: {type: Choosy, properties: {size: {get_param: size}}}}",
    }
    (fault,) = wrong("resources: {c: {type: c.yaml, properties: {size: huge}}}", files)
    assert told(fault)[1] == "d.yaml:3:44"
    assert "huge" in str(fault)


def test_a_bad_default_of_an_environment_is_shown_there(wrong: Wrong) -> None:
    files = {"c.yaml": "parameters: {n: {type: number}}"}
    environment = "parameter_defaults:\n  n: many"
    (fault,) = wrong(ONE, files, environment_files=(("env.yaml", environment),))
    assert str(fault.place) == "env.yaml:2:3"
    assert str(fault.way[0].place) == "root.yaml:2:13"


def test_a_file_whose_aliases_multiply_is_named(wrong: Wrong) -> None:
    bomb = "x-a: &a [1, 2, 3, 4]\nx-b: &b [*a, *a, *a, *a]\nx-c: [*b, *b, *b, *b]"
    (fault,) = wrong(ONE, {"c.yaml": bomb}, limits=Limits(max_template_bytes=120))
    assert (fault.code, str(fault.place)) == ("ZON119", "c.yaml:4:7")
    assert [str(step.place) for step in fault.way] == ["root.yaml:2:13"]


@pytest.mark.parametrize("text", ["", "# nothing but words\n"], ids=["empty", "a comment"])
def test_an_empty_file_is_named_with_the_way_to_it(wrong: Wrong, text: str) -> None:
    (fault,) = wrong(ONE, more={"c.yaml": text})
    assert (fault.code, str(fault.place)) == ("ZON101", "c.yaml:1:1")
    assert fault.message == "Template format version not found."
    assert [str(step.place) for step in fault.way] == ["root.yaml:2:13"]


def test_a_file_whose_parameters_are_wrong_tells_its_other_faults_too(wrong: Wrong) -> None:
    text = (
        "parameters: {p: {type: strng}, q: {type: nmber}, r: {type: number}}\n"
        "resources:\n"
        "  a: {type: No}\n"
        "  b: {type: Thing, properties: {numbr: {get_param: r}}}\n"
        "  c: {type: Thing, depends_on: z}\n"
        "  me: {type: c.yaml}\n"
        "outputs: {o: 1, s: {value: {get_param: p}}}"
    )
    faults = wrong(ONE, {"c.yaml": text})
    assert [str(fault.place) for fault in faults] == [
        "c.yaml:2:18",
        "c.yaml:2:36",
        "c.yaml:4:7",
        "c.yaml:8:11",
        "c.yaml:6:20",
        "c.yaml:5:33",
    ]
    assert {str(fault.way[0].place) for fault in faults} == {"root.yaml:2:13"}


def test_the_name_of_a_file_is_one_line_in_what_is_told(wrong: Wrong) -> None:
    (unknown, fault) = wrong(
        'resources: {c: {type: "a\\nb.yaml"}, d: {type: "No\\nSuch"}}',
        {"a\nb.yaml": "resources: {t: {type: Thing, properties: {number: many}}}"},
    )
    assert fault.path[:2] == ("resources", "c<a\\nb.yaml>")
    assert [step.message for step in fault.way] == ["c has the type a\\nb.yaml"]
    assert "\n" not in str(unknown)


def test_templates_lie_so_deep_and_no_deeper(tree: Tree, wrong: Wrong) -> None:
    files = {f"{depth}.yaml": f"resources: {{r: {{type: {depth + 1}.yaml}}}}" for depth in range(9)}
    files["3.yaml"] = ""
    tree("resources: {r: {type: 1.yaml}}", files, limits=Limits(max_nested_depth=3))
    (fault,) = wrong("resources: {r: {type: 1.yaml}}", files, limits=Limits(max_nested_depth=2))
    assert str(fault) == (
        "RequestLimitExceeded: resources.r<1.yaml>.resources.r<2.yaml>.resources.r<3.yaml>: "
        "Request limit exceeded: Recursion depth exceeds 2."
    )
    assert (str(fault.place), fault.code) == ("2.yaml:2:17", "ZON151")


def test_a_template_that_uses_itself_is_too_deep(wrong: Wrong) -> None:
    (fault,) = wrong(ONE, {"c.yaml": "resources: {c: {type: c.yaml}}"})
    assert fault.code == "ZON151"
    assert len(fault.way) == 5


def test_a_template_that_reads_itself_is_too_deep(wrong: Wrong) -> None:
    text = (
        "parameters: {p: {type: string, default: x}}\n"
        "resources: {c: {type: c.yaml, properties: {p: {get_attr: [d, o]}}},\n"
        "  d: {type: c.yaml, properties: {p: {get_param: p}}}}\n"
        "outputs: {o: {value: [{get_attr: [c, o]}, {get_param: p}]}}"
    )
    secret = "parameters: {s: {type: string, hidden: true, default: secret}}\n"
    root = "resources: {c: {type: c.yaml, properties: {p: {get_param: s}}}}\n"
    reads = "outputs: {o: {value: {get_attr: [c, o]}}}"
    faults = wrong(f"{secret}{root}{reads}", {"c.yaml": text})
    assert {fault.code for fault in faults} == {"ZON151"}


@pytest.mark.parametrize(
    ("child", "message"),
    [
        ("outputs: {}", "Required property value for facade Picky missing in provider"),
        (
            "parameters: {value: {type: number, default: 1}}",
            "Property value type mismatch between facade Picky (String) and provider (Number)",
        ),
        (
            "parameters: {value: {type: string}, more: {type: string}}",
            "Provider requires property more unknown in facade Picky",
        ),
    ],
)
def test_a_template_fits_the_type_that_it_stands_for(
    wrong: Wrong, child: str, message: str
) -> None:
    faults = wrong(
        "resources: {c: {type: Picky, properties: {value: v, more: m}}}"
        if "more" in child
        else "resources: {c: {type: Picky}}",
        {"c.yaml": child},
        environment="resource_registry: {Picky: c.yaml}",
    )
    assert (str(faults[0]), faults[0].code) == (message, "ZON152")


@pytest.mark.parametrize(
    ("child", "message"),
    [
        ("parameters: {one: {type: string}}", "Required property two for facade T missing"),
        (
            "parameters: {one: {type: string}, two: {type: string}}",
            "Attribute here for facade T missing",
        ),
    ],
)
def test_the_template_of_one_resource_fits_the_one_for_all(
    wrong: Wrong, child: str, message: str
) -> None:
    facade = "parameters: {one: {type: string}, two: {type: string}}\noutputs: {here: {value: 1}}"
    properties = "{one: 1, two: 2}" if "two" in child else "{one: 1}"
    faults = wrong(
        f"resources: {{c: {{type: T, properties: {properties}}}}}",
        {"f.yaml": facade, "c.yaml": child},
        environment="resource_registry: {T: f.yaml, resources: {c: {T: c.yaml}}}",
    )
    assert (str(faults[0]), faults[0].code) == (f"{message} in provider", "ZON152")


@pytest.mark.parametrize("registry", ["{T: f.yaml, resources: {c: {T: c.yaml}}}", "{T: c.yaml}"])
def test_a_template_that_stands_for_no_usable_type_fits(tree: Tree, registry: str) -> None:
    files = {"c.yaml": "resources: {}"}
    assert tree("resources: {c: {type: T}}", files, environment=f"resource_registry: {registry}")


def test_a_value_that_a_type_reads_itself_is_reported_at_its_resource(wrong: Wrong) -> None:
    """Heat does not compare nested values with schemas: the type's own check fails."""
    (fault,) = wrong(ONE, {"c.yaml": "resources: {t: {type: Picky, properties: {value: {a: 1}}}}"})
    assert str(fault).startswith("ValueError: resources.c<c.yaml>.resources.t: Value must be a st")
    assert str(fault.place) == "c.yaml:2:43"


def test_hidden_values_stay_hidden_on_their_way_down(wrong: Wrong) -> None:
    files = {
        "c.yaml": "parameters: {p: {type: string}}\n"
        "resources: {t: {type: Choosy, properties: {size: {get_param: p}}}}"
    }
    (fault,) = wrong(
        "parameters: {p: {type: string, hidden: true, default: secret-word}}\n"
        "resources: {c: {type: c.yaml, properties: {p: {get_param: p}}}}",
        files,
    )
    assert "secret-word" not in f"{fault} {fault.hint} {fault.message}"


def test_one_mistake_in_a_web_of_two_hundred_templates_is_found(wrong: Wrong) -> None:
    """Each uses four others; the mistake lies five templates deep."""
    files = {
        f"t{number}.yaml": "parameters: {x: {type: string, default: none}}\nresources:\n"
        + "".join(
            f"  r{below}: {{type: t{below}.yaml, properties: {{x: {{get_param: x}}}}}}\n"
            for below in range(number * 4 + 1, number * 4 + 5)
            if below < 200
        )
        + f"  own: {{type: Thing, properties: {{{'numbre' if number == 173 else 'number'}: 1}}}}\n"
        for number in range(200)
    }
    (fault,) = wrong("resources:\n  web: {type: t0.yaml, properties: {x: top}}", files)
    assert str(fault.place) == "t173.yaml:4:35"
    assert fault.message == "Unknown Property numbre"
    assert fault.hint == "Did you mean number?"
    assert [str(step.place) for step in fault.way] == [
        "root.yaml:3:3",
        "t0.yaml:5:3",
        "t2.yaml:5:3",
        "t10.yaml:6:3",
        "t43.yaml:4:3",
    ]
