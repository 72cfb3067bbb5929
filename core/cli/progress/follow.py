"""Watching a stack until it is idle, and the exit code that its end deserves.

Called by every command that changes a stack. What is shown comes from the stored events, so it is
the same whether this process is the engine or another one is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from zonda.core.app.app import PendingRequest, RunningAction
from zonda.core.store.read.reader import ALL
from zonda.core.store.read.trees import ALL_LEVELS
from zonda.core.store.read.views import EventView, StackView

from ..console.console import Screen
from ..session import Session
from . import event_line, failure_report
from .event_stream import News, Told
from .silence import Silence
from .tally import Tally

LOOK_AGAIN = 0.2


class Display(Protocol):
    """What shows how a stack is doing."""

    @property
    def reasons(self) -> event_line.Reasons:
        """What of the failures that were shown is yet to be told."""

    def show(self, told: Sequence[Told], waiting: Sequence[PendingRequest], now: float) -> None:
        """News: events since the last call, and what running operations wait for."""

    def close(self) -> None:
        """Nothing more will come."""


class Lines:
    """One line per event, for logs and pipes; of nested stacks no more than anybody reads.

    Where nothing happens, what is waited for.
    """

    def __init__(self, screen: Screen, name: str) -> None:
        self._screen = screen
        self._name = name
        self._nested = event_line.Nested()
        self.reasons = event_line.Reasons()
        self._silence = Silence(name)

    def show(self, told: Sequence[Told], waiting: Sequence[PendingRequest], now: float) -> None:
        """Print the events."""
        is_silent = True
        for path, event in told:
            if not path or self._is_told(event):
                reason = self.reasons.take(event, self._name, path)
                self._screen.say(event_line.line(event, self._name, path, reason))
                is_silent = False
            if hint := event_line.hint(event, self._name, path):
                self._screen.say(hint)
        for line in self._silence.lines(told, waiting, now, is_silent=is_silent):
            self._screen.say(line)

    def _is_told(self, event: EventView) -> bool:
        """Whether an event of a nested stack is told: those of its owner tell of it as a whole."""
        if not event.resource_name:
            return False
        if event_line.PAUSED in event.reason:
            return True
        admitted = self._nested.admits(event)
        if self._nested.just_full:
            words = f"zonda stack event list {self._name} --nested-depth 9"
            self._screen.say(f"Of nested stacks only failures are told from now on: '{words}'.")
        return admitted

    def close(self) -> None:
        """Nothing to do."""


def follow(session: Session, running: RunningAction, good: Collection[str]) -> int:
    """Show what happens until the stack is idle. ``good``: the actions that it should end with."""
    return _verdict(session, running, _watched(session, running), good)


def until_rest(session: Session, running: RunningAction) -> None:
    """Show what happens until the stack is idle, whatever it ends with."""
    _say_reasons(session, _watched(session, running).reasons)


def follow_signal(session: Session, running: RunningAction) -> int:
    """Show what a signal has begun in nested stacks, until that is over."""
    watch = _watched(session, running)
    _say_reasons(session, watch.reasons)
    return 1 if watch.failed else 0


def follow_passing(session: Session, running: RunningAction, done: str) -> int:
    """Like ``follow``, of an action that the stack is not shown as afterwards; ``done``: told then.

    How it has ended stands in the history.
    """
    _say_reasons(session, _watched(session, running).reasons)
    for action in reversed(session.app.reader.actions(running.stack_id)):
        if running.generation in (None, action.generation):
            break
    screen = session.screen
    if action.status == "COMPLETE":
        screen.say(screen.coloured(done, "green"))
        return 0
    screen.say(screen.coloured(f"{action.action} of stack {running.name}: {action.status}", "red"))
    screen.say(action.status_reason)
    return 1


@dataclass(slots=True)
class _Watch:
    """A stack that is watched: what it is now, what of it has failed, and what was done.

    ``reasons``: what of the failures that were shown is yet to be told.
    """

    stack: StackView
    reasons: event_line.Reasons
    failed: list[EventView] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


def _watched(session: Session, running: RunningAction) -> _Watch:
    """The stack once it is idle."""
    display = _display(session, running)
    try:
        return _watch(session, running, display)
    except KeyboardInterrupt:
        display.close()
        _say_reasons(session, display.reasons)
        _say_how_to_go_on(session, running)
        raise
    finally:
        display.close()


def _say_reasons(session: Session, reasons: event_line.Reasons) -> None:
    """Tell why something has failed where nothing explains it."""
    for line in reasons.withheld:
        session.screen.say(line)


def _display(session: Session, running: RunningAction) -> Display:
    if not session.screen.on_terminal:
        return Lines(session.screen, running.name)
    from .live import Live  # rich takes 60 ms that only a terminal is worth

    total = (lambda: running.resource_count) if running.touches_all else None
    return Live(session.screen, running.name, total, session.app.clock)


def _watch(session: Session, running: RunningAction, display: Display) -> _Watch:
    seen = running.events_before
    watch = _Watch(session.app.stack(running.stack_id), display.reasons)
    news = News(session, watch.stack, ALL_LEVELS)
    if running.generation is None:  # another command has begun it
        watch.tally.add(_told_before(session, watch.stack, news, seen))
    while True:
        # First the state, then the events: so none of a stack that is now idle is missed.
        watch.stack = running.look(LOOK_AGAIN)
        told = news.after(seen)
        seen = told[-1][1].seq if told else seen
        watch.tally.add(told)
        watch.failed += [
            one for path, one in told if one.status == "FAILED" and one.resource_name and not path
        ]
        display.show(told, running.waiting(), session.app.clock.now())
        if running.is_at_rest(watch.stack):
            return watch


def _told_before(session: Session, stack: StackView, news: News, last: int) -> list[Told]:
    """The events of the present action of a stack, up to the one whose ``seq`` is ``last``."""
    for event in session.app.reader.events(stack.id, limit=ALL):
        if event.generation == stack.generation:
            return [each for each in news.after(event.seq - 1) if each[1].seq <= last]
    return []


def _say_how_to_go_on(session: Session, running: RunningAction) -> None:
    if running.driven_elsewhere:
        session.screen.say(f"\nThe engine of process {running.driven_elsewhere} goes on with it.")
    else:
        session.screen.say("\nStopping. Nothing is lost: what runs outside zonda goes on.")
    session.screen.say(f"'zonda stack wait {running.name}' continues.")


def _superseded(running: RunningAction, stack: StackView) -> bool:
    """Whether another command has planned anew; the rollback of a failure is a plan of ours."""
    planned = running.generation
    if planned is None or stack.generation <= planned:
        return False
    return stack.action != "ROLLBACK" or stack.generation > planned + 1


def _cancelled(session: Session, running: RunningAction) -> str:
    """That somebody has cancelled what this command has planned, and who; '' if nobody has."""
    for action in session.app.reader.actions(running.stack_id):
        if action.generation == running.generation and action.status == "CANCELLED":
            by = action.detail.get("cancelled_by")
            return f"This {action.action} was cancelled" + (f" by {by}." if by else ".")
    return ""


def _verdict(
    session: Session,
    running: RunningAction,
    watch: _Watch,
    good: Collection[str],
) -> int:
    screen, stack = session.screen, watch.stack
    ended = f"Stack {stack.name} {stack.state}{watch.tally.summary(session.app.reader, stack)}"
    if _superseded(running, stack):
        _say_reasons(session, watch.reasons)
        newer = f"superseded by {stack.action} (generation {stack.generation})"
        screen.say(
            screen.coloured(f"Stack {stack.name}: this command was {newer}", "yellow")
            + f"; the stack is {stack.state} now."
        )
        return 1
    if stack.status == "COMPLETE" and stack.action in good:
        _say_reasons(session, watch.reasons)
        screen.say(screen.coloured(ended, "green"))
        return 0
    screen.say(screen.coloured(ended, "red"))
    if told := _cancelled(session, running):
        screen.say(told)
    since = stack.generation if running.generation is None else running.generation
    for line in failure_report.explain(session, stack, watch.failed, since, watch.reasons):
        screen.say(line)
    return 1
