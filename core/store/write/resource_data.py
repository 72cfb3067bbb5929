"""The data of resources in a transaction: sealed values by name, read and written many at once."""

from __future__ import annotations

from ..database.protocols import Connection
from .requests import Requests

#: (name, sealed value, redact)
Entry = tuple[str, str, int]


class ResourceData(Requests):
    """The part of a transaction that has to do with the data of resources."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._connection = connection
        # By instance and name: a sealed value, and whether it is hidden.
        self._data: dict[tuple[str, str], tuple[str, int]] = {}
        # By instance: the lists that are to be filled.
        self._requested: dict[str, list[Entry]] = {}

    def data(self, resource_id: str) -> list[Entry]:
        """The entries of a resource."""
        self._flush_data()
        return self._execute(self._sql["data_of"], (resource_id,)).fetchall()

    def request_data(self, resource_id: str) -> list[Entry]:
        """The same in a list that is filled before the commit, for all that asked by then."""
        return self._requested.setdefault(resource_id, [])

    def put_data(self, resource_id: str, name: str, value: str, redact: bool) -> None:
        """Store one sealed entry of a resource's data."""
        self._data[resource_id, name] = (value, int(redact))

    def drop_data(self, resource_id: str, name: str) -> None:
        """Delete one entry of a resource's data."""
        self._data.pop((resource_id, name), None)
        self._execute(self._sql["drop_data"], (resource_id, name))

    def _flush_data(self) -> None:
        if self._data:
            entries, self._data = self._data, {}
            rows = [(*key, *entry) for key, entry in entries.items()]
            self._connection.executemany(self._sql["put_data"], rows)

    def _read_requested_data(self) -> None:
        """Fill the lists that were given away, by one statement: each wait for a server costs."""
        if self._requested:
            asked = self._connection.make_list(self._requested)
            rows = self._execute(self._sql["data_of_several"], (asked,)).fetchall()
            for key, *entry in rows:
                self._requested[key].append(tuple(entry))
