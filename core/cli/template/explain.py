"""``zonda explain``: the page of an error code, with a wrong and a right example."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from zonda.core.diagnostics.codes import Example, Page, find_page, load_pages

from ..arguments import argument, takes
from ..console import formats
from ..session import Session


@takes(
    argument("code", metavar="CODE", nargs="?", help="e.g. ZON120; none lists them all"),
    formats.add_field_arguments,
)
def explain(session: Session, arguments: argparse.Namespace) -> None:
    """Show one page, or one row per code."""
    if arguments.code is None:
        rows = [(each.code, each.severity, each.title) for each in load_pages().values()]
        columns = ("Code", "Severity", "Title")
        session.show_rows(arguments, columns, rows)
        return
    found = find_page(arguments.code)
    if arguments.format == "table" and not arguments.column:
        session.screen.out.write("\n".join(_format_page(found)) + "\n")
    else:
        session.show_fields(arguments, _as_fields(found))


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


def _format_page(found: Page) -> Iterator[str]:
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
