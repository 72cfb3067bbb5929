"""The schedule and policy of drift checks: by command, by options, by environment.

What a command has said counts, whatever the environment says before or after, until a command says
``environment``. Otherwise the section counts, as far as the last update had one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import drift_section
from zonda.core.template.environment.drift_section import OFF, POLICIES, REPORT
from zonda.hooks import records
from zonda.hooks.errors import UsageError

from ..services import EngineServices

#: Column ``drift_by``.
COMMAND, ENVIRONMENT = "command", ""
#: An exception that the environment has given a span: which, and (as in the section) until when.
SPAN, UNTIL = "span", drift_section.UNTIL
#: The schedule in a command that gives it back to the environment's section.
GIVEN_BACK = "environment"
_NOTHING: Mapping[str, object] = {
    "drift_schedule": "",
    "drift_policy": OFF,
    "drift_next": None,
}


def build_columns(
    services: EngineServices, stack: StackRow, schedule: str | None, policy: str | None
) -> dict[str, object]:
    """The columns of a stack for a command; raises UsageError for an invalid schedule."""
    if schedule is not None and schedule.strip().lower() == GIVEN_BACK:
        if policy is not None:
            raise UsageError(
                "The environment says the policy, too.", hint="Leave it out, or give a schedule."
            )
        said = json.loads(stack.drift_said or "{}")
        _check_has_schedule(said)
        return _build_environment_columns(services, stack, said)
    return {**_build_columns(services, stack, schedule, policy), "drift_by": COMMAND}


def plan_columns(
    services: EngineServices,
    stack: StackRow,
    said: Mapping[str, Any],
    schedule: str | None = None,
    policy: str | None = None,
    *,
    is_new: bool = False,
) -> dict[str, object]:
    """The columns for a plan: ``said`` is the environment's section, the others are options.

    ``is_new``: somebody has just written it, and is told what cannot be meant.
    """
    said = _add_end_times(stack, said, services.clock.now())
    text = json.dumps(said, sort_keys=True) if said else ""
    found: dict[str, object] = {} if text == stack.drift_said else {"drift_said": text}
    if schedule is not None and schedule.strip().lower() == GIVEN_BACK:
        stack = records.replace(stack, drift_said=text)
        return {**found, **build_columns(services, stack, schedule, policy)}
    if schedule is not None or policy is not None:
        chosen = said.get("schedule") if schedule is None else schedule
        return {**found, **build_columns(services, stack, chosen, policy or said.get("policy"))}
    if not found or stack.drift_by == COMMAND:
        return found
    if is_new:
        _check_has_schedule(said)
    return {**found, **_build_environment_columns(services, stack, said)}


def is_overridden(stack: StackRow, changed: Mapping[str, object]) -> bool:
    """Whether the environment's section is overridden: a command has set more."""
    said = json.loads(str(changed.get("drift_said") or "{}"))
    is_new = "schedule" in said or "policy" in said
    return is_new and changed.get("drift_by", stack.drift_by) == COMMAND


def _add_end_times(stack: StackRow, said: Mapping[str, Any], now: float) -> dict[str, Any]:
    """The section with the time at which each exception ends.

    A span (``until: 30d``) counts from the plan that says it first: who says it at every update
    does not mean for ever.
    """
    before = json.loads(stack.drift_said or "{}").get(drift_section.IGNORE, ())
    known = {_get_identity(each): each.get(UNTIL) for each in before if SPAN in each}
    rules = []
    for each in said.get(drift_section.IGNORE, ()):
        rule = dict(each)
        if UNTIL in rule and drift_section.parse_moment(rule[UNTIL]) is None:
            rule[SPAN] = rule[UNTIL]
        if UNTIL in rule:
            end = known.get(_get_identity(rule)) if SPAN in rule else None
            rule[UNTIL] = end or drift_section.parse_end(rule[UNTIL], now)
        rules.append(rule)
    return {**said, drift_section.IGNORE: rules} if rules else dict(said)


def _get_identity(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(rule.get(key) for key in (drift_section.RESOURCE, drift_section.PROPERTY, SPAN))


def _check_has_schedule(said: Mapping[str, Any]) -> None:
    """Raise UsageError for a policy without a schedule."""
    policy = said.get(drift_section.POLICY)
    if policy in (None, "off") or said.get(drift_section.SCHEDULE) is not None:
        return
    raise UsageError(
        f"The environment says the drift policy {policy}, and no schedule that it could go with.",
        hint="Say 'schedule: 15m' beside it, or 'schedule: off' where nothing is to happen by "
        "itself; or give --drift-schedule.",
    )


def _build_environment_columns(
    services: EngineServices, stack: StackRow, said: Mapping[str, Any]
) -> dict[str, object]:
    found = dict(_NOTHING)
    if said.get("schedule") is not None:
        found = _build_columns(services, stack, said["schedule"], said.get("policy") or REPORT)
    return {**found, "drift_by": ENVIRONMENT}


def _build_columns(
    services: EngineServices, stack: StackRow, schedule: str | None, policy: str | None
) -> dict[str, object]:
    policy = None if policy is None else policy.strip()
    if policy is not None and policy not in POLICIES and policy.upper() != OFF:
        raise UsageError(
            f"{policy!r} is no policy for drift.", hint=f"Give one of {', '.join(POLICIES)}, off."
        )
    text = stack.drift_schedule if schedule is None else schedule.strip()
    if text.lower() in ("", "off") or (policy or "").upper() == OFF:
        if schedule is None and not stack.drift_schedule and (policy or "").upper() != OFF:
            raise UsageError(
                f"Stack {stack.name} has no schedule that the policy {policy} could go with.",
                hint="Give a schedule too, e.g. 15m or '*/15 * * * *'.",
            )
        return dict(_NOTHING)
    from zonda.core.template.environment.schedules import parse_schedule  # few stacks have one

    parse_schedule(text)
    timing, now = services.settings.timing, services.clock.now()
    return {
        "drift_schedule": text,
        "drift_policy": policy or (REPORT if stack.drift_policy == OFF else stack.drift_policy),
        "drift_next": None if timing is None else timing.compute_next_due(text, stack.id, now),
    }
