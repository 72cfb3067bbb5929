"""The sites of a storm: one server with SQLite, or members that share a PostgreSQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from zonda.core.store.values.sealing import make_key

from ..serve_storm.server import Server
from .postgresql import PostgreSQL
from .proxy import Proxy
from .releases import Release


class Embedded:
    """One server, and its SQLite in its home."""

    def __init__(self, folder: Path, settings: str) -> None:
        home = folder / "home"
        _write(home, settings)
        self.servers = [Server(home)]
        self._file = home / "zonda.db"

    def read(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with closing(sqlite3.connect(f"file:{self._file}?mode=ro", uri=True)) as opened:
            return opened.execute(query).fetchall()

    def close(self) -> None:
        """Nothing is left that runs."""


class Cluster:
    """Members with homes of their own. ``is_cut``: each reaches PostgreSQL through a proxy."""

    def __init__(self, folder: Path, settings: str, members: int, *, is_cut: bool = False) -> None:
        self.postgresql, self._folder = PostgreSQL(), folder
        # The releases that the database has been upgraded to.
        self._releases: list[Release] = []
        self.proxies: list[Proxy] = []
        self.servers = []
        key = make_key()
        for number in range(members):
            home = folder / f"home-{number}"
            _write(home, settings)
            url = self._add_proxy() if is_cut else self.postgresql.url
            self.servers.append(Server(home, {"ZONDA_DATABASE_URL": url, "ZONDA_KEY": key}))

    def _add_proxy(self) -> str:
        self.proxies.append(Proxy(self.postgresql.socket))
        return f"postgresql://postgres@127.0.0.1:{self.proxies[-1].port}/postgres"

    def read(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.postgresql.ask(query)

    def upgrade(self) -> None:
        """Upgrade the database to the next release, beside the members of the one before.

        A release that takes away what this one adds is refused as long as they are there.
        """
        number, settings = len(self._releases) + 1, self.servers[0].settings
        release = Release(self._folder, number)
        code, said = release.upgrade(settings)
        assert code == 0, said
        self._releases.append(release)
        for old in self._releases[-3:-2]:  # which nobody runs any more
            old.remove()
        next_one = Release(self._folder, number + 1, contracts=True)
        code, said = next_one.upgrade(settings)
        assert code == 1, said
        assert "An engine uses the database" in said, said
        next_one.remove()

    def install(self, server: Server) -> None:
        """Have a member be of the last release from its next start on."""
        server.settings["PYTHONPATH"] = self._releases[-1].path

    def check_release(self) -> None:
        """All members are of the last release."""
        found = self.read("SELECT DISTINCT version FROM member")
        assert found == [(self._releases[-1].version,)], found

    def is_in_transaction(self, server: Server) -> bool:
        """Whether the session in which a member writes has a transaction that it has not ended."""
        query = (
            "SELECT 1 FROM member JOIN pg_stat_activity AS activity"
            " ON activity.application_name = 'zonda ' || member.id"
            " WHERE member.pid = %s AND activity.state LIKE 'idle in transaction%%'"
        )
        return bool(self.postgresql.ask(query, server.pid))

    def close(self) -> None:
        """End the proxies and PostgreSQL."""
        for proxy in self.proxies:
            proxy.close()
        self.postgresql.close()


def _write(home: Path, settings: str) -> None:
    home.mkdir(parents=True, mode=0o700)
    (home / "zonda.toml").write_text(settings)
