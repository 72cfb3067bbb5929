"""Edges in memory are those of the table, whatever was done to them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import Store, open_store
from zonda.core.store.write.transaction import Transaction

NAMES = [f"r{number}" for number in range(8)]


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store(":memory:", sealer=Sealer(make_key()))
    with opened.transaction() as tx:
        tx.add_stack(StackRow("s", "default", "s"))
        tx.add_resources([ResourceRow(name, "s", name, "T") for name in NAMES])
    yield opened
    opened.close()


def rows(tx: Transaction) -> list[ResourceRow]:
    found = (tx.resource(name) for name in NAMES)
    return [row for row in found if row is not None]


def check(tx: Transaction) -> None:
    table = tx.edges("s")
    for row in rows(tx):
        assert list(tx.requirements(row)) == sorted(dst for src, dst in table if src == row.id)
        assert list(tx.dependants(row)) == sorted(src for src, dst in table if dst == row.id)


def change(tx: Transaction, chance: random.Random) -> None:
    there = rows(tx)
    one, other = chance.sample(there, 2)
    what = chance.random()
    if what < 0.6:
        tx.add_edges("s", [(one.id, other.id)])
    elif what < 0.8:
        tx.drop_edges("s", [(one.id, other.id)])
    elif what < 0.9:
        other.want = "ABSENT"
        tx.drop_edges_to_absent(one)
    elif len(there) > 4:
        tx.remove_resource(one)


@pytest.mark.parametrize("seed", range(20))
def test_they_are_what_the_table_says(seed: int, store: Store) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        try:
            with store.transaction() as tx:
                for _ in range(3):
                    change(tx, chance)
                check(tx)
                if chance.random() < 0.3:
                    raise KeyError
        except KeyError:
            pass
        with store.transaction() as tx:
            check(tx)


def test_an_instance_that_was_deleted_is_gone_at_once(store: Store) -> None:
    with store.transaction() as tx:
        row = tx.resource("r0")
        assert row is not None
        tx.remove_resource(row)
        assert tx.resource("r0") is None
    with store.transaction() as tx:
        assert tx.resource("r0") is None
