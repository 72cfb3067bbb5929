"""``zonda stack show --at N``: a past state of a stack, as far as it is kept."""

from __future__ import annotations

import argparse
from typing import Any

from zonda.core.reports.past import NOT_KEPT, Past
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import ZondaError

from ..console import formats
from ..session import Session

#: Shown to programs, and to people who ask for it with ``-c``.
LONG = ("template",)


def show(session: Session, arguments: argparse.Namespace) -> int:
    """Show the stack at the end of a generation, its template and the state of its resources."""
    stack = session.app.stacks.find(arguments.stack)
    telling, screen = session.app.inspector, session.screen
    past = telling.read_past(stack, arguments.at)
    fields = _build_fields(stack, past)
    try:
        given = telling.show_input(stack, past.action)
        fields["parameters"] = dict(given.parameters)
        fields["environments"] = dict(given.environments)
        fields["template"] = given.template
    except ZondaError as error:
        screen.say(
            f"{screen.colour_message('warning', 'yellow')}: the template cannot be shown: {error}"
        )
    if arguments.format == "table" and not arguments.column:
        fields = {name: value for name, value in fields.items() if name not in LONG}
    session.show_fields(arguments, fields)
    _say_missing_data(session, past)
    return 0


def _build_fields(stack: StackView, past: Past) -> dict[str, Any]:
    action = past.action
    return {
        "id": stack.id,
        "stack_name": stack.name,
        "generation": action.generation,
        "stack_status": past.state,
        "outcome": action.status,
        "stack_status_reason": action.status_reason,
        "by": action.by,
        "started": formats.format_time(action.started_at),
        "ended": formats.format_time(action.ended_at),
        "resources": [
            {
                "resource_name": each.name,
                "resource_type": each.type,
                "physical_resource_id": each.physical_id,
                "resource_status": each.state,
                "since": formats.format_time(each.since),
            }
            for each in past.resources
        ],
    }


def _say_missing_data(session: Session, past: Past) -> None:
    session.screen.say(f"Not kept: {NOT_KEPT}.")
    if not past.complete:
        session.screen.say(
            "Older events are not kept any more: resources that nothing was done to are missing."
        )
