"""Large values that are read again and again: read once, and everybody's own."""

import datetime

import pytest

from zonda.core.store.values import reopening
from zonda.core.store.values.reopening import LEAST, Reopening
from zonda.core.store.values.sealing import Sealer, make_key

LARGE = {"long": "x" * LEAST, "list": [1, {"a": None}], "number": 1.5, "pair": (1, b"2"), "é": True}


class Reads:
    def __init__(self):
        self.count = 0

    def __call__(self, text):
        self.count += 1
        return [text[:1], {"n": self.count}]


def test_a_large_text_that_is_asked_for_twice_is_not_read_a_third_time():
    reads, kept = Reads(), Reopening()
    numbers = [kept.open_text("a" * LEAST, reads)[1]["n"] for _ in range(4)]
    assert numbers == [1, 2, 2, 2]
    assert kept.open_text("b" * LEAST, reads)[0] == "b"


def test_a_small_text_is_read_every_time():
    reads, kept = Reads(), Reopening()
    assert kept.open_text("a", reads) != kept.open_text("a", reads)


def test_what_is_done_to_a_value_is_not_seen_by_others():
    reads, kept = Reads(), Reopening()
    for number in (1, 2, 2, 2):
        value = kept.open_text("a" * LEAST, reads)
        assert value == ["a", {"n": number}]
        value[1]["n"] = value.append("changed")


def test_what_was_kept_longest_goes_first(monkeypatch):
    monkeypatch.setattr(reopening, "MOST", 60)
    reads, kept = Reads(), Reopening()
    for letter in "aabbccddda":
        kept.open_text(letter * LEAST, reads)
    assert reads.count == 9  # "a" is read once more
    assert kept._size <= 60
    assert sum(cut.size for cut in kept._kept.values()) == kept._size


@pytest.mark.parametrize("sealed", [False, True])
def test_a_large_value_comes_back_as_it_was(sealed):
    sealer = Sealer(make_key())
    text = sealer.dump(LARGE, sealed=sealed)
    assert [sealer.load(text) for _ in range(4)] == [LARGE] * 4


def test_few_of_those_that_were_asked_for_once_are_remembered(monkeypatch):
    monkeypatch.setattr(reopening, "ONCE", 2)
    reads, kept = Reads(), Reopening()
    for letter in "abcabc":
        kept.open_text(letter * LEAST, reads)
    assert (reads.count, kept._size) == (6, 0)


def test_a_value_that_cannot_be_kept_is_read_every_time():
    sealer = Sealer(make_key())
    value = {"long": "x" * LEAST, "day": datetime.date(2020, 1, 1)}
    text = sealer.seal(value)
    assert [sealer.open(text) for _ in range(4)] == [value] * 4


def test_of_a_map_only_what_is_asked_for_is_made(monkeypatch):
    sealer = Sealer(make_key())
    text = sealer.seal({"a": ["x" * LEAST], "b": [2]})
    sealer.load(text), sealer.load(text)
    made, loads = [], reopening.marshal.loads
    monkeypatch.setattr(reopening.marshal, "loads", lambda part: made.append(part) or loads(part))
    found = sealer.load_map(text)
    assert (found["b"], "a" in found, "c" in found, len(found)) == ([2], True, False, 2)
    assert found["b"] is found["b"]
    assert len(made) == 1
    found["b"].append("changed")
    assert sealer.load_map(text)["b"] == sealer.load(text)["b"] == [2]
    assert dict(sealer.load_map(text)) == sealer.load(text)


def test_a_map_is_the_same_whether_it_is_kept_or_not():
    sealer = Sealer(make_key())
    assert sealer.load_map(None) == {}
    for value in (LARGE, {"short": 1}, {}):
        text = sealer.seal(value)
        assert [dict(sealer.load_map(text)) for _ in range(4)] == [value] * 4
