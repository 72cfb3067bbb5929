"""Patterns match by Heat's rule and cannot hold the engine up."""

from __future__ import annotations

import pytest

from zonda.hooks.schema.constraints import AllowedPattern
from zonda.hooks.testing import FakeContext
from zonda.hooks.text.patterns import full_match


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        pytest.param("[a-z]+", "abc", True, id="whole"),
        pytest.param("[a-z]+", "abc1", False, id="rest-is-left"),
        pytest.param("b", "ab", False, id="only-from-the-beginning"),
        pytest.param("a|ab", "ab", False, id="alternatives-are-not-retried"),
        pytest.param("ab|a", "ab", True, id="first-alternative-fits"),
        pytest.param("", "", True, id="empty"),
        pytest.param("(?i)ABC", "abc", True, id="flag"),
        pytest.param("a$", "a\n", False, id="dollar-before-a-line-break"),
        pytest.param("^.+$", "aä", True, id="unicode"),
    ],
)
def test_match_then_compare_lengths(pattern: str, text: str, matches: bool) -> None:
    assert full_match(pattern, text, 1.0) is matches


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<a>x)(?P<a>y)", "a{99999999999}"])
def test_a_malformed_pattern_is_a_value_error(pattern: str) -> None:
    with pytest.raises(ValueError, match="malformed"):
        full_match(pattern, "x", 1.0)


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(?:" * 14 + "a" + "){2}" * 14, id="nested"),
        pytest.param("(a{1000}){1000}", id="product"),
        pytest.param(r"([^]\\](?:[a{}(]{2,}x+){50}){1000}", id="sets-hold-no-groups"),
        pytest.param("a" * 501, id="a-run-of-plain-characters"),
        pytest.param("(?:a[b])" * 251, id="a-run-through-groups"),
    ],
)
def test_a_pattern_too_large_to_compile_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="too large"):
        full_match(pattern, "x", 1.0)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("[0-9a-f]{32}", "0" * 32),
        (r"([a-z]{1,63}\.){1,127}[a-z]+", "www.example.org"),
        ("((a*)*)*", "aaa"),
        (r"\(\{9999999\}[(]{3}", "({9999999}((("),
        ("(a{0,1000}){0,1000}", "aa"),
        ("a" * 500 + ".", "a" * 501),
        ("[abc]" * 600, "a" * 600),
    ],
)
def test_ordinary_repetitions_are_fine(pattern: str, text: str) -> None:
    assert full_match(pattern, text, 5.0)


def test_a_pattern_that_explodes_is_given_up() -> None:
    with pytest.raises(ValueError, match=r"took longer than 0\.05 seconds"):
        full_match("(a|aa)+$", "a" * 60 + "b", 0.05)


@pytest.mark.parametrize("context", [None, FakeContext()], ids=["none", "fake"])
def test_a_constraint_without_an_engine_is_bounded_too(context: FakeContext | None) -> None:
    slow = AllowedPattern("(a|aa)+$")
    with pytest.raises(ValueError, match="took longer than 1 second"):
        slow.validate("a" * 60 + "b", None, context)
