"""Filters by tags, on both databases: a tag may be any text of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from zonda.core.store.read.pages import StackQuery
from zonda.core.store.schema.rows import StackRow
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import Store, open_store

TAGS = ["plain", 'a "quoted" one', "back\\slash", ", ", "ümläut", "nul\0nul", "half\ud800", "[]"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A stack for each tag, which has the tag ``all``, too."""
    path: Path = tmp_path_factory.mktemp("store") / "z.db"
    made = open_store(path, sealer=Sealer(make_key()))
    with made.transaction() as tx:
        for number, tag in enumerate(TAGS):
            tags = json.dumps(["all", tag])
            tx.add_stack(StackRow(f"s{number}", "p", f"n{number}", tags=tags, created_at=number))
    yield made
    made.close()


def find(store: Store, **filters: tuple[str, ...]) -> set[str]:
    return {each.stack.id for each in store.reader().list_stacks(StackQuery("p", **filters))}  # type: ignore[arg-type]


@pytest.mark.parametrize("number", range(len(TAGS)), ids=lambda number: ascii(TAGS[number]))
def test_a_stack_is_found_by_its_tag(store: Store, number: int) -> None:
    key, tag = f"s{number}", TAGS[number]
    everything = {f"s{each}" for each in range(len(TAGS))}
    assert find(store, tags=("all", tag)) == {key}
    assert find(store, any_tags=(tag, "none")) == {key}
    assert find(store, none_of_tags=(tag,)) == everything - {key}
    assert find(store, no_tags=("all", tag)) == everything - {key}
