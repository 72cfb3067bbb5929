"""Whatever a template's author writes, a function answers with a value or an error of the room."""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins
from zonda.core.template.load import load
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.core.template.validation.resource import NullValues
from zonda.hooks.errors import TemplateError
from zonda.hooks.function import resolve, sources, validate

VERSIONS = ("2013-05-23", "2015-04-30", "2016-10-14", "2021-04-16")
NAMES = sorted({name for version in VERSIONS for name in build_function_table(version).functions})
KEYS = (
    "template params for_each permutations expression data keys values scheme host port path query "
    "$a %x% a b Name"
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 70000)
    | st.floats(-2, 2)
    | st.sampled_from(
        ["", "a", "b", "$a %x%", ",", "web", "p", "metadata", "md5", "$.data", "$.data.x + 1"]
    )
)


def arguments(inner):
    calls = st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=1)
    maps = st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=4)
    return st.lists(inner, max_size=4) | maps | calls


trees = st.recursive(scalars, arguments, max_leaves=12)
calls = st.dictionaries(st.sampled_from(NAMES), trees, min_size=1, max_size=1)


def loaded(version, tree):
    template = {
        "heat_template_version": version,
        "parameters": {"p": {"type": "json", "default": {"a": [1, "x", None]}}},
        "outputs": {"o": {"value": tree}},
    }
    return load(
        Bundle(json.dumps(template)),
        identity=Identity("id", "stack", "project"),
        plugins=Plugins(),
        functions=build_function_table,
        yaql=lambda expression, data, spend: data,
    )


@given(st.sampled_from(VERSIONS), calls)
def test_a_function_gives_a_value_or_an_error_of_ours(version, tree):
    try:
        definition = loaded(version, tree)
    except TemplateError:
        return
    value = definition.outputs["o"].value
    scope = definition.scope(NullValues())
    list(sources(value))
    list(validate(value, scope))
    with suppress(TemplateError, TypeError, ValueError, KeyError):
        resolve(value, scope)
    with suppress(TemplateError):  # whoever reads an output sees nothing else
        definition.outputs["o"].resolve(definition.scope(NullValues()))
