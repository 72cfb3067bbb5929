"""The trees of a member of a cluster: it takes them, releases them at rest, asks their owners.

Owned by the engine's thread. Without a cluster an engine has none of this: it drives all trees.
A take-over is what a restart is where there is one engine: rows say what is due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from enum import Enum
from functools import partial
from itertools import islice

from zonda.core.store.database.placement import ASKED, CHECKED
from zonda.core.store.write.duties import Duties, Foreign, Ownership
from zonda.hooks.errors import Conflict, NotFound
from zonda.hooks.records import fields

from ..actions import Accepted, Action, Caller, parse_answer, to_json
from ..drift.interrupting import interrupt_trees
from ..handlers.runners import act
from ..model.effects import Call, Step, Tx, Wait, make_step
from ..model.states import IDLE
from ..model.unit_of_work import UnitOfWork
from ..operations import cut_off
from ..plan.accept import Noted
from ..plan.from_template import find_stack
from ..services import EngineServices
from . import sweeps
from .pool_driver import PoolDriver

#: The most free trees that are taken in one transaction: others take some, too.
AT_ONCE = 16
#: The most instances that are read in the transaction that takes trees.
MOST_LOADED = 1000
#: Seconds between two looks for an answer, at first and at most.
_FIRST_LOOK, _LAST_LOOK = 0.01, 0.25


class Placed(Enum):
    """The answer to a queue that brings a tree: driven here, in no need of that, or no room."""

    HERE = "here"
    DONE = "done"
    FULL = "full"


class Trees:
    """The trees that one engine owns.

    ``read_requests`` takes up what others ask for; ``fire`` begins drift checks that are due.
    """

    def __init__(
        self,
        driver: PoolDriver,
        ownership: Ownership,
        read_requests: Callable[[], None],
        fire: Callable[[], None],
    ) -> None:
        self._driver = driver
        self._ownership = ownership
        self._read_requests, self._fire = read_requests, fire
        driver.driven, driver.owned = ownership.roots, ownership
        # Trees that may be at rest; those that an action is on its way to; and those that somebody
        # waits for, whose owner may die meanwhile.
        self._resting: set[str] = set()
        self._held: Counter[str] = Counter()
        self._awaited: set[str] = set()
        # What may keep trees here while this member leaves, when it was last looked at.
        self._left_with: tuple[int, int] | None = None

    @property
    def has_any(self) -> bool:
        """Whether there is any tree here that may be late, or that others may ask for something."""
        return bool(self._ownership.roots)

    # -- sweeps -----------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Release trees at rest, read requests; take free trees where no queue brings them."""
        if not self._ownership.has_queue:
            self.take_free()
        resting, self._resting = self._resting & self._ownership.roots, set()
        if resting:
            self._driver.start(make_step(Tx(partial(self._release, roots=resting))))
        if self.has_any:
            self._read_requests()

    def take_free(self) -> None:
        """Take trees without an owner, as there is room; a command takes those it waits for."""
        if not self._ownership.room:
            return
        if self._ownership.takes_free:
            self._driver.start(make_step(Tx(self._claim_free)))
        elif not self._awaited <= self._ownership.roots:
            self._driver.start(make_step(Tx(self._claim_awaited)))

    def note_rested(self, stack_ids: Iterable[str]) -> None:
        """Note stacks at rest: their trees may be."""
        self._resting.update(stack_ids)

    def note_all(self) -> None:
        """Look at every tree for rest, and for free ones, whatever was told of them."""
        self._resting.update(self._ownership.roots)
        self.take_free()

    def claim_due(self, work: UnitOfWork) -> None:
        """Take the trees at rest that have a due check of drift, or put them into the queue."""
        duties, found = get_duties(work), work.tx.drift.list_due_elsewhere(work.now)
        if self._ownership.has_queue:
            for root_id in found:
                duties.offer(root_id, CHECKED)
            return
        taken = [root_id for root_id in found[: self._ownership.room] if duties.add(root_id)]
        self._take_over(work, *taken)

    def _claim_free(self, work: UnitOfWork) -> None:
        duties = get_duties(work)
        found = duties.list_free(AT_ONCE)
        self._take_over(work, *duties.claim_all(found))
        if len(found) == AT_ONCE:
            work.after.then.append(self.take_free)

    def _take_over(self, work: UnitOfWork, *roots: str) -> None:
        """Go on with trees in the transaction that claims them; some statements are for all."""
        if not roots:
            return
        work.tx.forget_trees(roots)
        interrupt_trees(work, roots)
        sweeps.take_up(work, roots)
        work.tx.load_work([*islice(work.after.look, MOST_LOADED)])
        for root_id in filter(get_duties(work).is_suspect, roots):
            cut_off.count_unfinished(work, root_id)
        work.after.then.append(lambda: self._resting.update(roots))
        work.after.then.append(self._read_requests)

    def _release(self, work: UnitOfWork, roots: set[str]) -> None:
        duties = get_duties(work)
        held = {root_id for root_id in roots if self._held[root_id]}
        work.tx.flush()
        kept = {root_id for root_id in roots - held if duties.owns(root_id)}
        kept -= duties.release(*sorted(kept))
        # what is below a root, or a check, tells of no end
        self._resting |= held | {root_id for root_id in kept if not _is_at_work(work, root_id)}

    def drive(self, root_id: str) -> None:
        """Take a tree that somebody waits for, now or once nobody looks after it any more."""
        self._await(root_id)
        self._driver.start(make_step(Tx(partial(self._take_free, root_id=root_id))))

    def _take_free(self, work: UnitOfWork, root_id: str) -> None:
        if get_duties(work).claim(root_id):
            self._take_over(work, root_id)

    def _await(self, root_id: str) -> None:
        if not self._ownership.takes_free:  # who does gets it anyway
            self._awaited.add(root_id)

    def _claim_awaited(self, work: UnitOfWork) -> None:
        duties = get_duties(work)
        wanted = sorted(root_id for root_id in self._awaited if not duties.owns(root_id))
        self._take_over(work, *duties.claim_all(wanted))

    def place(self, work: UnitOfWork, root_id: str) -> Placed:
        """Take a tree that the queue brings, unless it is here by now."""
        duties = get_duties(work)
        if duties.owns(root_id):
            return Placed.HERE
        if not duties.has_room:
            return Placed.FULL
        if not duties.claim(root_id):
            return Placed.DONE
        self._take_over(work, root_id)
        work.after.then.append(self._fire)  # a check may be all that there is to do
        return Placed.HERE

    def leave(self) -> None:
        """Take nothing more, and leave trees that nothing is called for any more to others."""
        self._ownership.is_draining = True
        keeping = self._driver.calls, self._held.total()
        if keeping != self._left_with:
            self._left_with = keeping
            self._driver.start(make_step(Tx(self._hand_over)))

    def _hand_over(self, work: UnitOfWork) -> None:
        busy = {work.stack_of(row).root for row in work.rows(self._driver.list_moving())}
        busy.update(root_id for root_id, count in self._held.items() if count)
        duties, left = get_duties(work), self._ownership.roots - busy
        work.tx.flush()
        for root_id in left - duties.release(*sorted(left)):
            duties.hand_over(root_id)

    # -- actions ----------------------------------------------------------------------------------

    def act(
        self,
        services: EngineServices,
        action: Action,
        note: Noted,
        is_cancelled: Callable[[], bool],
    ) -> Step:
        """Carry out an action here, or have the owner of its tree do so; returns ``Accepted``."""
        name = getattr(action, "stack", "")
        root_id = (yield Call(lambda: _find_tree(services, name))) if name else None
        while True:
            answer = None
            if root_id is not None and root_id not in self._ownership.roots:
                answer = yield from self._take_or_ask(services, action, root_id, is_cancelled)
            if answer is not None:
                yield Tx(partial(_note_answer, note=note, accepted=answer))
                return answer
            try:
                return (yield from self._act_here(services, action, note, root_id or ""))
            except Foreign as error:
                if root_id is None:
                    root_id = error.root_id
                elif error.root_id != root_id:
                    yield Tx(partial(self._take_other, root_id=error.root_id))

    def act_as_owner(
        self, services: EngineServices, action: Action, note: Noted, root_id: str
    ) -> Step:
        """Carry out an action that the owner of a tree was asked for; returns ``Accepted``.

        Raises Foreign where another member owns that tree by now; Conflict where another one is
        busy elsewhere, which the name of the stack may stand for since it was asked.
        """
        while True:
            try:
                return (yield from self._act_here(services, action, note, root_id))
            except Foreign as error:
                if error.root_id == root_id:
                    raise
                yield Tx(partial(self._take_other, root_id=error.root_id))

    def _act_here(
        self, services: EngineServices, action: Action, note: Noted, root_id: str
    ) -> Step:
        self._held[root_id] += 1
        try:
            return (yield from act(services, action, note))
        finally:
            self._held[root_id] -= 1

    def _take_or_ask(
        self,
        services: EngineServices,
        action: Action,
        root_id: str,
        is_cancelled: Callable[[], bool],
    ) -> Step:
        """The answer of the owner of a tree; None where that is this member by now."""
        known = services.settings
        key = known.attempt or services.ids()
        caller = Caller(**{item.name: getattr(known, item.name) for item in fields(Caller)})
        text = services.sealer.seal(to_json(action, caller))
        if (yield Tx(lambda work: self._take(work, root_id, (key, text)))):
            return None
        self._await(root_id)  # then the request is read here
        delay = _FIRST_LOOK
        while (found := (yield Call(lambda: services.reader().request(key)))).answer is None:
            if is_cancelled():
                yield Tx(lambda work: work.tx.withdraw_request(key))
                raise CancelledError
            yield Wait(delay, key)
            delay = min(2 * delay, _LAST_LOOK)
        return parse_answer(found.answer)

    def _take(self, work: UnitOfWork, root_id: str, request: tuple[str, str]) -> bool:
        """Take a tree that no other member owns; else leave a request for its owner."""
        duties = get_duties(work)
        if duties.owns(root_id):
            return True
        owner = duties.find_owner(root_id)
        if (
            duties.add(root_id, priority=ASKED)
            if owner is None
            else owner == "" and duties.claim(root_id)
        ):
            self._take_over(work, root_id)
            return True
        work.tx.add_request(*request, work.now, root_id)
        duties.news.add("request")
        return False

    def _take_other(self, work: UnitOfWork, root_id: str) -> None:
        """Take another tree that an action writes to; raises Conflict where it is busy."""
        duties = get_duties(work)
        if not duties.add(root_id, must=True) and not duties.claim(root_id):
            stack = work.tx.stack(root_id)
            name = root_id if stack is None else stack.name
            raise Conflict(
                f"Stack {name} is being worked on by another member of the cluster.",
                hint="Try again when it is at rest.",
            )
        self._take_over(work, root_id)


def _note_answer(work: UnitOfWork, note: Noted, accepted: Accepted) -> None:
    note(work, accepted)


def get_duties(work: UnitOfWork) -> Duties:
    """The duties of a transaction of a member."""
    assert work.tx.duties is not None
    return work.tx.duties


def _is_at_work(work: UnitOfWork, root_id: str) -> bool:
    """Whether a stack carries out a plan: whoever does will tell of its end."""
    stack = work.tx.stack(root_id)
    return stack is not None and stack.phase != IDLE


def _find_tree(services: EngineServices, name: str) -> str | None:
    """The stack at the top of what an action is for; None where there is none of that name."""
    try:
        return find_stack(services, name).root
    except NotFound:
        return None
