"""When drift is looked for and what is done about it: by command, by options, by environment.

What a command has said counts, whatever the environment says before or after, until a command says
``environment``. Otherwise the section counts, as far as the last update had one.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import drift_section
from zonda.core.template.environment.drift_section import OFF, POLICIES, REPORT
from zonda.hooks.errors import UsageError

from ..model.drift_timing import next_due
from ..services import EngineServices

#: Column ``drift_by``.
COMMAND, ENVIRONMENT = "command", ""
#: An exception that the environment has given a span: which, and (as in the section) until when.
SPAN, UNTIL = "span", drift_section.UNTIL
#: What a command says for a schedule so that the environment's section counts again.
GIVEN_BACK = "environment"
_NOTHING: Mapping[str, object] = {
    "drift_schedule": "",
    "drift_policy": OFF,
    "drift_next": None,
}


def by_command(
    services: EngineServices, stack: StackRow, schedule: str | None, policy: str | None
) -> dict[str, object]:
    """The columns of a stack for what a command says; raises UsageError for what is none."""
    if schedule is not None and schedule.strip().lower() == GIVEN_BACK:
        if policy is not None:
            raise UsageError(
                "The environment says the policy, too.", hint="Leave it out, or give a schedule."
            )
        said = json.loads(stack.drift_said or "{}")
        _check_policy(said)
        return _by_environment(services, stack, said)
    return {**_columns(services, stack, schedule, policy), "drift_by": COMMAND}


def planned(
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
    said = _since(stack, said, services.clock.now())
    text = json.dumps(said, sort_keys=True) if said else ""
    found: dict[str, object] = {} if text == stack.drift_said else {"drift_said": text}
    if schedule is not None and schedule.strip().lower() == GIVEN_BACK:
        stack = dataclasses.replace(stack, drift_said=text)
        return {**found, **by_command(services, stack, schedule, policy)}
    if schedule is not None or policy is not None:
        chosen = said.get("schedule") if schedule is None else schedule
        return {**found, **by_command(services, stack, chosen, policy or said.get("policy"))}
    if not found or stack.drift_by == COMMAND:
        return found
    if is_new:
        _check_policy(said)
    return {**found, **_by_environment(services, stack, said)}


def is_unheard(stack: StackRow, changed: Mapping[str, object]) -> bool:
    """Whether a plan brings another section that counts for nothing: a command has said more."""
    said = json.loads(str(changed.get("drift_said") or "{}"))
    is_new = "schedule" in said or "policy" in said
    return is_new and changed.get("drift_by", stack.drift_by) == COMMAND


def _since(stack: StackRow, said: Mapping[str, Any], now: float) -> dict[str, Any]:
    """The section with the time at which each exception ends.

    A span (``until: 30d``) counts from the plan that says it first: who says it at every update
    does not mean for ever.
    """
    before = json.loads(stack.drift_said or "{}").get(drift_section.IGNORE, ())
    known = {_identity(each): each.get(UNTIL) for each in before if SPAN in each}
    rules = []
    for each in said.get(drift_section.IGNORE, ()):
        rule = dict(each)
        if UNTIL in rule and drift_section.moment(rule[UNTIL]) is None:
            rule[SPAN] = rule[UNTIL]
        if UNTIL in rule:
            end = known.get(_identity(rule)) if SPAN in rule else None
            rule[UNTIL] = end or drift_section.until(rule[UNTIL], now)
        rules.append(rule)
    return {**said, drift_section.IGNORE: rules} if rules else dict(said)


def _identity(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(rule.get(key) for key in (drift_section.RESOURCE, drift_section.PROPERTY, SPAN))


def _check_policy(said: Mapping[str, Any]) -> None:
    """Raise UsageError for a policy with nothing that it could be for."""
    policy = said.get(drift_section.POLICY)
    if policy in (None, "off") or said.get(drift_section.SCHEDULE) is not None:
        return
    raise UsageError(
        f"The environment says the drift policy {policy}, and no schedule that it could go with.",
        hint="Say 'schedule: 15m' beside it, or 'schedule: off' where nothing is to happen by "
        "itself; or give --drift-schedule.",
    )


def _by_environment(
    services: EngineServices, stack: StackRow, said: Mapping[str, Any]
) -> dict[str, object]:
    found = dict(_NOTHING)
    if said.get("schedule") is not None:
        found = _columns(services, stack, said["schedule"], said.get("policy") or REPORT)
    return {**found, "drift_by": ENVIRONMENT}


def _columns(
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
    _check_schedule(text)
    known = stack.drift_policy if stack.drift_policy != OFF else REPORT
    return {
        "drift_schedule": text,
        "drift_policy": policy or known,
        "drift_next": _next(services, stack, text),
    }


def _check_schedule(text: str) -> None:
    from zonda.core.template.environment.schedules import read_schedule  # few stacks have one

    read_schedule(text)


def _next(services: EngineServices, stack: StackRow, text: str) -> float | None:
    timing = services.settings.timing
    return None if timing is None else next_due(timing, text, stack.id, services.clock.now())
