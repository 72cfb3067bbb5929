"""Follows a stack until it is idle, and chooses the exit code.

Called by every command that changes a stack. What is shown comes from the stored events, so it is
the same whether this process is the engine or another one is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from zonda.core.app.surface import PendingRequest, RunningAction
from zonda.core.store.read.stack_reads import ALL
from zonda.core.store.read.trees import ALL_LEVELS
from zonda.core.store.read.views import EventView, StackView
from zonda.hooks.records import dataclass, field

from ..console.console import Screen
from ..session import Session
from . import event_line, failure_report
from .event_stream import EventStream, EventWithPath
from .silence import SilenceReporter
from .summary import ProgressSummary
from .tally import Tally


class Display(Protocol):
    """Shows the progress of a stack."""

    @property
    def reasons(self) -> event_line.FailureReasons:
        """The reasons of the shown failures that are not shown yet."""

    def show(
        self, told: Sequence[EventWithPath], waiting: Sequence[PendingRequest] | None, now: float
    ) -> None:
        """Show the events since the last call, and the messages of waiting operations.

        None: those are not known.
        """

    def close(self) -> None:
        """Close the display."""


class LineDisplay:
    """Shows one line per event, for logs and pipes; limited for nested stacks.

    Where nothing happens, what is waited for. ``total``: see ``ProgressSummary``.
    """

    def __init__(self, screen: Screen, name: str, total: Callable[[], int] | None = None) -> None:
        self._screen = screen
        self._name = name
        self._nested = event_line.NestedEventFilter()
        self.reasons = event_line.FailureReasons()
        self._silence = SilenceReporter(name, ProgressSummary(total))

    def show(
        self, told: Sequence[EventWithPath], waiting: Sequence[PendingRequest] | None, now: float
    ) -> None:
        """Print the events, in one piece: a thousand resources have two thousand lines."""
        lines: list[str] = []
        is_silent = True
        for path, event in told:
            if not path or self._is_shown(event, lines):
                reason = self.reasons.take(event, self._name, path)
                lines.append(event_line.format_line(event, self._name, path, reason))
                is_silent = False
            if hint := event_line.format_hint(event, self._name, path):
                lines.append(hint)
        lines += self._silence.lines(told, waiting, now, is_silent=is_silent)
        if lines:
            self._screen.say("\n".join(lines))

    def _is_shown(self, event: EventView, lines: list[str]) -> bool:
        """Whether an event of a nested stack is shown: its owner's events summarize the rest.

        ``lines``: what is said before it.
        """
        if not event.resource_name:
            return False
        if event_line.PAUSED in event.reason:
            return True
        admitted = self._nested.admits(event)
        if self._nested.is_limit_reached:
            words = f"zonda stack event list {self._name} --nested-depth 9"
            lines.append(f"Of nested stacks only failures are told from now on: '{words}'.")
        return admitted

    def close(self) -> None:
        """Nothing to do."""


def follow(session: Session, running: RunningAction, good: Collection[str]) -> int:
    """Show events until the stack is idle. ``good``: the actions that it should end with."""
    return _report_end(session, running, _watch_until_idle(session, running), good)


def wait_until_idle(session: Session, running: RunningAction) -> None:
    """Show events until the stack is idle, whatever its state is then."""
    _say_reasons(session, _watch_until_idle(session, running).reasons)


def follow_signal(session: Session, running: RunningAction) -> int:
    """Show the events in nested stacks after a signal, until they are idle."""
    watch = _watch_until_idle(session, running)
    _say_reasons(session, watch.reasons)
    return 1 if watch.failed else 0


def follow_passing(session: Session, running: RunningAction, done: str) -> int:
    """Follow an action that leaves the stack's state as it was; ``done``: printed at the end.

    How it has ended stands in the history.
    """
    _say_reasons(session, _watch_until_idle(session, running).reasons)
    for action in reversed(session.app.reader.actions(running.stack_id)):
        if running.generation in (None, action.generation):
            break
    screen = session.screen
    if action.status == "COMPLETE":
        screen.say(screen.colour_message(done, "green"))
        return 0
    screen.say(
        screen.colour_message(f"{action.action} of stack {running.name}: {action.status}", "red")
    )
    screen.say(action.status_reason)
    return 1


@dataclass(slots=True)
class _WatchedStack:
    """A watched stack: its state, its failures, and the counts of its events.

    ``reasons``: what of the failures that were shown is yet to be told.
    """

    stack: StackView
    reasons: event_line.FailureReasons
    failed: list[EventView] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


def _watch_until_idle(session: Session, running: RunningAction) -> _WatchedStack:
    """Watch the stack until it is idle."""
    display = _make_display(session, running)
    try:
        return _watch_events(session, running, display)
    except KeyboardInterrupt:
        display.close()
        _say_reasons(session, display.reasons)
        _say_how_to_continue(session, running)
        raise
    finally:
        display.close()


def _say_reasons(session: Session, reasons: event_line.FailureReasons) -> None:
    """Print the reasons of failures that nothing explains."""
    for line in reasons.withheld:
        session.screen.say(line)


def _make_display(session: Session, running: RunningAction) -> Display:
    client, stack_id = running.client, running.stack_id
    total = (lambda: client.count_resources(stack_id)) if running.touches_all else None
    if not session.screen.on_terminal:
        return LineDisplay(session.screen, running.name, total)
    from .live import LiveDisplay  # rich takes 60 ms that only a terminal is worth

    return LiveDisplay(session.screen, running.name, total, session.app.clock)


def _watch_events(session: Session, running: RunningAction, display: Display) -> _WatchedStack:
    seen = running.events_before
    watch = _WatchedStack(session.app.stacks.find(running.stack_id), display.reasons)
    news = EventStream(session, watch.stack, ALL_LEVELS)
    if running.generation is None:  # another command has begun it
        watch.tally.add(_list_earlier_events(session, watch.stack, news, seen))
    while True:
        # First the state, then the events: so none of a stack that is now idle is missed.
        watch.stack = running.client.look(running.stack_id, running.client.look_again, seen)
        told = news.list_after(seen)
        seen = told[-1][1].seq if told else seen
        watch.tally.add(told)
        watch.failed += [
            one for path, one in told if one.status == "FAILED" and one.resource_name and not path
        ]
        display.show(told, running.client.waiting(running.stack_id), session.app.clock.now())
        if running.client.is_at_rest(watch.stack):
            return watch


def _list_earlier_events(
    session: Session, stack: StackView, news: EventStream, last: int
) -> list[EventWithPath]:
    """List the events of a stack's present action, up to the one whose ``seq`` is ``last``."""
    for event in session.app.reader.events(stack.id, limit=ALL):
        if event.generation == stack.generation:
            return [each for each in news.list_after(event.seq - 1) if each[1].seq <= last]
    return []


def _say_how_to_continue(session: Session, running: RunningAction) -> None:
    if engine := running.client.other_engine:
        session.screen.say(f"\n{engine[0].upper()}{engine[1:]} goes on with it.")
    else:
        session.screen.say("\nStopping. Nothing is lost: what runs outside zonda goes on.")
    session.screen.say(f"'zonda stack wait {running.name}' continues.")


def _is_superseded(running: RunningAction, stack: StackView) -> bool:
    """Whether another command has made a new plan; the rollback of a failure is our own."""
    planned = running.generation
    if planned is None or stack.generation <= planned:
        return False
    return stack.action != "ROLLBACK" or stack.generation > planned + 1


def _format_cancellation(session: Session, running: RunningAction) -> str:
    """Format by whom this command's plan was cancelled; '' if it was not."""
    for action in session.app.reader.actions(running.stack_id):
        if action.generation == running.generation and action.status == "CANCELLED":
            by = action.detail.get("cancelled_by")
            return f"This {action.action} was cancelled" + (f" by {by}." if by else ".")
    return ""


def _report_end(
    session: Session,
    running: RunningAction,
    watch: _WatchedStack,
    good: Collection[str],
) -> int:
    screen, stack = session.screen, watch.stack
    ended = f"Stack {stack.name} {stack.state}{watch.tally.summary(session.app.reader, stack)}"
    if _is_superseded(running, stack):
        _say_reasons(session, watch.reasons)
        newer = f"superseded by {stack.action} (generation {stack.generation})"
        screen.say(
            screen.colour_message(f"Stack {stack.name}: this command was {newer}", "yellow")
            + f"; the stack is {stack.state} now."
        )
        return 1
    if stack.status == "COMPLETE" and stack.action in good:
        _say_reasons(session, watch.reasons)
        screen.say(screen.colour_message(ended, "green"))
        return 0
    screen.say(screen.colour_message(ended, "red"))
    if told := _format_cancellation(session, running):
        screen.say(told)
    since = stack.generation if running.generation is None else running.generation
    for line in failure_report.explain_failures(session, stack, watch.failed, since, watch.reasons):
        screen.say(line)
    return 1
