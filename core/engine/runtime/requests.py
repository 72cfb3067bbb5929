"""Requests of other processes in table ``request``: taken up, carried out, answered.

Both texts are sealed, since a bundle may hold hidden parameters. The answer is stored by the
transaction that accepts the action, so that no request is carried out twice. Whoever waits holds a
lock: what nobody waits for any more is not carried out at all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

from zonda.core.store.read.reader import Reader
from zonda.core.store.write.duties import Foreign
from zonda.hooks.errors import Conflict, StoreError, UsageError, ZondaError
from zonda.hooks.records import replace

from .. import actions
from ..actions import Accepted, Action, Caller, wire
from ..handlers.runners import act
from ..model.effects import Step, Tx, make_step
from ..model.states import POLLING
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted
from ..services import EngineServices
from .driver import Driver

log = logging.getLogger(__name__)


class Withdrawn(Exception):
    """Nobody waits for the answer any more."""


class Requests:
    """The requests that one engine has taken up.

    ``drive``: carry out what a stack has planned. ``waits``: whether anybody waits for an answer.
    """

    def __init__(
        self, driver: Driver, drive: Callable[[str], None], waits: Callable[[str], bool]
    ) -> None:
        self._driver = driver
        self._drive = drive
        self._waits = waits
        #: Carries out an action that was asked of the owner of a tree; without a cluster of ''.
        self.act: Callable[[EngineServices, Action, Noted, str], Step] = _act_for
        self._in_hand: set[str] = set()
        #: The stacks whose plans were made for other processes, until they have come to rest.
        self.stacks: set[str] = set()

    def sweep(self) -> None:
        """Take up every request that nobody has answered."""
        self._driver.start(make_step(Tx(lambda work: work.tx.open_requests())), self._take_up)

    def forget(self, stack_ids: Iterable[str]) -> None:
        """Note that stacks are idle."""
        self.stacks.difference_update(stack_ids)
        for stack_id in stack_ids:
            self._driver.services.instances.lending.tracing.requests.pop(stack_id, None)

    def list_running(self, reader: Reader, but: Collection[str]) -> set[str]:
        """The names of ``stacks`` with a handler that may be running; not those in ``but``."""
        return {
            self._find_name(reader, stack_id)
            for stack_id in self.stacks.difference(but)
            if any(
                row.op_state != POLLING and self._driver.is_moving(row.id)
                for row in reader.resource_rows(stack_id)
            )
        }

    def _find_name(self, reader: Reader, stack_id: str) -> str:
        stack, own = reader.stack_by_id(stack_id), self._driver.services.settings.project
        return stack.name if stack.project == own else "another project"

    def _take_up(self, rows: Any, error: BaseException | None) -> None:
        for key, text, *_, root_id in rows or ():
            if key in self._in_hand:
                continue
            self._in_hand.add(key)
            if self._waits(key):
                self._carry_out(key, text, root_id)
            else:
                ended = Conflict("The command that asked for this has ended.")
                self._refuse(key, root_id, ended)

    def _carry_out(self, key: str, text: str, root_id: str) -> None:
        try:
            asked = self._driver.services.sealer.load(text)
            action = actions.from_json(asked)
            caller = self._read_caller(asked, key)
        except Conflict as error:
            self._refuse(key, root_id, error)
            return
        except (StoreError, KeyError, TypeError, ValueError) as error:
            log.warning("A request cannot be read", exc_info=error)
            self._refuse(key, root_id, UsageError("The request cannot be read."))
            return

        def note(work: UnitOfWork, accepted: Accepted) -> None:
            said = wire.format_accepted(accepted)
            if not self._waits(key) or not _answer(work, key, root_id, said):
                raise Withdrawn

        def finish(value: Any, error: BaseException | None) -> None:
            if error is None:
                self._in_hand.discard(key)
                self.stacks.add(value.stack_id)
                self._drive(value.stack_id)
            elif isinstance(error, Foreign):  # the next owner finds the request
                self._in_hand.discard(key)
            else:
                self._refuse(key, root_id, error)

        services = self._driver.services.for_caller(caller)
        self._driver.start(self.act(services, action, note, root_id), finish)

    def _read_caller(self, asked: str, key: str) -> Caller:
        """The caller of a request with its limits; raises Conflict where nobody here knows them."""
        caller = replace(actions.parse_caller(asked), request=key, wants_warnings=True)
        allowance = caller.allowance
        if allowance is None or not allowance.asked_by:
            return caller
        check = self._driver.services.settings.find_check(allowance.asked_by)
        if check is None:
            raise Conflict(
                "A command works on this stack, and cannot tell what you may do.",
                hint="Try again when it has ended.",
            )
        return replace(caller, allowance=replace(allowance, check_definition=check))

    def _refuse(self, key: str, root_id: str, why: BaseException) -> None:
        """Answer with an error, unless the tree has another owner by now: it finds the request."""
        if not isinstance(why, (ZondaError, Withdrawn)):
            log.error("A request of another process has failed", exc_info=why)
        said = wire.format_error(why)

        def finish(value: Any, error: BaseException | None) -> None:
            self._in_hand.discard(key)

        answer = partial(_answer, key=key, root_id=root_id, said=said)
        self._driver.start(make_step(Tx(answer)), finish)


def _act_for(services: EngineServices, action: Action, note: Noted, root_id: str) -> Step:
    return act(services, action, note)


def _answer(work: UnitOfWork, key: str, root_id: str, said: str) -> bool:
    """Answer a request; False if it is not there any more. Raises Foreign for no own tree."""
    return work.tx.answer_request(key, work.sealer.seal(said), work.now, root_id)
