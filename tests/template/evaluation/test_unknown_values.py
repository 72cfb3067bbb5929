"""The one unknown value: copies of it are the same object."""

from __future__ import annotations

import copy
import pickle

from zonda.core.template.evaluation.unknown_values import UNKNOWN, assume_unchanged, has_unknown


def test_a_copy_of_the_unknown_is_the_unknown() -> None:
    tree = {"a": ["x", UNKNOWN]}
    assert copy.deepcopy(tree)["a"][1] is UNKNOWN
    assert pickle.loads(pickle.dumps(tree))["a"][1] is UNKNOWN
    assert has_unknown(copy.deepcopy(tree))


def test_what_is_unknown_is_supposed_to_stay() -> None:
    before = {"a": ["w", "old", "more"], "b": 1}
    assert assume_unchanged({"a": ["x", UNKNOWN], "c": UNKNOWN}, before) == {
        "a": ["x", "old"],
        "c": None,
    }
    assert assume_unchanged([UNKNOWN, UNKNOWN], ["one"]) == ["one", None]
