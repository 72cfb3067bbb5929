"""Secrets are masked in every notation in which programs write them into messages."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from zonda.hooks.text.redaction import redact, redact_deep, secret_texts

SECRETS = [
    pytest.param('it\'s "quoted"\\ & more', id="quotes"),
    pytest.param("müller/pass wörd=1", id="letters"),
    pytest.param("tab\tand\nline", id="controls"),
    pytest.param("plain0secret", id="plain"),
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "notation",
    [
        pytest.param(str, id="as-it-is"),
        pytest.param(json.dumps, id="json"),
        pytest.param(lambda text: json.dumps(text, ensure_ascii=False), id="json-unicode"),
        pytest.param(repr, id="repr"),
        pytest.param(ascii, id="ascii"),
        pytest.param(shlex.quote, id="shell"),
        pytest.param(quote, id="url-path"),
        pytest.param(lambda text: quote(text, safe=""), id="url"),
        pytest.param(quote_plus, id="form"),
    ],
)
def test_a_secret_is_masked_in(notation: Callable[[str], str], secret: str) -> None:
    text = f"cannot do [{notation(secret)}]"
    shown = redact(text, secret_texts([{"k": [secret]}]))
    assert shown.strip("'\"").replace("'", "").replace('"', "") == "cannot do [(hidden)]"


def test_each_long_line_of_a_secret_is_one() -> None:
    key = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\r\nab\n-----END KEY-----\n"
    texts = secret_texts([key])
    assert redact("bad line 2: MIIBVgIBADANBgkqhkiG, not ab", texts) == (
        "bad line 2: (hidden), not ab"
    )


def test_the_longest_goes_first_and_short_ones_stay() -> None:
    assert (
        redact("abcd-1 is not on", secret_texts(["abcd", "abcd-1", "on"])) == "(hidden) is not on"
    )


def test_numbers_are_secrets_and_booleans_are_not() -> None:
    assert redact("12345 True None", secret_texts([12345, True, None])) == "(hidden) True None"


def test_a_tree_of_values_is_masked_in_its_texts_only() -> None:
    tree = {"hunter2": ["my hunter2", {"a": ("hunter2-x", 7, None, True)}], "b": "other"}
    assert redact_deep(tree, secret_texts(["hunter2", "nowhere", "hunter2-x"])) == {
        "hunter2": ["my (hidden)", {"a": ["(hidden)", 7, None, True]}],
        "b": "other",
    }
    assert redact_deep("hunter2", ["hunter2"]) == "(hidden)"
    assert redact_deep(7, ["hunter2"]) == 7


@pytest.mark.parametrize("secret", ["gehäuse-42", "first-line\nsecönd-line", "a\"b'c-ö\t"])
def test_a_secret_shown_as_bytes_is_masked(secret: str) -> None:
    shown = f"refused: {secret.encode()!r}"
    assert redact(shown, secret_texts([secret]))[11:-1] == "(hidden)"
