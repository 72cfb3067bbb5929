"""Placement: trees without an owner are jobs of Procrastinate, which members take one by one.

A job carries no truth: who may write to a tree is said by its duty alone. What is lost of the queue
only takes longer, since members with room take a tree by themselves that was free for some time.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zonda.core.store.database.placement import TREE
from zonda.core.store.postgresql.connection import ServerConnection

if TYPE_CHECKING:  # half a second to import, which most commands need not pay
    from procrastinate import App

log = logging.getLogger(__name__)

#: The schema of Procrastinate's tables, beside ours.
SCHEMA = "zonda_queue"
#: The queue of trees, and the task that drives one.
QUEUE, DRIVE = "trees", "zonda.drive"
# Procrastinate names its tables without a schema. What fails in between undoes no more than that.
_BEGIN = f"SAVEPOINT {SCHEMA}; SET LOCAL search_path TO {SCHEMA}"
_END = f"SET LOCAL search_path TO DEFAULT; RELEASE SAVEPOINT {SCHEMA}"
_UNDO = f"ROLLBACK TO SAVEPOINT {SCHEMA}"
#: Seconds by which a job comes later than its tree may be taken: clocks differ a little.
_LATER = 0.5


class Placement:
    """The queue for whoever frees trees. For any thread."""

    @cached_property
    def _app(self) -> App:
        from procrastinate import App, SyncPsycopgConnector

        return App(connector=SyncPsycopgConnector())

    def enqueue(
        self, connection: ServerConnection, trees: Sequence[tuple[str, float]], priority: int
    ) -> bool:
        """See ``store.database.placement.Enqueue``."""
        from procrastinate.exceptions import ConnectorException

        by_time: dict[float, list[dict[str, Any]]] = defaultdict(list)
        for root_id, not_before in trees:
            by_time[not_before].append({"key": TREE + root_id})
        connection.settle()  # what fails before that is not the queue's fault
        connection.execute(_BEGIN)
        try:
            for not_before, jobs in by_time.items():
                when = datetime.fromtimestamp(not_before + _LATER, UTC) if not_before else None
                self._app.configure_task(
                    DRIVE,
                    queue=QUEUE,
                    priority=priority,
                    schedule_at=when,
                    connection=connection.driver,
                ).batch_defer(*jobs)
        except ConnectorException as error:
            log.warning("The queue takes no trees: %s", error.__cause__ or error)
            connection.execute(_UNDO)
            return False
        connection.execute(_END)
        return True
