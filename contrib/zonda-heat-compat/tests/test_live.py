"""The live state of a service, in the template's words."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda.hooks import TranslationRule

from zonda_heat_compat.live import match_template


class Plugin:
    def find(self, name: str) -> str:
        return {"m1.tiny": "2", "2": "2", "m1.large": "4"}[name]


RULES = [
    TranslationRule(None, "Resolve", path, client_plugin=Plugin(), finder="find")
    for path in (["flavor"], ["n", "network"])
]
PORT = {"port": "p", "network": None, "fixed_ip": None}
FULL = {"port": "p", "network": "n", "fixed_ip": "10.0.0.1"}
FLOATING = {"port": None, "network": "n", "fixed_ip": "203.0.113.1"}


@pytest.mark.parametrize(
    ("live", "wanted", "told"),
    [
        pytest.param({"a": "x"}, {"a": None}, {}, id="nobody-gave-it"),
        pytest.param({"a": "x"}, {"a": ""}, {}, id="empty-default"),
        pytest.param({"a": False}, {"a": True}, {"a": False}, id="drift"),
        pytest.param({"a": "10"}, {"a": 10}, {"a": 10}, id="number-in-text"),
        pytest.param({"flavor": "m1.tiny"}, {"flavor": "2"}, {"flavor": "2"}, id="name-of-id"),
        pytest.param({"flavor": "m1.large"}, {"flavor": "2"}, {"flavor": "m1.large"}, id="other"),
        pytest.param({"flavor": "gone"}, {"flavor": "2"}, {"flavor": "gone"}, id="no-name"),
        pytest.param({"a": ["y", "x"]}, {"a": ["x", "y"]}, {"a": ["x", "y"]}, id="order"),
        pytest.param({"a": ["x", "z"]}, {"a": ["x", "y"]}, {"a": ["x", "z"]}, id="items"),
        pytest.param({"a": ["x", "z"]}, {"a": ["x"]}, {"a": ["x", "z"]}, id="one-more"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"b": 1}}, id="inside"),
        pytest.param({"n": [FLOATING, FULL]}, {"n": [PORT]}, {"n": [{"port": "p"}]}, id="networks"),
        pytest.param({"n": [FLOATING]}, {"n": [PORT]}, {"n": []}, id="port-taken-away"),
        pytest.param(
            {"n": [FULL | {"network": "m1.tiny"}]},
            {"n": [{"network": "2"}]},
            {"n": [{"network": "2"}]},
            id="name-of-id-of-an-item",
        ),
    ],
)
def test_only_what_the_template_says_is_told(
    live: dict[str, Any], wanted: dict[str, Any], told: dict[str, Any]
) -> None:
    assert match_template(live, wanted.get, RULES) == told
