"""``zonda stack resource signal`` and ``zonda stack resource mark unhealthy``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zonda.core.engine.actions import MarkResource, MoveResource, SignalResource
from zonda.core.template.files.reader import read_text
from zonda.core.template.source.json_text import read_json
from zonda.hooks import records
from zonda.hooks.errors import UsageError

from ..arguments import STACK, argument, exclusive, takes
from ..options import nested
from ..progress.follow import follow_signal
from ..progress.run_action import say_planned
from ..session import Session

_RESOURCE = (
    STACK,
    argument("resource", metavar="RESOURCE", help="name in the template, id, or OWNER/NAME"),
)


@takes(
    *_RESOURCE,
    exclusive(
        argument(
            "--data",
            "--data-binary",
            metavar="JSON",
            help="what the signal says: a JSON object (--data-binary as with curl)",
        ),
        argument("--data-file", metavar="FILE", help="the same from a file"),
    ),
)
def signal(session: Session, arguments: argparse.Namespace) -> int:
    """Send a signal to a resource."""
    where, name = nested.split_address(arguments.stack, arguments.resource)
    action = SignalResource(where, name, _parse_details(arguments))
    running = session.app.engine.act(action, drive=False)
    root = nested.find_root_stack(session, running.stack_id)
    if not root.idle:  # whose end is for the command that has begun it
        if not running.client.is_at_rest(root):
            say_planned(session, running)
        return 0
    waiting = session.app.engine.wait(root.id)
    # a member of a cluster goes on by itself, and may have come to the end by now
    return follow_signal(session, records.replace(waiting, events_before=running.events_before))


def _parse_details(arguments: argparse.Namespace) -> dict[str, Any]:
    text, option = arguments.data, "--data"
    if arguments.data_file is not None:
        text, option = read_text(Path(arguments.data_file)), "--data-file"
    if text is None:
        return {}
    try:
        found = read_json(text)
    except ValueError as error:
        raise UsageError(f"{option} is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise UsageError(f"{option} must be a JSON object.", hint='For example {"word": "go"}.')
    return found


@takes(
    *_RESOURCE,
    argument("reason", metavar="REASON", nargs="?", default="", help="why"),
    argument("--reset", action="store_true", help="it is well: take a mark or a failed check back"),
)
def mark(session: Session, arguments: argparse.Namespace) -> None:
    """Mark a resource, so that the next update replaces it, as after a failed check."""
    where, name = nested.split_address(arguments.stack, arguments.resource)
    action = MarkResource(where, name, arguments.reason, healthy=arguments.reset)
    session.app.engine.act(action, drive=False)


@takes(
    *_RESOURCE,
    argument("new", metavar="NEW", nargs="?", help="its name in the new template, or OWNER/NAME"),
    argument("--reset", action="store_true", help="it keeps its name after all"),
)
def move(session: Session, arguments: argparse.Namespace) -> None:
    """Move a resource to a new name, when the next update has NEW in its place."""
    new = arguments.new
    if arguments.reset == (new is not None):
        raise UsageError("Give the new name of the resource, or --reset.")
    session.app.engine.act(MoveResource(arguments.stack, arguments.resource, new), drive=False)
    if new is not None:
        session.screen.say(
            f"The update whose template has {new} instead of {arguments.resource} moves it; "
            "'zonda stack plan' shows that."
        )
