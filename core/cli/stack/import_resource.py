"""``zonda stack import``: bind an existing object to a resource of a stack."""

from __future__ import annotations

import argparse

from zonda.core.engine.actions import ImportResource

from ..arguments import STACK, argument, takes
from ..progress import busy_stacks, result
from ..progress.follow import follow_passing
from ..progress.run_action import say_planned
from ..session import Session


@takes(
    STACK,
    argument(
        "resource", metavar="RESOURCE", help="a resource of the template that does not exist yet"
    ),
    argument("physical_id", metavar="PHYSICAL_ID", help="the id of what exists"),
    argument(
        "--force", action="store_true", help="although another resource has the same physical id"
    ),
    busy_stacks.add_arguments,
    result.add_field_arguments,
)
def bind(session: Session, arguments: argparse.Namespace) -> int:
    """Bind an object to a resource; nothing is created. Prints the differences, if known."""
    action = ImportResource(
        arguments.stack, arguments.resource, arguments.physical_id, arguments.force
    )
    running = busy_stacks.submit_action(session, arguments, action, arguments.stack, "IMPORT")
    if not arguments.wait:
        say_planned(session, running)
        result.show_stack(session, arguments, running)
        return 0
    code = follow_passing(session, running, f"Resource {arguments.resource} is imported.")
    if code == 0:
        view = session.app.reader.resource(running.stack_id, arguments.resource)
        said = "its type cannot tell what it really is, so nothing was compared"
        if view.status_reason != "state changed":
            said = view.status_reason
        session.screen.say(f"{arguments.resource}: {said}")
    result.show_stack(session, arguments, running)
    return code
