"""``zonda runner check``: check an endpoint against the ``http`` contract."""

from __future__ import annotations

import argparse
import threading

from zonda.core.app.runners.runner_endpoint import EndpointCheckOptions
from zonda.hooks.conformance import FAILED, NOT_APPLICABLE, PASSED
from zonda.hooks.records import fields

from ..arguments import argument, seconds, takes
from ..console import formats
from ..session import Session

COLUMNS = ("Check", "Verdict", "Reason", "See")
#: Output for programs has every part by itself.
PARTS = ("Check", "Verdict", "Reason", "Expected", "Came", "Do", "See")


@takes(
    argument("endpoint", metavar="URL|NAME", help="a URL, a [runners.NAME] section, or bundled"),
    argument(
        "--workflow", metavar="NAME", default="", help="a workflow: URL/workflows/NAME is called"
    ),
    argument(
        "--delete-workflow",
        metavar="NAME",
        default="",
        help="the workflow that DELETE is sent to (default: the same)",
    ),
    argument(
        "--no-delete",
        dest="delete",
        action="store_false",
        help="send no DELETE; what is made is left there",
    ),
    argument(
        "--input",
        dest="inputs",
        metavar="JSON",
        default="{}",
        help="the input of every CREATE (default: {})",
    ),
    argument(
        "--failing-input",
        dest="failing_inputs",
        metavar="JSON",
        default="",
        help="an input that a run fails with",
    ),
    argument("--token", default="", help="a bearer token, or env:NAME or file:PATH that has it"),
    argument(
        "--signing-key",
        dest="signing_keys",
        metavar="KEY",
        action="append",
        default=[],
        help="sign requests with this key, or with that in env:NAME or file:PATH; repeatable",
    ),
    argument(
        "--header",
        dest="headers",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="a further header; repeatable",
    ),
    argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=60.0,
        help="how long one run may take (default: %(default)g)",
    ),
    argument(
        "--callback",
        dest="listen",
        metavar="HOST:PORT",
        nargs="?",
        const="127.0.0.1:0",
        default="",
        help="listen there for a callback (default: 127.0.0.1:0), and announce it",
    ),
    argument(
        "--callback-url", metavar="URL", default="", help="how the endpoint gets to --callback"
    ),
    argument(
        "--callback-key",
        dest="callback_keys",
        metavar="KEY",
        action="append",
        default=[],
        help="callbacks must be signed with this key, or with that in env:NAME or file:PATH; "
        "repeatable",
    ),
    argument(
        "--failed", action="store_true", help="show only what failed, and how many there were"
    ),
    formats.add_arguments,
)
def check(session: Session, arguments: argparse.Namespace) -> int:
    """Show one row per rule; exit code 1 if any rule is broken."""
    detailed = arguments.format in ("json", "yaml")
    columns = PARTS if detailed else COLUMNS
    formats.choose_columns(columns, arguments.column)
    screen = session.screen

    def print_row(row: object) -> None:
        if screen.on_terminal and not detailed:
            screen.say(str(row))

    try:
        report = session.local.runners.check_endpoint(
            _parse_options(arguments), threading.Event().wait, print_row
        )
    except KeyboardInterrupt:
        screen.say("Interrupted: what the check has made is still there.")
        raise
    shown = report.failed if arguments.failed else report.rows
    cells = [
        (row.check, row.verdict, row.reason, row.expected, row.came, row.do, row.see)
        if detailed
        else (row.check, row.verdict, row.text(), row.see)
        for row in shown
    ]
    session.show_rows(arguments, columns, cells)
    counts = [f"{report.count(PASSED)} passed", f"{len(report.failed)} failed"]
    hints, others = report.count("hint"), report.count(NOT_APPLICABLE)
    screen.say(f"{', '.join(counts)}, {hints} with a hint, {others} not applicable.")
    return 1 if report.count(FAILED) else 0


def _parse_options(arguments: argparse.Namespace) -> EndpointCheckOptions:
    options = {row.name: getattr(arguments, row.name) for row in fields(EndpointCheckOptions)}
    if arguments.callback_url and not arguments.listen:
        options["listen"] = "127.0.0.1:0"
    return EndpointCheckOptions(**options)
