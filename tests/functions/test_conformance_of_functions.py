"""The conformance cases about functions, without an engine: parameters, conditions, plain outputs.

Resources hold what their template says (as in ``Values``), which is enough for the types that the
cases of this room use. The whole engine is compared elsewhere.
"""

from pathlib import Path

import pytest
import yaml

from zonda.builtin_resources import plugin
from zonda.core.functions.versions import build_function_table
from zonda.core.functions.yaql_call import make_evaluator
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.template.load import load
from zonda.core.template.source.bundle import Bundle, Identity, Limits
from zonda.hooks.errors import TemplateError
from zonda.hooks.schema.attributes import select
from zonda.hooks.testing import FakeContext

CASES = Path(__file__).parents[1] / "conformance" / "cases"
AREAS = (
    "cfn_functions",
    "condition_functions",
    "condition_use",
    "conditions",
    "contains",
    "digest",
    "filter",
    "function_availability",
    "get_attr",
    "get_file",
    "get_param",
    "get_resource",
    "if",
    "list_concat",
    "list_join",
    "make_url",
    "map_merge",
    "map_replace",
    "repeat",
    "str_replace",
    "str_replace_strict",
    "str_split",
    "yaml_quirks",
    "yaql",
)

PLUGINS = gather_plugins(make_manager(plugin, discover=False))
IDENTITY = Identity("11111111-2222-3333-4444-555555555555", "oracle_stack", "p" * 32)


class CaseLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Dates in the cases are text."""


CaseLoader.add_constructor(
    "tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node)
)


class Values:
    """What resources give: their template's properties, each under its own name."""

    def __init__(self, definition):
        self._definition = definition

    def reference(self, name):
        return f"<ref:{name}>"

    def attribute(self, name, attribute, rest):
        node = self._definition.resources[name]
        if node.type == "OS::Heat::None":
            return {} if attribute is None else None
        scope = self._definition.scope(self)
        value = node.resolve_properties(scope).get("value")
        shown = "value"
        if node.type == "OS::Heat::TestResource":
            shown, value = "output", "test_string" if value is None else value
        if attribute is None:
            return {shown: value}
        return select(value, rest) if attribute == shown else None


def cases():
    for area in AREAS:
        for case in yaml.load((CASES / f"{area}.yaml").read_text(), CaseLoader):
            if case.get("expect_error", {}).get("stage") == "create":
                continue  # shows only once an engine makes things: tests/conformance
            yield pytest.param(case, id=case["id"])


def plain(value):
    """The value with its types, sets and odd numbers as the cases write them."""
    if isinstance(value, dict):
        return {repr(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, set):
        return {"'__set__'": plain(sorted(value))}
    if isinstance(value, float) and value != value:
        return {"'__float__'": plain("nan")}
    return f"{type(value).__name__} {value!r}"


def replaced(value):
    """What is expected, with the placeholders of the stack filled in."""
    if isinstance(value, dict):
        return {key: replaced(item) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item) for item in value]
    if isinstance(value, str):
        identity = {"<stack_id>": IDENTITY.stack_id, "<project_id>": IDENTITY.project_id}
        for placeholder, text in identity.items():
            value = value.replace(placeholder, text)
    return value


def loaded(case):
    bundle = Bundle(
        case["template"],
        environment=case.get("environment"),
        parameters=case.get("params", {}),
        files=case.get("files", {}),
    )
    return load(
        bundle,
        identity=IDENTITY,
        plugins=PLUGINS,
        functions=lambda version: build_function_table(version, PLUGINS),
        context_for=lambda node: FakeContext(),
        yaql=make_evaluator(Limits()),
    )


@pytest.mark.parametrize("case", list(cases()))
def test_functions_give_what_heat_gives(case):
    expected = case.get("expect_error")
    if expected is not None:
        with pytest.raises(TemplateError) as caught:
            loaded(case)
        if expected["match"] == "message":
            assert (caught.value.heat_type, str(caught.value)) == (
                expected["type"],
                expected["message"],
            )
        return
    definition = loaded(case)
    scope = definition.scope(Values(definition))
    wanted = replaced(case["expect"])
    given, errors = {}, {}
    for name, output in definition.outputs.items():
        try:
            given[name] = output.resolve(scope)
        except TemplateError as error:
            errors[name] = error
    assert plain(given) == plain(wanted.get("outputs", {}))
    assert errors.keys() == wanted.get("output_errors", {}).keys()
    for name, error in wanted.get("output_errors", {}).items():
        if error["match"] == "message":
            assert (errors[name].heat_type, str(errors[name])) == (error["type"], error["message"])
        elif error["match"] == "type":
            assert errors[name].heat_type == error["type"]
    if "order" in wanted:
        order = {name: sorted(node.requires) for name, node in definition.resources.items()}
        assert order == wanted["order"]
