"""Large values that are read again and again: read once, and everybody's own."""

import datetime

import pytest

from zonda.core.store import reopening
from zonda.core.store.reopening import LEAST, Reopening
from zonda.core.store.sealing import Sealer, make_key

LARGE = {"long": "x" * LEAST, "list": [1, {"a": None}], "number": 1.5, "pair": (1, b"2"), "é": True}


class Reads:
    def __init__(self):
        self.count = 0

    def __call__(self, text):
        self.count += 1
        return [text[:1], {"n": self.count}]


def test_a_large_text_that_is_asked_for_twice_is_not_read_a_third_time():
    reads, kept = Reads(), Reopening()
    numbers = [kept.opened("a" * LEAST, reads)[1]["n"] for _ in range(4)]
    assert numbers == [1, 2, 2, 2]
    assert kept.opened("b" * LEAST, reads)[0] == "b"


def test_a_small_text_is_read_every_time():
    reads, kept = Reads(), Reopening()
    assert kept.opened("a", reads) != kept.opened("a", reads)


def test_what_is_done_to_a_value_is_not_seen_by_others():
    reads, kept = Reads(), Reopening()
    for number in (1, 2, 2, 2):
        value = kept.opened("a" * LEAST, reads)
        assert value == ["a", {"n": number}]
        value[1]["n"] = value.append("changed")


def test_what_was_kept_longest_goes_first(monkeypatch):
    monkeypatch.setattr(reopening, "MOST", 60)
    reads, kept = Reads(), Reopening()
    for letter in "aabbccddda":
        kept.opened(letter * LEAST, reads)
    assert reads.count == 9  # "a" is read once more
    assert kept._size <= 60
    assert sum(map(len, kept._kept.values())) == kept._size


@pytest.mark.parametrize("sealed", [False, True])
def test_a_large_value_comes_back_as_it_was(sealed):
    sealer = Sealer(make_key())
    text = sealer.dump(LARGE, sealed=sealed)
    assert [sealer.load(text) for _ in range(4)] == [LARGE] * 4


def test_few_of_those_that_were_asked_for_once_are_remembered(monkeypatch):
    monkeypatch.setattr(reopening, "ONCE", 2)
    reads, kept = Reads(), Reopening()
    for letter in "abcabc":
        kept.opened(letter * LEAST, reads)
    assert (reads.count, kept._size) == (6, 0)


def test_a_value_that_cannot_be_kept_is_read_every_time():
    sealer = Sealer(make_key())
    value = {"long": "x" * LEAST, "day": datetime.date(2020, 1, 1)}
    text = sealer.seal(value)
    assert [sealer.open(text) for _ in range(4)] == [value] * 4
