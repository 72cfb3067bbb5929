"""Texts of plug-ins are made storable, or refused with a clear error."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.errors import NotReady, ResourceFailure
from zonda.hooks.resources.resource import Resource
from zonda.hooks.testing import Lifecycle
from zonda.hooks.text.sanitize import (
    LONGEST,
    LONGEST_DELAY,
    describe_exception,
    get_retry_delay,
    join_sentences,
    safe_str,
    truncate_middle,
)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        pytest.param(ValueError("plain"), "ValueError: plain", id="plain"),
        pytest.param(ValueError("x\ud800y"), "ValueError: x\\ud800y", id="surrogate"),
        pytest.param(
            Mute(), "Mute: <Mute whose text cannot be made: RuntimeError>", id="str raises"
        ),
    ],
)
def test_an_error_is_named(error: Exception, shown: str) -> None:
    assert describe_exception(error) == shown
    assert safe_str(error).encode()


class Thing(Resource):
    """Stores what it is told to."""

    store: Any

    def handle_create(self) -> None:
        self.store()


@pytest.mark.parametrize(
    ("store", "why"),
    [
        pytest.param(
            lambda r: r.resource_id_set("\ud800"),
            "resource_id is not text: it holds half of a surrogate pair",
            id="id with a surrogate",
        ),
        pytest.param(
            lambda r: r.resource_id_set({"a": 1}), "resource_id is not text but dict", id="id a map"
        ),
        pytest.param(
            lambda r: r.resource_id_set(object()),
            "resource_id is not text but object",
            id="id an object",
        ),
        pytest.param(
            lambda r: r.data_set("k", "\ud800"),
            "data k is not text: it holds half of a surrogate pair",
            id="data with a surrogate",
        ),
        pytest.param(
            lambda r: r.metadata_set({"k": object()}),
            "metadata cannot be stored as JSON: Object of type object is not JSON serializable",
            id="metadata with an object",
        ),
        pytest.param(
            lambda r: r.metadata_set({"k": "\ud800"}),
            "metadata holds half of a surrogate pair, which is no text",
            id="metadata with a surrogate",
        ),
    ],
)
def test_what_cannot_be_stored_is_refused(store: Any, why: str) -> None:
    life = Lifecycle(type("It", (Thing,), {"store": store}))
    with pytest.raises(ResourceFailure) as caught:
        life.create()
    assert caught.value.message == why


def test_numbers_are_ids_too() -> None:
    life = Lifecycle(type("It", (Thing,), {"store": lambda r: r.resource_id_set(7)}))
    life.create()
    assert life.resource_id == "7"


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        pytest.param(("It needs acme", "Go on."), "It needs acme. Go on.", id="stop added"),
        pytest.param(("Two.", "", "One"), "Two. One", id="stop there, and nothing at the end"),
        pytest.param(("", " "), "", id="nothing"),
    ],
)
def test_sentences_are_not_glued(texts: tuple[str, ...], whole: str) -> None:
    assert join_sentences(*texts) == whole


def test_the_middle_of_what_is_too_long_is_left_out() -> None:
    whole = "a" * LONGEST
    assert truncate_middle(whole) == whole
    cut = truncate_middle(f"a{whole}b")
    assert cut == f"{'a' * (LONGEST - 1000)} [... 2 characters left out ...] {'a' * 999}b"


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [(0, 0.0), (1.5, 1.5), (True, 1.0), (10**400, LONGEST_DELAY), (1e308, LONGEST_DELAY)],
    ids=["none", "some", "true", "huge", "large"],
)
def test_a_delay_is_a_year_at_most(delay: Any, seconds: float) -> None:
    assert get_retry_delay(NotReady(delay)) == seconds


@pytest.mark.parametrize(
    "delay",
    [float("nan"), float("inf"), -(10**400), -0.1, None, "1", [1], Mute()],
    ids=["nan", "inf", "huge below zero", "below zero", "none", "text", "list", "mute"],
)
def test_a_delay_that_is_no_time_is_a_failure(delay: Any) -> None:
    with pytest.raises(ResourceFailure, match="with a delay that is no time"):
        get_retry_delay(NotReady(delay))
