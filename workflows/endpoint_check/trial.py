"""The shared state of the rules of one check: the first run, and what must be deleted."""

from __future__ import annotations

from dataclasses import dataclass, field
from queue import Queue
from typing import Any

from zonda.hooks.conformance import NotApplicable
from zonda.hooks.http import Reply, RequestRejected, TransportError

from ..http_contract.response import Answer
from ..http_runner.settings import HttpSettings
from .probe import Operation, Outcome, Probe
from .violations import Violated

#: Method, path, signature and body of callbacks.
Callbacks = Queue[tuple[str, str, str, bytes]]


@dataclass
class Trial:
    """One endpoint on trial. ``first``, ``reply``, ``answer``, ``outcome``: of the first run."""

    probe: Probe
    first: Operation
    reply: Reply = field(default_factory=lambda: Reply(0, {}, b""))
    answer: Answer = field(default_factory=lambda: Answer({}))
    outcome: Outcome = field(default_factory=lambda: Outcome("", {}, None))
    trouble: TransportError | RequestRejected | None = None
    #: The objects that were made and still exist, and their end where that is known.
    made: list[tuple[Operation, Outcome | None]] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    #: The URL of the listener for callbacks, and what it gets.
    listener: tuple[str, Callbacks] | None = None
    #: The reason for leaving out most rules.
    stopped: str = ""

    def create(self, **fields: Any) -> Operation:
        """A CREATE with a key and a resource of its own, deleted at the end."""
        operation = self.probe.operation(**fields)
        self.made.append((operation, None))
        return operation

    def keep_outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        """Remember the outcome of a CREATE for its DELETE."""
        self.made = [(each, outcome if each is operation else known) for each, known in self.made]
        return outcome

    def run(self, operation: Operation) -> Outcome:
        """Send a CREATE and follow it to its end."""
        return self.keep_outcome(operation, self.probe.run(operation))

    def keep_deleted(self, operation: Operation) -> None:
        """Remember that the resource of ``operation`` is deleted."""
        self.deleted.add(operation.request.resource.id)

    def check_refused(self, settings: HttpSettings, what: str, do: str) -> None:
        """Check that a CREATE sent with ``settings`` is refused with 401 or 403."""
        operation = self.create()
        reply = self.probe.send_once(operation, settings=settings)
        if reply.status in (401, 403):
            self.keep_deleted(operation)
            return
        if 400 <= reply.status < 500:
            self.keep_deleted(operation)
            raise Violated(f"401 or 403 for {what}", f"HTTP {reply.status}", do)
        raise Violated(f"401 or 403 for {what}", f"HTTP {reply.status}: it was taken", do)


def require_delete(trial: Trial) -> None:
    """Raise NotApplicable where no DELETE may be sent."""
    if not trial.probe.target.delete:
        raise NotApplicable("--no-delete is given")
