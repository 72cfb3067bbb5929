"""The formats of sealed values."""

from __future__ import annotations

import base64

import pytest
from cryptography.fernet import Fernet

from zonda.core.store.values.sealing import Sealer, make_key
from zonda.hooks.errors import StoreError

VALUE = {"a": [1, "ü", None], "b": b"bytes"}


def test_a_value_of_the_format_before_is_read() -> None:
    key = make_key()
    token = Fernet(key).encrypt(b'{"a":1}').decode()
    assert Sealer(key).open(f"sealed:{token}") == {"a": 1}
    assert Sealer(make_key(), key).load_map(f"sealed:{token}") == {"a": 1}
    with pytest.raises(StoreError, match="cannot be opened"):
        Sealer(make_key()).open(f"sealed:{token}")


def test_what_another_sealer_of_the_key_has_sealed_is_read() -> None:
    key = make_key()
    sealed = Sealer(key).seal(VALUE)
    assert sealed.startswith("sealed:2:")
    assert Sealer(key).open(sealed) == VALUE


def test_one_value_is_never_sealed_to_the_same_text() -> None:
    key = make_key()
    first, second = Sealer(key), Sealer(key)
    assert len({first.seal(VALUE), first.seal(VALUE), second.seal(VALUE)}) == 3


@pytest.mark.parametrize("place", [0, 20, 30, -1])
def test_a_value_that_was_changed_is_refused(place: int) -> None:
    sealer = Sealer(make_key())
    content = bytearray(base64.b64decode(sealer.seal(VALUE).removeprefix("sealed:2:")))
    content[place] ^= 1
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        sealer.open(f"sealed:2:{base64.b64encode(content).decode()}")
    assert "'zonda db check' names its row" in caught.value.hint


@pytest.mark.parametrize("text", ["sealed:2:", "sealed:2:AAAA", "sealed:2:no base64!", "sealed:ü"])
def test_what_is_no_sealed_value_is_refused(text: str) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        Sealer(make_key()).open(text)
