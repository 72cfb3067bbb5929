"""Copies of large values that many read: made once, few of them kept."""

from zonda.core.store.values import derived
from zonda.core.store.values.derived import Derived
from zonda.core.store.values.reopening import LEAST
from zonda.core.store.values.sealing import Sealer, make_key


class Made:
    def __init__(self):
        self.of = []

    def __call__(self, value):
        self.of.append(value)
        return (value, len(self.of))


def test_what_was_made_of_a_source_is_made_once():
    kept, made = Derived(), Made()
    one, other = b"1", b"2"
    for source in (one, one, other, one):
        assert kept.get(source, "x", lambda source=source: made(source))[0] == source
    kept.get(one, "y", lambda: made("y"))
    assert made.of == [one, other, "y"]


def test_what_was_asked_for_longest_ago_goes_first(monkeypatch):
    monkeypatch.setattr(derived, "MOST", 20)
    kept, made = Derived(), Made()
    a, b, c, large = (bytes([letter]) * 10 for letter in b"abcd")
    for source in (a, b, a, c, a, b):
        kept.get(source, "x", lambda source=source: made(source))
    assert made.of == [a, b, c, b]  # b went when c came
    large *= 3
    kept.get(large, "x", lambda: made(large)), kept.get(large, "x", lambda: made(large))
    assert made.of[4:] == [large, large]
    assert kept._size == 20


def test_copies_are_kept_of_large_values_of_kept_maps():
    sealer, made = Sealer(make_key()), Made()
    text = sealer.seal({"large": ["x" * LEAST], "small": 1})
    for _ in range(2):
        sealer.load_map(text)
    first, second = sealer.load_map(text), sealer.load_map(text)
    assert first.derive("small", "x", made) is None
    assert first.derive("large", "x", made) is second.derive("large", "x", made)
    assert first.derive("large", "y", made)[1] == 2
    assert made.of == [["x" * LEAST]] * 2
