"""Registries, requirements and capabilities at random: an answer, or faults with their places."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from zonda.core.introspection import catalog
from zonda.core.introspection.type_resolution import Explanation, explain_type
from zonda.core.plugins.manager import Plugins
from zonda.core.template.files import file_references
from zonda.core.template.source.bundle import Bundle, Limits
from zonda.hooks.errors import ValidationErrors
from zonda.hooks.resources.resource import Resource


class Thing(Resource):
    pass


PLUGINS = Plugins(resource_types={"Thing": Thing, "Other::Thing": Thing})
NAMES = st.sampled_from(
    ["A", "A::B", "A::*", "*", "Thing", "Other::*", "a.yaml", "b.yaml", "resources", "hooks", "r"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, width=16),
    NAMES,
    st.sampled_from(["", ">=2", "<1,", ">=1,<3", "puppet", "2.10", "resource_type", "é\u2028"]),
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(NAMES, st.integers(0, 2)), inner, max_size=3),
    ),
    max_leaves=6,
)
REGISTRY = st.dictionaries(NAMES, DATA, max_size=6)
TAGS = st.dictionaries(st.sampled_from(["v", "deployment", "resource_type"]), DATA, max_size=3)


def explained(bundle: Bundle, name: str) -> Explanation | ValidationErrors:
    try:
        return explain_type(bundle, PLUGINS, Limits(), name, "r")
    except ValidationErrors as error:
        return error


@settings(max_examples=300, deadline=None)
@given(registry=REGISTRY, requires=TAGS, capabilities=st.one_of(DATA, TAGS), name=NAMES)
def test_an_answer_or_faults_with_places(
    registry: Any, requires: Any, capabilities: Any, name: str
) -> None:
    environment = yaml.safe_dump({"resource_registry": registry, "requires": requires})
    template = yaml.safe_dump({"heat_template_version": "rocky", "capabilities": capabilities})
    files = {"a.yaml": template, "b.yaml": "heat_template_version: rocky\n"}
    bundle = Bundle("", environment_files=(("e.yaml", environment),), files=files)

    found = explained(bundle, name)
    if isinstance(found, ValidationErrors):
        assert {fault.place.file if fault.place else "" for fault in found.errors} == {"e.yaml"}
        return
    answers = [found.cls_name, found.template, found.error]
    assert len([each for each in answers if each]) == 1
    if found.error is None:
        chosen = [rule for rule in found.rules if rule.chosen]
        assert chosen or found.template == name
    elif found.error.at:
        assert found.error.place is not None


@settings(max_examples=200, deadline=None)
@given(data=st.fixed_dictionaries({}, optional={"capabilities": st.one_of(DATA, TAGS)}))
def test_sections_of_templates(data: Any) -> None:
    offer = catalog.read_entry("t.yaml", yaml.safe_dump(data), Limits())

    assert all(fault.place is not None for fault in offer.faults)
    if not offer.faults:
        assert catalog.summarize([offer], {}) is not None


@settings(max_examples=200, deadline=None)
@given(data=DATA)
def test_names_of_files_are_looked_for_in_anything(data: Any) -> None:
    whole = {"resource_registry": data, "parameters": data, "resources": {"r": data}}

    for look in (
        file_references.find_template_files,
        file_references.find_registry_files,
        file_references.find_value_files,
    ):
        assert all(isinstance(reference.key, str) for reference in look(whole))
    assert file_references.is_dynamic(whole) in (True, False)
