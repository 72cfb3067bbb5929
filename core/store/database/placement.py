"""The placement of trees that wait for a member of a cluster, as far as a transaction knows it.

``core.cluster`` has the queue; whoever frees a tree puts it there in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

#: The beginning of the keys of duties for trees; the id of the stack at the top stands behind it.
TREE = "tree:"
#: The priorities of trees that wait: one that somebody has asked something of, any other, and one
#: that is only to be checked for drift.
ASKED, ORDINARY, CHECKED = 10, 0, -10
#: Puts trees into the queue in the transaction of a connection, each with the time (of the
#: database) before which nobody takes it; False where that was not possible.
Enqueue = Callable[[Any, Sequence[tuple[str, float]], int], bool]


def enqueue_nothing(connection: Any, trees: Sequence[tuple[str, float]], priority: int) -> bool:
    """Put nothing anywhere: there is no queue."""
    return False
