"""The progress of operations, as one member tells it to the others."""

from __future__ import annotations

import dataclasses

from zonda.core.cluster.progress import ProgressNews, parse_progress
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.store.read.views import EventView

EVENT = EventView(1, "e", "s", "s", 1, None, "a", "T", None, "CREATE", "COMPLETE", "", 0.0)


def read(news: ProgressNews) -> list[tuple[str, str, str]]:
    return [
        (each.stack_id, each.resource, each.message)
        for text in news.write()
        for each in parse_progress(text)
    ]


def test_only_a_message_that_has_changed_is_told() -> None:
    news = ProgressNews()
    news.take_notices([Notice("s", None, "a", "one", 1.0), Notice("s", None, "a", "two", 1.0)])
    assert read(news) == [("s", "a", "two")]
    news.take_notices([Notice("s", None, "a", "two", 1.0)])
    assert read(news) == []


def test_the_end_of_an_operation_or_of_a_stack_is_told_if_its_progress_was() -> None:
    news = ProgressNews()
    news.take_notices([Notice("s", None, name, "waits", 1.0) for name in ("a", "b", "c")])
    assert len(read(news)) == 3
    news.take_notices([Notice("s", EVENT), Notice("t", EVENT)])
    assert read(news) == [("s", "a", "")]
    news.take_notices([Notice("s", dataclasses.replace(EVENT, resource_name=""))])
    assert read(news) == [("s", "b", ""), ("s", "c", "")]


def test_texts_are_short_enough_for_a_notification() -> None:
    news = ProgressNews()
    news.take_notices([Notice("s", None, f"a{n}", "\N{SNOWMAN}" * 900, 1.0) for n in range(40)])
    texts = list(news.write())
    assert all(len(text.encode()) < 7_600 for text in texts)
    assert sum(len(parse_progress(text)) for text in texts) == 40
