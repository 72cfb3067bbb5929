"""The live view of a stack on a terminal, and the lines for logs."""

from __future__ import annotations

import dataclasses
import io
import re

import pytest

from zonda.core.app.surface import PendingRequest
from zonda.core.cli.console.console import Screen
from zonda.core.cli.progress import event_line
from zonda.core.cli.progress.event_stream import EventWithPath
from zonda.core.cli.progress.follow import LineDisplay
from zonda.core.cli.progress.live import LiveDisplay, format_elapsed
from zonda.core.store.read.views import EventView

EVENT = EventView(
    id="e1",
    seq=1,
    at=1_700_000_000.0,
    stack_id="s1",
    stack_name="web",
    generation=0,
    resource_id=None,
    resource_name="database",
    resource_type="OS::Heat::TestResource",
    physical_id=None,
    action="CREATE",
    status="IN_PROGRESS",
    reason="state changed",
)


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


class StandingClock:
    """Always the same time."""

    def now(self) -> float:
        return EVENT.at

    def monotonic(self) -> float:
        return EVENT.at


def told(*events: EventView, path: tuple[str, ...] = ()) -> list[EventWithPath]:
    """Events with the way down to their stack."""
    return [(path, event) for event in events]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    made = Screen()
    made.err = Terminal()
    return made


def text(screen: Screen) -> str:
    assert isinstance(screen.err, io.StringIO)
    return screen.err.getvalue()


def plain_text(shown: str) -> str:
    """Without what steers the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", shown)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        pytest.param(
            {},
            "2023-11-14 22:13:20Z [web.database]: CREATE_IN_PROGRESS  state changed",
            id="resource",
        ),
        pytest.param(
            {"resource_name": "", "status": "COMPLETE", "reason": ""},
            "2023-11-14 22:13:20Z [web]: CREATE_COMPLETE",
            id="stack",
        ),
        pytest.param(
            {"reason": "one\ntwo"},
            "2023-11-14 22:13:20Z [web.database]: CREATE_IN_PROGRESS  one two",
            id="always-one-line",
        ),
    ],
)
def test_an_event_is_one_line(changes: dict[str, str], line: str) -> None:
    assert event_line.format_line(dataclasses.replace(EVENT, **changes)) == line  # type: ignore[arg-type]


def test_lines_are_printed_as_they_come(screen: Screen) -> None:
    lines = LineDisplay(screen, "web")

    lines.show(told(EVENT), [], EVENT.at)
    lines.show([], [], EVENT.at)
    lines.close()

    assert text(screen) == event_line.format_line(EVENT) + "\n"


def test_the_lines_of_one_commit_are_written_at_once(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(screen, "say", written.append)
    LineDisplay(screen, "web").show(told(EVENT, EVENT), [], EVENT.at)

    assert written == ["\n".join([event_line.format_line(EVENT)] * 2)]


def test_the_picture_shows_what_is_waited_for_how_long_and_how_far_all_is(screen: Screen) -> None:
    live = LiveDisplay(screen, "web", lambda: 2, StandingClock())
    done = dataclasses.replace(EVENT, resource_name="config", status="COMPLETE")

    live.show(
        told(EVENT, done),
        [PendingRequest("database", "2 of 3 disks", EVENT.at, "s1")],
        EVENT.at + 75,
    )
    picture = text(screen)
    live.close()
    live.close()

    assert "database" in picture
    assert "create 1:15" in picture
    assert "2 of 3 disks" in picture
    assert "1/2" in picture


def test_what_has_ended_stays_on_the_screen_with_how_long_it_took(screen: Screen) -> None:
    live = LiveDisplay(screen, "web", None, StandingClock())
    done = dataclasses.replace(EVENT, status="COMPLETE", at=EVENT.at + 12)
    failed = dataclasses.replace(EVENT, resource_name="disk", status="FAILED", reason="no room")
    stack = dataclasses.replace(EVENT, resource_name="", status="COMPLETE")

    live.show(told(EVENT, done, failed, stack), [], EVENT.at)
    live.close()

    shown = text(screen)
    assert "  database: CREATE_COMPLETE (12 s)\n" in plain_text(shown)
    assert "  disk: CREATE_FAILED\n" in plain_text(shown)
    assert "Stack web" not in plain_text(shown)  # the command's last line tells that


def test_nothing_from_outside_steers_the_terminal(screen: Screen) -> None:
    evil = "\x1b]0;gotcha\x07"
    live = LiveDisplay(screen, "web", None, StandingClock())
    failed = dataclasses.replace(EVENT, resource_name="bad", status="FAILED", reason=evil)

    live.show(told(EVENT, failed), [PendingRequest("database", evil, EVENT.at, "s1")], EVENT.at)
    live.close()

    assert "\x1b]" not in text(screen)
    assert "\x07" not in text(screen)
    assert text(screen).count("\\x1b]0;gotcha\\x07") >= 2


def test_many_resources_are_cut_short(screen: Screen) -> None:
    live = LiveDisplay(screen, "web", lambda: 100, StandingClock())
    events = [dataclasses.replace(EVENT, resource_name=f"r{number}") for number in range(40)]

    live.show(told(*events), None, EVENT.at)
    live.close()

    assert "and 28 more" in text(screen)
    assert "40 of 100 in progress" in " ".join(plain_text(text(screen)).split())


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-1, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1:00"), (3599, "59:59"), (3725, "1:02:05")],
)
def test_elapsed_time(seconds: float, shown: str) -> None:
    assert format_elapsed(seconds) == shown


def test_what_waits_at_a_breakpoint_is_still_at_it(screen: Screen) -> None:
    live = LiveDisplay(screen, "web", lambda: 2, StandingClock())
    reason = "CREATE paused until Hook pre-create is cleared"
    paused = dataclasses.replace(EVENT, action="INIT", status="COMPLETE", reason=reason)

    live.show(told(paused), [], EVENT.at + 5)
    live.close()

    assert "at pre-create 5 s" in text(screen)
    assert "'zonda stack hook clear web database' lets it go on." in text(screen)
    assert "0/2" in text(screen)


def test_lines_say_how_to_go_on_from_a_breakpoint(screen: Screen) -> None:
    reason = "CREATE paused until Hook pre-create is cleared"

    LineDisplay(screen, "web").show(
        told(dataclasses.replace(EVENT, reason=reason), EVENT), [], EVENT.at
    )

    said = text(screen).splitlines()
    assert said[1:2] == ["'zonda stack hook clear web database' lets it go on."]
    assert len(said) == 3


def test_of_nested_resources_the_innermost_are_shown(screen: Screen) -> None:
    live = LiveDisplay(screen, "web", lambda: 3, StandingClock())
    owner = dataclasses.replace(EVENT, resource_name="servers")
    inner = dataclasses.replace(EVENT, resource_name="0", stack_id="s2")

    live.show([*told(owner), *told(inner, path=("servers",))], [], EVENT.at)
    picture = text(screen)
    live.close()

    assert "servers/0" in picture
    assert "  servers  " not in picture
    assert "0/3" in picture


def test_failures_of_nested_resources_do_not_flood_the_screen(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zonda.core.cli.progress.event_line.MOST_NESTED", 2)
    live = LiveDisplay(screen, "web", None, StandingClock())
    failed = dataclasses.replace(EVENT, status="FAILED", stack_id="s2")

    live.show(told(*[failed] * 5, path=("servers",)), [], EVENT.at)
    live.show(told(dataclasses.replace(failed, stack_id="s1")), [], EVENT.at)
    live.close()

    shown = plain_text(text(screen))
    assert shown.count("  servers/database: CREATE_FAILED") == 2
    assert " database: CREATE_FAILED" in shown


def after(
    lines: LineDisplay, screen: Screen, seconds: float, *waiting: PendingRequest
) -> list[str]:
    """What is said by then, beyond what was said before; without the time."""
    before = len(text(screen))
    lines.show([], waiting, EVENT.at + seconds)
    return [line.partition("Z ")[2] for line in text(screen)[before:].splitlines()]


def a_wait(seconds: int) -> PendingRequest:
    message = f"waiting for runner bundled: it is not running, next try in {seconds} s"
    return PendingRequest("database", message, EVENT.at, EVENT.stack_id)


def test_a_silence_on_a_pipe_ends_after_a_second_with_what_is_waited_for(screen: Screen) -> None:
    lines = LineDisplay(screen, "web")
    lines.show(told(EVENT), [], EVENT.at)
    assert after(lines, screen, 0.9, a_wait(1)) == []
    said = "[web.database]: waiting for runner bundled: it is not running, next try in "
    assert after(lines, screen, 1.0, a_wait(1)) == [f"{said}1 s"]
    assert after(lines, screen, 10, a_wait(4)) == []
    assert after(lines, screen, 62, a_wait(30)) == [f"{said}30 s"]
    other = dataclasses.replace(a_wait(1), message="running")
    assert after(lines, screen, 64, other) == ["[web.database]: running"]
    done = dataclasses.replace(EVENT, status="COMPLETE")
    lines.show(told(done), [], EVENT.at + 65)
    assert after(lines, screen, 1000) == []


def test_a_silence_ends_also_where_nobody_says_what_is_waited_for(screen: Screen) -> None:
    lines = LineDisplay(screen, "web")
    names = ("a", "b", "c", "d", "e")
    lines.show(told(*(dataclasses.replace(EVENT, resource_name=each) for each in names)), [], 0.0)
    lines.show([], None, 2.0)
    said, count = text(screen).splitlines()[-2:]
    assert said.endswith(" [web.a, web.b, web.c and 2 more]: still in progress")
    assert count.endswith(" [web]: 5 in progress, 0 done")


def test_a_silence_ends_with_how_far_all_is(screen: Screen) -> None:
    lines = LineDisplay(screen, "web", lambda: 400)
    begun = [dataclasses.replace(EVENT, resource_name=f"r{number}") for number in range(400)]
    lines.show(told(*begun), [], EVENT.at)
    full = "waiting for runner slow: no place, next try in 10 s"
    queue = [PendingRequest(f"r{number}", full, EVENT.at, EVENT.stack_id) for number in range(336)]
    assert after(lines, screen, 1.0, *queue)[-1] == "[web]: 64 of 400 running, 336 waiting, 0 done"


def test_of_what_is_nested_the_innermost_is_waited_for(screen: Screen) -> None:
    lines = LineDisplay(screen, "web")
    inner = dataclasses.replace(EVENT, stack_id="s2", resource_name="disk")
    lines.show([((), EVENT), (("database",), inner)], [], EVENT.at)
    waiting = PendingRequest("disk", "2 of 3", EVENT.at, "s2")
    assert after(lines, screen, 2.0, waiting) == ["[web.database/disk]: 2 of 3"]


def test_a_clock_that_is_set_back_ends_a_silence(screen: Screen) -> None:
    lines = LineDisplay(screen, "web")
    lines.show(told(EVENT), [], EVENT.at)
    assert after(lines, screen, -100, a_wait(1)) != []
