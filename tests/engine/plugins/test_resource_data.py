"""Data of a resource is decrypted when it is read."""

from __future__ import annotations

import pytest

from zonda.core.store.values.opened import Opened
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.hooks.errors import StoreError

SEALER = Sealer(make_key())


def entries(**values: str) -> list[tuple[str, str, int]]:
    return [(name, SEALER.seal(value), 0) for name, value in values.items()]


def test_it_is_a_mapping_of_the_open_values() -> None:
    opened = Opened(entries(a="1", b="2"), SEALER)
    assert dict(opened) == {"a": "1", "b": "2"}
    opened["c"] = "3"
    opened["a"] = "one"
    del opened["b"]
    assert (dict(opened), len(opened), "b" in opened) == ({"a": "one", "c": "3"}, 2, False)


def test_nothing_is_opened_that_nobody_reads() -> None:
    opened = Opened([("a", "sealed:nonsense", 0), *entries(b="2")], SEALER)
    assert (opened["b"], list(opened), "a" in opened) == ("2", ["a", "b"], True)
    with pytest.raises(StoreError):
        opened["a"]


def test_no_value_is_shown() -> None:
    opened = Opened(entries(name="hush"), SEALER)
    assert opened["name"] == "hush"
    assert repr(opened) == "Opened(name)"
