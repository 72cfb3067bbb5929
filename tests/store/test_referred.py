"""Which instance of a tree a reference means: by its id, its physical id, or what it shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store

SEALER = Sealer(make_key())


def row(name: str, stack_id: str, *, shows: str = "", sealed: bool = False) -> ResourceRow:
    found = ResourceRow(f"id-{name}", stack_id, name, "T")
    found.physical_id = f"physical-{name}"
    found.reference = SEALER.dump(shows, sealed=sealed) if shows else None
    return found


@pytest.fixture
def reader() -> Iterator[Reader]:
    store = open_store(":memory:", sealer=SEALER)
    going = row("going", "root", shows="gone")
    going.want = "ABSENT"
    with store.transaction() as tx:
        for key, root in (("root", "root"), ("nested", "root"), ("other", "other")):
            tx.add_stack(StackRow(key, "default", key, root_id=root))
        tx.add_resources(
            [
                row("plain", "root", shows="url\u00e9"),
                row("sealed", "nested", shows="secret", sealed=True),
                row("dumb", "nested"),
                going,
                row("elsewhere", "other", shows="far"),
            ]
        )
    yield store.reader()
    store.close()


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        pytest.param("id-plain", "id-plain", id="id"),
        pytest.param("physical-dumb", "id-dumb", id="physical-id"),
        pytest.param("url\u00e9", "id-plain", id="shown"),
        pytest.param("secret", "id-sealed", id="shown-sealed"),
        pytest.param("physical-sealed", "id-sealed", id="physical-id-of-what-shows-a-secret"),
        pytest.param("gone", None, id="about-to-go"),
        pytest.param("far", None, id="another-tree"),
        pytest.param("id-elsewhere", None, id="id-in-another-tree"),
        pytest.param("nothing", None, id="nobody"),
    ],
)
def test_a_reference_means_one_instance_of_the_tree(
    reader: Reader, reference: str, found: str | None
) -> None:
    assert reader.find_referred("root", reference) == found


def test_references_that_are_not_sealed_are_compared_by_the_database(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str | None] = []
    load = Sealer.load
    monkeypatch.setattr(Sealer, "load", lambda self, text: opened.append(text) or load(self, text))
    assert reader.find_referred("root", "nothing") is None
    assert [SEALER.is_sealed(text) for text in opened] == [True]
