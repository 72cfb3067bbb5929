"""``zonda stack diff``: the differences between two generations of a stack."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zonda.hooks import records
from zonda.hooks.errors import UsageError

from ..arguments import ANY_STACK, argument, takes
from ..console import formats
from ..console.console import Screen
from ..session import Session

if TYPE_CHECKING:  # imported by the application once it is needed
    from zonda.core.reports.differences import Change, Differences

PARTS = ("template", "parameters", "environment", "files", "resources")
DIFFERENT = 2
_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


def _declare_parts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("parts (default: all)")
    for part in PARTS:
        group.add_argument(f"--{part}", action="store_true", help=f"compare the {part}")


@takes(
    ANY_STACK,
    argument(
        "first",
        metavar="N",
        nargs="?",
        help="a generation (default: the last one with another template)",
    ),
    argument("second", metavar="M", nargs="?", help="another one (default: the present)"),
    _declare_parts,
    argument(
        "--detailed-exitcode",
        action="store_true",
        help="exit with 0 if nothing differs, 2 if something does, 1 on errors",
    ),
    formats.add_text_format,
)
def diff(session: Session, arguments: argparse.Namespace) -> int:
    """Show the differences, part by part; a hidden value only as hidden, changed or not."""
    numbers = [_parse_generation(text) for text in (arguments.first, arguments.second)]
    stack = session.app.stacks.find(arguments.stack)
    older, newer, found = session.app.inspector.differences(stack, *numbers)
    chosen = [part for part in PARTS if getattr(arguments, part)] or list(PARTS)
    screen = session.screen
    if arguments.format in ("json", "yaml"):
        everything = _as_data(found)
        ends = {"from": older.generation, "to": newer.generation}
        shown = {**ends, **{part: everything[part] for part in chosen}}
        formats.write_data(screen.out, arguments.format, shown)
    else:
        for line in _format_differences(screen, found, chosen):
            screen.show(line)
        if not _has_differences(found, chosen):
            screen.say(_format_no_difference(older.generation, newer.generation))
    return DIFFERENT if arguments.detailed_exitcode and _has_differences(found, chosen) else 0


def _format_no_difference(older: int, newer: int) -> str:
    if older == newer:
        return f"Nothing is kept from before generation {newer}, so there is nothing to compare."
    return f"Nothing differs between generations {older} and {newer}."


def _parse_generation(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdigit() or len(text) > 9:
        raise UsageError(
            f"{text} is no generation, which is a number.", hint="'zonda stack history' lists them."
        )
    return int(text)


def _has_differences(found: Differences, chosen: Sequence[str]) -> bool:
    everything = _as_data(found)
    return any(everything[part] for part in chosen)


def _as_data(found: Differences) -> dict[str, Any]:
    return {
        "template": found.template,
        "parameters": [records.asdict(each) for each in found.parameters],
        "environment": dict(found.environments),
        "files": dict(found.files),
        "resources": [records.asdict(each) for each in found.resources],
    }


def _format_differences(screen: Screen, found: Differences, chosen: Sequence[str]) -> Iterator[str]:
    if "template" in chosen:
        yield from _colour_diff(screen, found.template)
    for part, texts in (("environment", found.environments), ("files", found.files)):
        for lines in texts.values() if part in chosen else ():
            yield from _colour_diff(screen, lines)
    for part, values in (("parameters", found.parameters), ("resources", found.resources)):
        if part in chosen and values:
            yield screen.colour_result(f"{part}:", "bold")
            for each in values:
                yield _format_change(screen, each)


def _colour_diff(screen: Screen, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith(("---", "+++")):
            yield screen.colour_result(line, "bold")
        elif line.startswith("@@"):
            yield screen.colour_result(line, "yellow")
        elif line.startswith(("+", "-")):
            yield screen.colour_result(line, "green" if line[0] == "+" else "red")
        else:
            yield line


def _format_change(screen: Screen, each: Change) -> str:
    sign, colour = _SIGNS[each.kind]
    ends = [formats.format_single_line(value) for value in (each.before, each.after)]
    told = {"added": ends[1], "removed": ends[0], "changed": " -> ".join(ends)}[each.kind]
    return screen.colour_result(f"  {sign} {each.path}: {told}", colour)
