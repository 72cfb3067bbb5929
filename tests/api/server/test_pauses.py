"""Short pauses while a server runs; the interpreter is as before afterwards."""

from __future__ import annotations

import gc
import json
import sys
from typing import Any

import pytest

from zonda.core.api.http import calls
from zonda.core.api.server import pauses


def test_threads_give_way_soon_and_full_collections_are_rare() -> None:
    before = sys.getswitchinterval(), gc.get_threshold()
    with pauses.keep_pauses_short():
        assert sys.getswitchinterval() == pytest.approx(pauses.SWITCH_INTERVAL)
        assert gc.get_threshold() == pauses.COLLECTION
        assert gc.get_freeze_count() > 0
    assert (sys.getswitchinterval(), gc.get_threshold()) == before


MANY = [
    {"name": f"r{number}", "values": [number, None, True, 'quoted "é"']} for number in range(101)
]


@pytest.mark.parametrize(
    ("value", "pieces"),
    [
        (MANY, 101),
        ({"stack": {"name": "s", "resources": MANY, "tags": []}}, 101),
        ({"resource_changes": {"added": MANY, "deleted": MANY}}, 202),
        ({"events": MANY, 1: "one", None: 2.5}, 101),
        ({"stack": {"name": "s", "tags": ["a", "b"]}}, 0),
        ("text", 0),
    ],
)
def test_long_lists_are_encoded_item_by_item_as_the_same_text(
    value: Any, pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[Any] = []

    def encode(part: Any) -> str:
        encoded.append(part)
        return json.dumps(part)

    monkeypatch.setattr(calls, "_encode", encode)
    assert calls.Answer(200, value).format_body() == json.dumps(value).encode()
    assert sum(each in MANY for each in encoded) == pieces
