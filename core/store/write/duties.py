"""The duties of a member of a cluster, in a transaction: which trees it owns, and how that changes.

Called by the engine through ``Transaction.duties``. Without a cluster there are none: one process
writes to all trees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ..database.faults import Unusable
from ..database.placement import ORDINARY, TREE, Enqueue, enqueue_nothing
from ..database.protocols import Connection, Cursor


class FencedOut(Unusable):
    """This member was removed: its trees are given to others. It ends, and may join anew."""


class Foreign(Exception):
    """A transaction would write to a tree of another member. ``root_id``: the stack at its top."""

    def __init__(self, root_id: str) -> None:
        super().__init__(root_id)
        self.root_id = root_id


class Ownership:
    """The trees that this process owns as a member, by committed transactions.

    ``most``: how many it takes; ``now``: the clock of the cluster. ``takes_free``: also those that
    nobody has asked it for. ``tell``: tells the other members of a new ``duty`` or ``request``.
    ``enqueue``: see ``Enqueue``. ``suspects``: those whose owners have died without any progress.
    """

    def __init__(
        self,
        member: str,
        most: int,
        now: Callable[[], float],
        *,
        takes_free: bool = True,
        tell: Callable[[str], None] = lambda what: None,
        enqueue: Enqueue = enqueue_nothing,
    ) -> None:
        self.member = member
        self.most = most
        self.now = now
        self.takes_free = takes_free
        self.tell = tell
        self.enqueue = enqueue
        self.is_draining = False
        #: Whether a queue brings free trees here, so that nobody need look for them all the time.
        self.has_queue = False
        #: Called in the engine's thread with trees that this member owns no more.
        self.on_lost: Callable[[Collection[str]], None] = lambda roots: None
        self.roots: set[str] = set()
        self.suspects: set[str] = set()

    @property
    def room(self) -> int:
        """The number of trees that may be taken now."""
        return 0 if self.is_draining else max(0, self.most - len(self.roots))


class Duties:
    """The duties as one transaction sees and changes them."""

    def __init__(self, connection: Connection, ownership: Ownership) -> None:
        self._connection = connection
        self._execute, self._sql = connection.execute, connection.dialect.sql
        self._wait_for_others = connection.wait_for_others
        self._ownership = ownership
        fence = self._sql["member_fence"]
        self._fence: Cursor | None = self._execute(fence, (ownership.member,))
        # Trees that are to be placed, by priority.
        self._waiting: dict[int, list[str]] = {}
        self._gained: dict[str, int] = {}
        self._lost: set[str] = set()
        self._made: set[str] = set()
        #: The news that the other members are told after the commit.
        self.news: set[str] = set()

    def check_fence(self) -> None:
        """Raise FencedOut for a member that was removed; else it stays until the commit.

        The question was the first of the transaction, and has travelled with what followed it.
        """
        if self._fence is not None:
            found, self._fence = self._fence.fetchone(), None
            if not found:
                raise FencedOut("This process is no member of the cluster any more.")

    def lock_quotas(self, project: str) -> None:
        """Wait for members that count what a project has; from now to the commit they wait."""
        self._wait_for_others(f"quotas of {project}")

    def owns(self, root_id: str) -> bool:
        """Whether this member owns a tree."""
        if root_id in self._gained:
            return True
        return root_id in self._ownership.roots and root_id not in self._lost

    def may_write(self, root_id: str) -> bool:
        """Whether this transaction may write to a tree: it is owned, or was made here."""
        return root_id in self._made or self.owns(root_id)

    def check_writable(self, root_id: str) -> None:
        """Raise Foreign for a tree of another member, or of none."""
        if not self.may_write(root_id):
            raise Foreign(root_id)

    def add(
        self, root_id: str, *, must: bool = False, priority: int = ORDINARY, is_new: bool = False
    ) -> bool:
        """Begin the duty for a tree that has none; returns whether this member owns it now.

        ``must``: also where there is no room for another one. Else it waits by its ``priority``.
        ``is_new``: the tree is made here, so that nobody else has it, and nothing is waited for.
        """
        has_room = must or self._room > 0
        inserted = self._insert(root_id, self._ownership.member if has_room else None)
        if not is_new and inserted.rowcount != 1:
            return False
        self._made.add(root_id)
        if has_room:
            self._gain(root_id, 0)
        else:
            self._place(root_id, priority)
        return has_room

    def offer(self, root_id: str, priority: int) -> None:
        """Begin the duty for a tree that has none, for any member to take."""
        if self._insert(root_id, None).rowcount == 1:
            self._place(root_id, priority)

    def _insert(self, root_id: str, owner: str | None) -> Cursor:
        values = (TREE + root_id, owner, self._ownership.now(), 0.0, 0)
        return self._execute(self._sql["duty_add"], values)

    def _place(self, root_id: str, priority: int) -> None:
        self._waiting.setdefault(priority, []).append(root_id)

    def finish(self) -> None:
        """Before the commit: have the trees that wait for a member placed."""
        for priority, roots in self._waiting.items():
            trees = [(root_id, 0.0) for root_id in roots]
            if not self._ownership.enqueue(self._connection, trees, priority):
                self.news.add("duty")
        self._waiting.clear()

    def claim(self, root_id: str) -> bool:
        """Take a tree that has no owner, and is not to be left alone yet."""
        return bool(self.claim_all([root_id]))

    def claim_all(self, roots: Sequence[str]) -> list[str]:
        """Take those among trees that have no owner, and are not to be left alone yet."""
        known, now = self._ownership, self._ownership.now()
        if known.is_draining:
            return []
        claim = self._sql["duty_claim"]
        asked = [
            (root_id, self._execute(claim, (known.member, now, TREE + root_id, now)))
            for root_id in roots
        ]
        taken = {root_id: rows[0][0] for root_id, each in asked if (rows := each.fetchall())}
        for root_id, takeovers in taken.items():
            self._gain(root_id, takeovers)
        return [*taken]

    @property
    def _room(self) -> int:
        return self._ownership.room - len(set(self._gained) - self._ownership.roots)

    def _gain(self, root_id: str, takeovers: int) -> None:
        self._gained[root_id] = takeovers
        self._lost.discard(root_id)

    def list_free(self, most: int) -> list[str]:
        """At most so many trees without an owner, as there is room; no other takes them now."""
        most = min(most, self._room)
        if most <= 0 or not self._ownership.takes_free:
            return []
        found = self._execute(self._sql["duties_free"], (self._ownership.now(), most, 0)).fetchall()
        return [key.removeprefix(TREE) for (key,) in found]

    def find_owner(self, root_id: str) -> str | None:
        """The member that owns a tree until the commit, '' for none; None: it has no duty."""
        found = self._execute(self._sql["duty_owner"], (TREE + root_id,)).fetchone()
        return None if found is None else found[0] or ""

    def is_suspect(self, root_id: str) -> bool:
        """Whether the last owner of a tree that was taken here has died."""
        return bool(self._gained.get(root_id))

    def release(self, *roots: str) -> set[str]:
        """End the duties for trees at rest; returns those that have nothing to do or answer.

        The others are kept.
        """
        asked = []
        for root_id in roots:
            mine = (TREE + root_id, self._ownership.member)
            locked = self._execute(self._sql["duty_lock"], mine)
            ended = self._execute(self._sql["duty_end"], (*mine, *[root_id] * 4))
            asked.append((root_id, locked, ended))
        for root_id, locked, _ in asked:
            if not locked.fetchone():
                raise FencedOut(f"Another member of the cluster has taken over stack {root_id}.")
        released = {root_id for root_id, _, ended in asked if ended.rowcount == 1}
        for root_id in released:
            self._lose(root_id)
        return released

    def hand_over(self, root_id: str) -> None:
        """Leave a tree to another member; all hear of it, since somebody waits for its work."""
        mine = (TREE + root_id, self._ownership.member)
        self._execute(self._sql["duty_free"], (self._ownership.now(), *mine))
        self._place(root_id, ORDINARY)
        self.news.add("duty")
        self._lose(root_id)

    @property
    def has_room(self) -> bool:
        """Whether another tree may be taken."""
        return self._room > 0

    def _lose(self, root_id: str) -> None:
        self._gained.pop(root_id, None)
        self._lost.add(root_id)

    @property
    def has_suspects(self) -> bool:
        """Whether the last owner of any tree of this member has died."""
        return bool(self._ownership.suspects)

    def note_progress(self, root_id: str) -> None:
        """Forget how many owners of a tree have died: this one gets on with it."""
        if root_id in self._ownership.suspects and root_id not in self._lost:
            self._execute(self._sql["duty_progress"], (TREE + root_id, self._ownership.member))
            self._gained[root_id] = 0

    def remember(self) -> None:
        """After the commit: keep what this member owns now."""
        known = self._ownership
        known.roots -= self._lost
        known.roots.update(self._gained)
        known.suspects -= self._lost
        for root_id, takeovers in self._gained.items():
            (known.suspects.add if takeovers else known.suspects.discard)(root_id)
        if self._lost:
            known.on_lost(self._lost)
        for what in self.news:
            known.tell(what)
