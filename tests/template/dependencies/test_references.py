"""References found in a value, in every notation."""

from __future__ import annotations

import pytest

from zonda.core.template.dependencies.template_summary import ReferenceCollector, build_static_tree
from zonda.hooks.function import sources


def each_once(found):
    return list({repr(source): source for source in found}.values())


@pytest.mark.parametrize(
    "tree",
    [
        pytest.param(None, id="nothing"),
        pytest.param("get_param", id="text"),
        pytest.param({"get_param": "a"}, id="call"),
        pytest.param({"get_param": ["a", {"get_param": "b"}]}, id="call-in-a-call"),
        pytest.param({"get_param": {"get_param": "b"}}, id="name-from-a-call"),
        pytest.param([{"get_attr": ["r", "a", 1]}, {"get_attr": ["r", "a", True]}], id="alike"),
        pytest.param({"get_attr": ["r", "a", {"get_param": "k"}, "x"]}, id="key-from-a-call"),
        pytest.param([{"get_attr": "r.a.b"}, {"get_attr": ["r"]}, {"get_attr": 7}], id="forms"),
        pytest.param({"get_param": "a", "get_resource": "r"}, id="no-call"),
        pytest.param({"x": {"get_param": "['a']"}, "y": {"get_param": ["a"]}}, id="text-of-a-list"),
        pytest.param(
            {"b": [{"Ref": "r"}, {"resource_facade": "metadata"}], "a": {"Fn::GetAtt": ["r", "s"]}},
            id="other-names",
        ),
        pytest.param(
            [{"get_resource": "r"}, [{"get_param": "a"}] * 3, {"get_param": "b"}], id="order"
        ),
    ],
)
def test_a_reading_tells_what_the_mentions_tell_each_thing_once(tree):
    reading = ReferenceCollector(tree)
    assert list(sources(reading)) == each_once(sources(build_static_tree(tree)))
    assert list(sources(reading)) == list(sources(reading))
