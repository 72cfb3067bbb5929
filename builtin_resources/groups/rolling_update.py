"""The arithmetic of rolling updates: how a group changes in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from zonda.hooks import ResourceFailure, constraints, properties

MIN_IN_SERVICE: Final = "min_in_service"
MAX_BATCH_SIZE: Final = "max_batch_size"
PAUSE_TIME: Final = "pause_time"

#: Seconds between two batches, at most.
LONGEST_PAUSE: Final = 3600

_Schema = properties.Schema


@dataclass(frozen=True, slots=True)
class UpdatePolicy:
    """A policy of batches: ``batch`` members at once, ``pause`` seconds in between.

    ``in_service`` members, at least, are left alone meanwhile: the group grows for that if need be.
    """

    batch: int
    in_service: int = 0
    pause: float = 0.0

    def check(self, what: str = PAUSE_TIME) -> None:
        """Raise ValueError for a pause that is too long."""
        if self.pause > LONGEST_PAUSE:
            raise ValueError(
                f"Maximum {what} allowed is 1hr({LONGEST_PAUSE}s), provided {self.pause:g} seconds."
            )

    def check_time(self, target: int, present: int, current: int, seconds: float) -> None:
        """Raise ResourceFailure where the pauses alone take as long as the stack may take."""
        pauses = max(len(list(list_batches(self, target, present, current))) - 1, 0)
        if self.pause and pauses * self.pause >= seconds:
            raise ResourceFailure("The current update policy will result in stack update timeout.")


def compute_next_batch(
    pace: UpdatePolicy, target: int, present: int, current: int
) -> tuple[int, int]:
    """(size of the group after the next batch, members that get the new definition in it).

    ``target``: the size it shall have; ``present``: the members it has; ``current``: those of them
    that have the new definition and stay. A member that is made counts as one that gets it.
    """
    kept = min(pace.in_service, target, present)
    batch = min(pace.batch, max(target - current, 0))
    return batch + max(min(present, target - batch), kept), batch


def list_batches(
    pace: UpdatePolicy, target: int, present: int, current: int
) -> Iterator[tuple[int, int]]:
    """The batches that are to come."""
    while not (current >= present and present == target):
        size, batch = compute_next_batch(pace, target, present, current)
        yield size, batch
        current += batch - max(size - max(present, target), 0)
        present = size


def make_policy_schema(*, with_service: bool, what: str) -> dict[str, properties.Schema]:
    """The properties of one entry of an update policy."""
    schema = {
        MAX_BATCH_SIZE: _Schema(
            _Schema.INTEGER,
            f"The most members to {what} at once.",
            constraints=[constraints.Range(min=1)],
            default=1,
        ),
        PAUSE_TIME: _Schema(
            _Schema.NUMBER,
            "The seconds to wait between two batches.",
            constraints=[constraints.Range(min=0)],
            default=0,
        ),
    }
    if with_service:
        schema[MIN_IN_SERVICE] = _Schema(
            _Schema.INTEGER,
            "The members that are left alone at least, while others change.",
            constraints=[constraints.Range(min=0)],
            default=0,
        )
    return schema


def read_update_policy(given: dict[str, object] | None) -> UpdatePolicy | None:
    """The policy in an entry of an update policy; None without one."""
    if not given:
        return None
    service, batch, pause = (
        given.get(name) for name in (MIN_IN_SERVICE, MAX_BATCH_SIZE, PAUSE_TIME)
    )
    assert isinstance(batch, int)
    assert isinstance(pause, int | float)
    return UpdatePolicy(batch, service if isinstance(service, int) else 0, pause)
