"""Actions at a member of a cluster whose engine ends meanwhile: looked for, and not repeated.

The transaction that accepts an action keeps its answer under the key of the attempt. Where another
member owns the stack, that key is the one of its request, which is answered whoever waits.
"""

from __future__ import annotations

from zonda.core.app.app import App
from zonda.core.engine.actions import Accepted, parse_answer, wire
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.store.read.reader import Reader
from zonda.hooks.errors import NotFound, StoreError
from zonda.hooks.records import dataclass

#: Seconds between two looks.
_LOOK = 0.1


@dataclass(slots=True)
class Attempt:
    """An action that is sent to the engine of a member. ``key``: a new id.

    ``member``: the life that has accepted it, or might.
    """

    app: App
    reader: Reader
    member: str
    key: str

    def note(self, work: UnitOfWork, accepted: Accepted) -> None:
        """Keep the answer in the transaction that accepts."""
        if self.app.store.ownership is not None:
            self.member = self.app.store.ownership.member
        seal = work.sealer.seal
        work.tx.add_answer(self.key, seal(""), seal(wire.format_accepted(accepted)), work.now)

    def find_answer(self, seconds: float) -> Accepted | None:
        """The answer, once it is known; None where the action was not, and will not be, accepted.

        Raises the error of a refusal, and StoreError where that is not known after ``seconds``.
        """
        clock = self.app.clock
        until = clock.monotonic() + seconds
        while clock.monotonic() < until:
            try:
                # In this order: a transaction of that life ends before its row can be removed.
                is_over = not self.reader.is_member(self.member)
                answer = self.reader.request(self.key).answer
            except NotFound:
                if is_over:
                    return None
            except StoreError:
                pass  # the database is away: it is asked again
            else:
                if answer is not None:
                    return parse_answer(answer)
            clock.pause(_LOOK)
        raise StoreError(
            "The database was lost while the action was stored, and has not come back.",
            hint="Nobody knows whether it was accepted: look at the stack.",
        )
