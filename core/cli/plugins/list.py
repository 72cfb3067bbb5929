"""``zonda plugin list``: installed plug-ins, what they provide, and failures."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zonda.hooks.text.sanitize import join_sentences

from ..arguments import takes
from ..console import formats
from ..console.console import Screen
from ..session import Session

COLUMNS = ("Plugin", "Distribution", "Version", "Status", "Brings", "Failures")
#: Of a line where there is no terminal.
WIDTH = 100
_COLOURS = {"ok": "green", "partly": "yellow", "failed": "red", "disabled": "yellow"}


@takes(formats.add_arguments)
def list_plugins(session: Session, arguments: argparse.Namespace) -> int:
    """List what each plug-in provides; exit code 1 if any of them is not fully usable."""
    found, screen = session.app.reference.list_plugins(), session.screen
    failures = [each for entry in found for each in entry["failures"]]
    if arguments.format == "table" and not arguments.column:
        for line in _format_listing(screen, found):
            screen.show(line)
    else:
        rows = [_build_row(entry, arguments.format) for entry in found]
        session.show_rows(arguments, COLUMNS, rows)
    if arguments.format == "table":
        for failure in {each["message"]: each for each in failures}.values():
            hint = f"\n  {failure['hint']}" if failure["hint"] else ""
            screen.say(f"{screen.colour_message('warning', 'yellow')}: {failure['message']}{hint}")
    return 1 if failures else 0


def _format_listing(screen: Screen, found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Format a line for each plug-in, followed by what it provides, by kind."""
    for entry in found:
        status = _choose_status(entry)
        origin = " ".join(filter(None, (entry["distribution"], entry["version"])))
        named = entry["plugin"] + (f" ({origin})" if origin else "")
        yield (
            f"{screen.colour_result(named, 'bold')}: "
            f"{screen.colour_result(status, _COLOURS[status])}"
        )
        kinds = [
            f"{kind}: {', '.join(sorted(each))}" for kind, each in sorted(entry["brings"].items())
        ]
        for text in filter(None, (entry["summary"], *kinds)):
            yield from textwrap.wrap(
                text,
                screen.width or WIDTH,
                initial_indent="  ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )


def _choose_status(entry: Mapping[str, Any]) -> str:
    if entry["failures"]:
        return "partly" if entry["brings"] else "failed"
    return "disabled" if entry["disabled"] else "ok"


def _build_row(entry: Mapping[str, Any], form: str) -> tuple[Any, ...]:
    brings = entry["brings"]
    failures: Any = [join_sentences(each["message"], each["hint"]) for each in entry["failures"]]
    if form in ("table", "value"):
        names = [f"{kind}: {', '.join(sorted(each))}" for kind, each in sorted(brings.items())]
        brings, failures = "; ".join(names), len(failures) or ""
    origin = (entry["plugin"], entry["distribution"], entry["version"])
    return *origin, _choose_status(entry), brings, failures
