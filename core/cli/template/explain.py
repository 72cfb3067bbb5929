"""``zonda explain``: what a code means, with an example that is wrong and one that is right."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from zonda.core.diagnostics.codes import Example, Page, page, pages

from ..console import formats
from ..session import Session


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``explain``."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="e.g. ZON120; none lists them all")
    formats.add_arguments(parser, formats.SHELL)


def explain(session: Session, arguments: argparse.Namespace) -> int:
    """One page, or one row per code."""
    screen = session.screen
    if arguments.code is None:
        rows = [(each.code, each.severity, each.title) for each in pages().values()]
        columns = ("Code", "Severity", "Title")
        formats.rows(screen.out, arguments, columns, rows, screen.width)
        return 0
    found = page(arguments.code)
    if arguments.format == "table" and not arguments.column:
        screen.out.write("\n".join(_lines(found)) + "\n")
    else:
        formats.fields(screen.out, arguments, _as_fields(found), screen.width)
    return 0


def _as_fields(found: Page) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": found.severity,
        "title": found.title,
        "explanation": found.about,
        "wrong": _as_data(found.wrong),
        "right": _as_data(found.right),
    }


def _as_data(example: Example) -> dict[str, Any]:
    return {"files": dict(example.files), "commands": list(example.commands)}


def _lines(found: Page) -> Iterator[str]:
    import textwrap

    yield f"{found.code} ({found.severity}): {found.title}"
    yield ""
    yield from textwrap.wrap(found.about, 80)
    for name, example in (("Wrong", found.wrong), ("Right", found.right)):
        yield from ("", f"{name}:")
        for file, text in example.files.items():
            yield from ("", f"  # {file}", *textwrap.indent(text.rstrip(), "  ").split("\n"))
        if example.commands:
            yield ""
        yield from (f"  $ {command}" for command in example.commands)
