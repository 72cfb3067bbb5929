"""Members of a cluster in one process: engines with threads on one database."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.conftest import KEY, Bench
from tests.engine.loading import make_loading

from zonda.core.engine.runtime.engine import Engine
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import Store, open_store
from zonda.core.store.write.duties import Ownership
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids


class Cluster:
    """Members on one file: SQLite lets one write at a time, which is what the fence gives."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "z.db"
        self.bench = Bench(open_store(":memory:", sealer=Sealer(KEY)))
        self.clock = SystemClock()
        self.engines: dict[str, Engine] = {}
        self.stores: list[Store] = [self.bench.store]

    def execute(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.path, timeout=30.0)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def join(self, name: str, most: int = 200, *, takes_free: bool = True) -> Store:
        """A store that is fenced by the member ``name``."""
        store = open_store(self.path, sealer=Sealer(KEY))
        self.stores.append(store)
        self.execute("INSERT INTO member VALUES (?, '', 0, '', '', '', 0, 0, 0, 0)", name)
        store.ownership = Ownership(name, most, self.clock.now, takes_free=takes_free)
        return store

    def start(self, name: str, most: int = 200, drive: str = "all") -> Engine:
        """The engine of a member, started; ``drive``: ``own`` for that of a command."""
        store = self.join(name, most, takes_free=drive == "all")
        engine = self.engines[name] = Engine(
            store,
            self.bench.plugins,
            clock=self.clock,
            scheduler=Scheduler(self.clock),
            ids=Ids(self.clock),
            random=random.Random(0),
            lender=self.bench.lender,
            load=make_loading(self.bench.plugins, self.clock, self.bench.lender),
        )
        engine.start(drive)
        return engine

    def remove(self, name: str) -> None:
        """What a reaper does with a member whose lease is over."""
        self.execute(
            "UPDATE duty SET member = NULL, takeovers = takeovers + 1 WHERE member = ?", name
        )
        self.execute("DELETE FROM member WHERE id = ?", name)

    def list_duties(self) -> dict[str, str | None]:
        return dict(self.execute("SELECT key, member FROM duty"))  # type: ignore[arg-type]

    def wait_until(self, holds: Callable[[], bool], seconds: float = 60.0) -> None:
        until = self.clock.monotonic() + seconds
        while not holds():
            assert self.clock.monotonic() < until, "it has not come about"
            self.clock.pause(0.01)

    def close(self) -> None:
        for engine in self.engines.values():
            engine.stop(20.0)
        for store in self.stores:
            store.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()
