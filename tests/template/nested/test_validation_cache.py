"""Check marks differ wherever the inputs of a nested stack differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zonda.core.template.definition.child_spec import ChildSpec
from zonda.core.template.evaluation.unknown_values import UNKNOWN
from zonda.core.template.nested import validation_cache

SPEC = ChildSpec("leaf.yaml", None, "leaf.yaml", parameters={"v": "a"}, names=("one",))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"file": "other.yaml"}, id="file"),
        pytest.param({"template": {"resources": {}}}, id="template"),
        pytest.param({"text": "resources: {}"}, id="text"),
        pytest.param({"document": "other.yaml"}, id="links"),
        pytest.param({"parameters": {"v": "b"}}, id="parameters"),
        pytest.param({"parameters": {"v": "a", 1: "b"}}, id="keys of several types"),
        pytest.param({"marks": {"v": "hidden"}}, id="marks"),
        pytest.param({"names": ("one", "two")}, id="depth"),
        pytest.param({"without": ("My::T",)}, id="registry"),
        pytest.param({"facade": {"metadata": {"a": 1}}}, id="facade"),
    ],
)
def test_a_mark_changes_with(changed):
    other = replace(SPEC, **changed)
    assert validation_cache.build_spec_key(other, ()) != validation_cache.build_spec_key(SPEC, ())


def test_a_mark_changes_with_what_is_not_known():
    assert validation_cache.build_spec_key(SPEC, ("w",)) != validation_cache.build_spec_key(
        SPEC, ()
    )


def test_no_text_is_taken_for_a_value_that_is_not_known():
    written = replace(SPEC, template={"value": repr(UNKNOWN)})
    unknown = replace(SPEC, template={"value": UNKNOWN})
    assert validation_cache.build_spec_key(written, ()) != validation_cache.build_spec_key(
        unknown, ()
    )


def test_names_count_only_where_they_decide_something():
    other = replace(SPEC, names=("two",))
    assert validation_cache.build_spec_key(other, ()) == validation_cache.build_spec_key(SPEC, ())
    by_name = validation_cache.build_spec_key(other, (), by_name=True)
    assert by_name != validation_cache.build_spec_key(SPEC, (), by_name=True)
