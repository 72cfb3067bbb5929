"""Commands that other processes left in table ``request``: taken up, carried out, answered.

Both texts are sealed, since a bundle may hold hidden parameters.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from zonda.hooks.errors import StoreError, UsageError

from . import actions, answers
from .acting import act
from .driver import Driver
from .effects import Step, Tx
from .work import Work

log = logging.getLogger(__name__)


class Requests:
    """The requests that one engine has taken up. ``drive``: carry out what a stack has planned."""

    def __init__(self, driver: Driver, drive: Callable[[str], None]) -> None:
        self._driver = driver
        self._drive = drive
        self._in_hand: set[str] = set()

    def sweep(self) -> None:
        """Take up every request that nobody has answered."""
        self._driver.start(_reading(), self._found)

    def _found(self, rows: Any, error: BaseException | None) -> None:
        for key, text, *_ in rows or ():
            if key not in self._in_hand:
                self._in_hand.add(key)
                self._carry_out(key, text)

    def _carry_out(self, key: str, text: str) -> None:
        try:
            action = actions.from_json(self._driver.room.sealer.load(text))
        except (StoreError, KeyError, TypeError, ValueError) as error:
            log.warning("A request cannot be read", exc_info=error)
            self._answer(key, answers.refused(UsageError("The request cannot be read.")))
            return

        def done(value: Any, error: BaseException | None) -> None:
            said = answers.accepted(value) if error is None else answers.refused(error)
            self._answer(key, said)
            if error is None:
                self._drive(value.stack_id)

        self._driver.start(act(self._driver.room, action), done)

    def _answer(self, key: str, said: str) -> None:
        sealed = self._driver.room.sealer.seal(said)

        def done(value: Any, error: BaseException | None) -> None:
            self._in_hand.discard(key)

        self._driver.start(single(lambda work: _store(work, key, sealed)), done)


def _store(work: Work, key: str, sealed: str) -> None:
    work.tx.answer_request(key, sealed, work.now)


def _reading() -> Step:
    return (yield Tx(lambda work: work.tx.open_requests()))


def single(run: Callable[[Work], Any]) -> Step:
    """A step of one unit; gives what the unit gave."""
    return (yield Tx(run))
