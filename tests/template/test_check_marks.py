"""Marks of checks tell apart whatever a nested stack is made from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zonda.core.template import check_marks
from zonda.core.template.child_spec import ChildSpec
from zonda.core.template.unknown import UNKNOWN

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
    assert check_marks.of_spec(other, ()) != check_marks.of_spec(SPEC, ())


def test_a_mark_changes_with_what_is_not_known():
    assert check_marks.of_spec(SPEC, ("w",)) != check_marks.of_spec(SPEC, ())


def test_no_text_is_taken_for_a_value_that_is_not_known():
    written = replace(SPEC, template={"value": repr(UNKNOWN)})
    unknown = replace(SPEC, template={"value": UNKNOWN})
    assert check_marks.of_spec(written, ()) != check_marks.of_spec(unknown, ())


def test_names_count_only_where_they_decide_something():
    other = replace(SPEC, names=("two",))
    assert check_marks.of_spec(other, ()) == check_marks.of_spec(SPEC, ())
    by_name = check_marks.of_spec(other, (), by_name=True)
    assert by_name != check_marks.of_spec(SPEC, (), by_name=True)
