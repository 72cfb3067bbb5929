"""The properties and attributes of ``OS::Mistral::Workflow``, as data."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import SupportStatus, attributes, constraints, properties, support

NAME = "name"
TYPE = "type"
DESCRIPTION = "description"
INPUT = "input"
OUTPUT = "output"
PARAMS = "params"
TASKS = "tasks"
TASK_DEFAULTS = "task_defaults"
TAGS = "tags"
BODY_AS_INPUT = "use_request_body_as_input"

ACTION = "action"
WORKFLOW = "workflow"
POLICIES = "policies"
REQUIRES = "requires"
CONCURRENCY = "concurrency"
WITH_ITEMS = "with_items"
JOIN = "join"
DIRECT, REVERSE = "direct", "reverse"
#: The keys that once stood below ``policies``.
ONCE_POLICIES = ("pause_before", "wait_after", "wait_before", "timeout", "concurrency", "retry")

DATA = "data"
ALARM_URL = "alarm_url"
EXECUTIONS = "executions"

#: The custom constraint for names and ids of workflows.
WORKFLOW_CONSTRAINT = "mistral.workflow"

_Schema = properties.Schema
_SINCE_2015 = SupportStatus(version="5.0.0")


def _make_changeable_schema(
    kind: str, description: str, version: str = "2015.1", **more: object
) -> _Schema:
    given = {"update_allowed": True, "support_status": SupportStatus(version=version), **more}
    return _Schema(kind, description, **given)  # type: ignore[arg-type]


#: The keys that a task may have and ``task_defaults`` may say for all of them.
_COMMON: Mapping[str, _Schema] = {
    "on_success": _Schema(_Schema.LIST, "The tasks to run once a task has ended well."),
    "on_error": _Schema(_Schema.LIST, "The tasks to run once a task has failed."),
    "on_complete": _Schema(_Schema.LIST, "The tasks to run once a task has ended, well or not."),
    REQUIRES: _Schema(
        _Schema.LIST, "The tasks that must have run before; for reverse workflows only."
    ),
    "retry": _Schema(
        _Schema.MAP, "How often a failed task is repeated, and when.", support_status=_SINCE_2015
    ),
    "wait_before": _Schema(
        _Schema.INTEGER, "Seconds to wait before a task starts.", support_status=_SINCE_2015
    ),
    "wait_after": _Schema(
        _Schema.INTEGER,
        "Seconds to wait after a task before the next ones start.",
        support_status=_SINCE_2015,
    ),
    "pause_before": _Schema(
        _Schema.BOOLEAN,
        "Whether the workflow is paused before a task starts.",
        support_status=_SINCE_2015,
    ),
    "timeout": _Schema(
        _Schema.INTEGER,
        "Seconds after which a task that still runs has failed.",
        support_status=_SINCE_2015,
    ),
    CONCURRENCY: _Schema(
        _Schema.INTEGER,
        "How many actions of a task run at a time; for tasks with with_items only.",
        support_status=SupportStatus(version="8.0.0"),
    ),
}

_TASK: Mapping[str, _Schema] = {
    "name": _Schema(_Schema.STRING, "The name of the task.", required=True),
    "description": _Schema(_Schema.STRING, "What the task is for."),
    "input": _Schema(_Schema.MAP, "The input of its action or workflow."),
    ACTION: _Schema(_Schema.STRING, "The action that does the work; this or workflow is given."),
    WORKFLOW: _Schema(
        _Schema.STRING,
        "The workflow that does the work, by name or get_resource; this or action is given.",
        constraints=[constraints.CustomConstraint(WORKFLOW_CONSTRAINT)],
    ),
    "publish": _Schema(_Schema.MAP, "What the task adds to the variables of the workflow."),
    **_COMMON,
    POLICIES: _Schema(
        _Schema.MAP,
        "Former place of pause_before, wait_before, wait_after, timeout, concurrency and retry.",
        support_status=SupportStatus(
            status=support.HIDDEN,
            version="8.0.0",
            message="Give them in the task itself.",
            previous_status=SupportStatus(
                status=support.DEPRECATED,
                version="5.0.0",
                previous_status=SupportStatus(version="2015.1"),
            ),
        ),
    ),
    WITH_ITEMS: _Schema(
        _Schema.STRING,
        'Runs the task once for each item, e.g. "vm in <% $.vms %>".',
        support_status=_SINCE_2015,
    ),
    "keep_result": _Schema(
        _Schema.BOOLEAN,
        "Whether the result of the task is kept once it has ended.",
        support_status=_SINCE_2015,
    ),
    "target": _Schema(
        _Schema.STRING, "The executor that the action is sent to.", support_status=_SINCE_2015
    ),
    JOIN: _Schema(
        _Schema.STRING,
        "How many of the tasks before it must have ended: all, or a number.",
        support_status=SupportStatus(version="6.0.0"),
    ),
}

PROPERTIES_SCHEMA: Mapping[str, _Schema] = {
    NAME: _Schema(_Schema.STRING, "The name of the workflow; one is made up where it is absent."),
    TYPE: _make_changeable_schema(
        _Schema.STRING,
        "Whether tasks name those after them (direct) or those before them (reverse).",
        required=True,
        constraints=[constraints.AllowedValues([DIRECT, REVERSE])],
    ),
    BODY_AS_INPUT: _make_changeable_schema(
        _Schema.BOOLEAN,
        "Whether a signal as a whole is the input; otherwise it has the keys input and params.",
        "6.0.0",
    ),
    TAGS: _make_changeable_schema(_Schema.LIST, "The tags of the workflow.", "10.0.0"),
    DESCRIPTION: _make_changeable_schema(_Schema.STRING, "What the workflow is for."),
    INPUT: _make_changeable_schema(
        _Schema.MAP,
        "The inputs of the workflow by name; the values are what a signal runs it with.",
    ),
    OUTPUT: _make_changeable_schema(
        _Schema.MAP, "The outputs of the workflow, with expressions in them."
    ),
    PARAMS: _make_changeable_schema(
        _Schema.MAP,
        "Parameters that a signal runs it with; for a reverse workflow task_name is needed.",
    ),
    TASK_DEFAULTS: _make_changeable_schema(
        _Schema.MAP,
        "What holds for every task that does not say otherwise.",
        "5.0.0",
        schema=_COMMON,
    ),
    TASKS: _make_changeable_schema(
        _Schema.LIST,
        "The tasks of the workflow.",
        required=True,
        constraints=[constraints.Length(min=1)],
        schema=_Schema(_Schema.MAP, schema=_TASK),
    ),
}

ATTRIBUTES_SCHEMA: Mapping[str, attributes.Schema] = {
    DATA: attributes.Schema("The name and the input of the workflow.", type=attributes.Schema.MAP),
    ALARM_URL: attributes.Schema(
        "Where a signal that runs the workflow is sent to. Null as long as no server runs; hidden.",
        type=attributes.Schema.STRING,
        cache_mode=attributes.Schema.CACHE_NONE,
        hidden=True,
    ),
    EXECUTIONS: attributes.Schema(
        "What signals have run, newest first: id, workflow_name, created_at, updated_at, state, "
        "input and output of each.",
        type=attributes.Schema.LIST,
    ),
}
