"""Stacks as Heat's API shows them: rows of lists, and the whole of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.core.reports.outputs import OutputView
from zonda.core.store.read.pages import ListedStack
from zonda.core.store.read.views import StackView
from zonda.core.template.definition.stack_definition import StackDefinition
from zonda.core.template.parameters.parameters import build_cfn_pseudo
from zonda.hooks.errors import ZondaError
from zonda.hooks.text.redaction import MASK

from ...http.calls import Call
from ..values import format_time

HIDDEN = "******"
NO_DESCRIPTION = "No description"


def build_links(call: Call, name: str, stack_id: str) -> list[dict[str, str]]:
    """The link of a stack to itself."""
    return [{"href": call.build_url("stacks", name, stack_id), "rel": "self"}]


def build_row(call: Call, listed: ListedStack) -> dict[str, Any]:
    """The row of a stack in a list."""
    stack = listed.stack
    row = {
        "id": stack.id,
        "links": build_links(call, stack.name, stack.id),
        "stack_name": stack.name,
        "description": "",
        "stack_status": stack.state,
        "stack_status_reason": stack.status_reason,
        "creation_time": format_time(stack.created_at),
        "updated_time": format_time(stack.updated_at),
        "deletion_time": format_time(stack.deleted_at),
        "stack_owner": listed.user,
        "parent": listed.parent,
        "stack_user_project_id": stack.project,
        "tags": list(stack.tags) or None,
    }
    if call.caller.is_admin:
        row["project"] = stack.project
    return row


def build_stack(call: Call, listed: ListedStack, *, with_outputs: bool) -> dict[str, Any]:
    """The whole of a stack."""
    stack = listed.stack
    shown = {
        "id": stack.id,
        "links": build_links(call, stack.name, stack.id),
        "stack_name": stack.name,
        "description": stack.description or NO_DESCRIPTION,
        "template_description": stack.description or NO_DESCRIPTION,
        "stack_status": stack.state,
        "stack_status_reason": stack.status_reason,
        "creation_time": format_time(stack.created_at),
        "updated_time": format_time(stack.updated_at),
        "deletion_time": format_time(stack.deleted_at),
        "parameters": _read_parameters(call, stack),
        "capabilities": [],
        "notification_topics": [],
        "disable_rollback": stack.disable_rollback,
        "timeout_mins": _show_timeout(call, stack),
        "stack_owner": listed.user,
        "parent": listed.parent,
        "stack_user_project_id": stack.project,
        "tags": list(stack.tags),
    }
    if with_outputs:
        shown["outputs"] = [build_output(each) for each in call.project.resolve_outputs(stack)]
    return shown


def _show_timeout(call: Call, stack: StackView) -> int | None:
    """The minutes that were asked for; null where it is the time of the settings."""
    default = call.project.service.settings.stack_timeout_mins
    return None if stack.timeout_mins == default else stack.timeout_mins


def build_output(output: OutputView) -> dict[str, Any]:
    """One output."""
    shown = {
        "output_key": output.name,
        "description": output.description or "No description given",
        "output_value": HIDDEN if output.value == MASK else output.value,
    }
    if output.error:
        shown["output_error"] = output.error
    return shown


def _read_parameters(call: Call, stack: StackView) -> dict[str, str]:
    pseudo = {
        "OS::stack_id": stack.id,
        "OS::project_id": stack.project,
        "OS::stack_name": stack.name,
    }
    if stack.template_id is None:
        return pseudo
    try:
        definition = call.project.service.find_definition(stack.template_id)
    except ZondaError:  # its types may be gone; all else is shown
        return pseudo
    return format_parameters(definition, pseudo)


def format_parameters(definition: StackDefinition, pseudo: Mapping[str, str]) -> dict[str, str]:
    """The values of parameters as texts, hidden ones masked.

    ``pseudo``: HOT's pseudo parameters; a template in CloudFormation's notation shows its own.
    """
    if not pseudo.keys() <= definition.parameters.pseudo.keys():
        pseudo = build_cfn_pseudo(pseudo)
    shown: Mapping[str, Any] = definition.parameters.redact_values()
    hidden = definition.parameters.hidden
    own = {
        name: HIDDEN if name in hidden else _format_value(value) for name, value in shown.items()
    }
    return {**own, **pseudo}


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (Mapping, list)) else str(value)
