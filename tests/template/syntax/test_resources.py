"""Resources and outputs: keys, requirements, resolved values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.hooks.errors import TemplateError

Faults = Callable[..., tuple[TemplateError, ...]]


class Values:
    """Values of resources, made up from their names."""

    def reference(self, name: str) -> str:
        return f"ref-{name}"

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> str:
        return f"{name}.{attribute}{list(rest) if rest else ''}"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        pytest.param("{type: [Thing]}", "Resource a type type must be string", id="type"),
        pytest.param("{type: ''}", "Each Resource must contain a Type key.", id="no-type"),
        pytest.param(
            "{type: Thing, properties: null}", "Resource a properties type must be object",
            id="properties",
        ),
        pytest.param(
            "{type: Thing, metadata: []}", "Resource a metadata type must be object", id="metadata"
        ),
        pytest.param(
            "{type: Thing, depends_on: {}}", "Resource a depends_on type must be list or string",
            id="depends-on",
        ),
        pytest.param(
            "{type: Thing, depends_on: [1]}", "Resource a depends_on must be a list of strings",
            id="depends-on-number",
        ),
        pytest.param(
            "{type: Thing, description: 5}", "Resource a description type must be string",
            id="description",
        ),
        pytest.param(
            "{type: Thing, deletion_policy: Keep}", 'Invalid deletion policy "Keep"', id="policy"
        ),
        pytest.param(
            "{type: Thing, deletion_policy: Snapshot}",
            'resources.a.deletion_policy: "Snapshot" deletion policy not supported',
            id="no-snapshots",
        ),
        pytest.param(
            "{type: Thing, condition: 1}", "Resource a condition type must be string_or_boolean",
            id="condition",
        ),
        pytest.param(
            "{type: Thing, condition: z}", 'resources.a.condition: Invalid condition "z"',
            id="unknown-condition",
        ),
        pytest.param(
            "{type: Thing, external_id: x, depends_on: b}",
            "Invalid dependency with external Thing resource: x", id="external",
        ),
        pytest.param(
            "{type: Thing, update_policy: {x: 1}}",
            "Property error: resources.a.update_policy: Unknown Property x", id="update-policy",
        ),
        pytest.param(
            "{type: Thing, properties: {map_merge: [{}]}}",
            'Only "if" can stand for all properties of a resource, not "map_merge"', id="whole",
        ),
        pytest.param(
            "{type: Thing, properties: {value: {get_resource: z}}}",
            'The specified reference "z" (in a.Properties.value) is incorrect.', id="reference",
        ),
        pytest.param(
            "{type: Thing, metadata: {x: [{list_join: [',', [{get_resource: z}]]}]}}",
            'The specified reference "z" (in a.Metadata.x[0].list_join[1][0]) is incorrect.',
            id="reference-inside-a-function",
        ),
    ],
)  # fmt: skip
def test_what_an_entry_may_not_say(faults: Faults, entry: str, message: str) -> None:
    found = faults(f"resources: {{a: {entry}, b: {{type: Thing}}}}")

    assert [str(fault) for fault in found] == [message]
    assert all(fault.place for fault in found)


@pytest.mark.parametrize(
    ("entry", "requires"),
    [
        pytest.param("{type: Thing, depends_on: [b, b]}", {"b"}, id="depends-on"),
        pytest.param("{type: Thing, depends_on: gone}", set(), id="disabled-is-dropped"),
        pytest.param("{type: Thing, properties: {value: b}}", set(), id="text-is-none"),
        pytest.param("{type: Thing, properties: {value: {get_resource: b}}}", {"b"}, id="ref"),
        pytest.param(
            "{type: Thing, metadata: {x: [{list_join: [',', [{get_attr: [b, value]}]]}]}}",
            {"b"},
            id="metadata-nested",
        ),
        pytest.param(
            "{type: Thing, properties: {value: {if: [no_, {get_resource: b}, {get_resource: c}]}}}",
            {"c"},
            id="only-the-branch-taken",
        ),
        pytest.param(
            "{type: Thing, properties: {value: {get_resource: {get_param: which}}}}",
            {"c"},
            id="name-from-a-parameter",
        ),
        pytest.param(
            "{type: Thing, external_id: x, properties: {value: {get_resource: b}}}",
            set(),
            id="external-requires-nothing",
        ),
    ],
)
def test_requirements(loaded: Any, entry: str, requires: set[str]) -> None:
    stack = loaded(
        "parameters: {which: {type: string, default: c}}\nconditions: {no_: false}\n"
        f"resources: {{a: {entry}, b: {{type: Thing}}, c: {{type: Thing}},"
        " gone: {type: Thing, condition: no_}}"
    )

    assert set(stack.resources) == {"a", "b", "c"}
    assert stack.resources["a"].requires == requires


def test_a_disabled_resource_is_parsed_and_not_checked(loaded: Any, faults: Faults) -> None:
    stack = loaded("resources: {a: {type: Unheard::Of, condition: false, properties: {x: 1}}}")
    (fault,) = faults(
        "resources: {a: {type: Thing, condition: false, metadata: {x: {get_attr: 1}}}}"
    )

    assert stack.resources == {}
    assert str(fault) == 'resources.a.metadata.x.get_attr: Argument to "get_attr" must be a list'


def test_a_disabled_output_is_not_even_parsed(loaded: Any) -> None:
    stack = loaded("outputs: {o: {condition: false, value: {get_attr: 1}}}")

    assert stack.outputs["o"].resolve(stack.scope(None)) is None


@pytest.mark.parametrize(
    ("version", "policy", "kept"),
    [
        pytest.param("2016-10-14", "retain", "Retain", id="lower-case"),
        pytest.param("2013-05-23", "Retain", "Retain", id="exact"),
        pytest.param("2018-08-31", "{get_param: p}", "Delete", id="function"),
    ],
)
def test_deletion_policy(loaded: Any, version: str, policy: str, kept: str) -> None:
    stack = loaded(
        "parameters: {p: {type: string, default: delete}}\n"
        f"resources: {{a: {{type: Thing, deletion_policy: {policy}}}}}",
        version=version,
    )

    assert stack.resources["a"].deletion_policy == kept


def test_what_is_managed_elsewhere_is_never_deleted(loaded: Any) -> None:
    stack = loaded("resources: {a: {type: Thing, external_id: x, properties: {bad: 1}}}")
    node = stack.resources["a"]

    assert node.deletion_policy == "Retain"
    assert node.resolve(stack.scope(Values())).external_id == "x"


def test_one_tree_resolves_with_the_values_of_each_operation(loaded: Any) -> None:
    stack = loaded(
        "parameters: {p: {type: string, default: v}}\n"
        "resources:\n"
        "  a: {type: Thing}\n"
        "  b:\n"
        "    type: Thing\n"
        "    description: d\n"
        "    properties:\n"
        "      value: [{get_resource: a}, {get_attr: [a, value, 0]}]\n"
        "      text: {get_param: p}\n"
        "    metadata: {m: {get_attr: [a, other]}}\n"
        "outputs: {o: {value: {get_attr: [b, value]}}}\n"
    )
    scope = stack.scope(Values())
    definition = stack.resources["b"].resolve(scope)

    assert definition.properties == {"value": ["ref-a", "a.value[0]"], "text": "v"}
    assert definition.metadata == {"m": "a.other"}
    assert definition.description == "d"
    assert stack.outputs["o"].resolve(scope) == "b.value"
    assert stack.referenced_attributes("a") == {"value", "other"}
    assert stack.referenced_attributes("b") == {"value"}
    assert stack.order() == ["a", "b"]


def test_a_fault_at_creation_is_told_in_heats_words(loaded: Any) -> None:
    class Numbers(Values):
        def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
            return 1

    stack = loaded(
        "resources:\n  a: {type: Thing}\n"
        "  b: {type: Thing, properties: {text: {list_join: [',', [{get_attr: [a, value]}, x]]}}}",
        version="2018-08-31",
    )
    with pytest.raises(TemplateError) as caught:
        stack.resources["b"].resolve(stack.scope(Numbers()))

    assert str(caught.value) == (
        "Property error: b.Properties.text: Items to join must be string, map or list not 1"
    )


def test_absent_items_disappear(loaded: Any) -> None:
    stack = loaded(
        "resources: {a: {type: Thing, properties:"
        " {text: {if: [false, x]}, value: [1, {if: [false, 2]}]}}}",
        version="wallaby",
    )

    definition = stack.resources["a"].resolve(stack.scope(Values()))
    assert definition.properties == {"value": [1]}


def test_duplicate_keys_warn_with_both_places(loaded: Any) -> None:
    stack = loaded("resources:\n  a: {type: Thing, properties: {text: x, text: y}}\n")

    (warning,) = stack.warnings
    assert warning.code == "ZON601"
    assert str(warning.place) == "t.yaml:3:42"
    assert [str(other.place) for other in warning.related] == ["t.yaml:3:33"]
    assert str(warning) == "text was given before (t.yaml:3:33); the last one counts"
