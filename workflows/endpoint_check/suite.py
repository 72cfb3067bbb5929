"""The conformance kit for endpoints: does one keep the ``http`` contract, version 1?

``zonda runner check`` runs it. The endpoint is really called, and makes and deletes things. Rules
are tried in order; where one of the first is not kept, those that need it are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from zonda.hooks.conformance import NotApplicable

from ..http_runner.settings import read_settings
from . import auth_rules as secrets
from . import request_rules as rules
from . import response_rules as answers
from .callback_rules import callback
from .probe import Probe, Target
from .report import FAILED, HINT, NOT_APPLICABLE, PASSED, Hint, Report, Row, Violated
from .trial import Trial


class Rule(NamedTuple):
    """One rule. ``see``: the heading that tells of it; ``basic``: the rest needs it."""

    try_it: Callable[[Trial], None]
    see: str
    basic: bool = False


_ANSWER, _REQUEST, _CALLBACKS = "the-answer", "the-request", "callbacks"
RULES: Mapping[str, Rule] = {
    "answers": Rule(answers.answers, _ANSWER, basic=True),
    "size": Rule(answers.size, _ANSWER, basic=True),
    "no redirect": Rule(answers.no_redirect, _ANSWER, basic=True),
    "status": Rule(answers.status, _ANSWER, basic=True),
    "JSON": Rule(answers.json_object, _ANSWER, basic=True),
    "fields": Rule(answers.fields, _ANSWER),
    "place to poll": Rule(answers.place_to_poll, _ANSWER, basic=True),
    "Retry-After": Rule(answers.retry_after, _ANSWER),
    "end": Rule(answers.end, _ANSWER, basic=True),
    "resource_id": Rule(answers.resource_id, _ANSWER),
    "same key again": Rule(rules.same_key_again, _REQUEST),
    "same key at once": Rule(rules.same_key_at_once, _REQUEST),
    "same key, other body": Rule(rules.same_key_other_body, _REQUEST),
    "failure": Rule(rules.failure, _ANSWER),
    "cancel": Rule(rules.cancel, _ANSWER),
    "past deadline": Rule(rules.past_deadline, _REQUEST),
    "right signature": Rule(secrets.right_signature, _REQUEST),
    "wrong signature": Rule(secrets.wrong_signature, _REQUEST),
    "no signature": Rule(secrets.no_signature, _REQUEST),
    "old signature": Rule(secrets.old_signature, _REQUEST),
    "two signatures": Rule(secrets.two_signatures, _REQUEST),
    "credentials": Rule(secrets.credentials, _REQUEST),
    "callback": Rule(callback, _CALLBACKS),
    "delete": Rule(rules.delete, _ANSWER),
    "delete again": Rule(rules.delete_again, _ANSWER),
    "delete what never was": Rule(rules.delete_unknown, _ANSWER),
    "unknown workflow": Rule(rules.unknown_workflow, _ANSWER),
    "tidied up": Rule(rules.tidy, _ANSWER),
}


def check(
    target: Target,
    section: Mapping[str, Any],
    *,
    pause: Callable[[float], object],
    new_id: Callable[[], str],
    told: Callable[[Row], None] = lambda row: None,
) -> Report:
    """Every rule on one endpoint. ``section``: settings of an ``http`` runner, clock included.

    ``pause`` waits for so many seconds; ``new_id`` gives keys. Raises UsageError for settings or
    a target that cannot be used.
    """
    settings = read_settings(section)
    probe = Probe(target, settings, pause, new_id)
    report = Report(told, probe.clean)
    try:
        first = probe.operation()
        trial = Trial(probe, first, made=[(first, None)])
        for name, rule in RULES.items():
            _row(report, name, rule, trial)
    finally:
        probe.close()
    return report


def _row(report: Report, name: str, rule: Rule, trial: Trial) -> None:
    if report.stopped:
        sent = rule.try_it is rules.tidy and rules.delete_sent(trial)
        more = "; a DELETE was sent for what was made" if sent else ""
        report.add(name, NOT_APPLICABLE, rule.see, f"left out: {report.stopped!r} failed{more}")
        return
    try:
        rule.try_it(trial)
    except NotApplicable as reason:
        report.add(name, NOT_APPLICABLE, rule.see, str(reason))
    except Hint as finding:
        report.found(name, HINT, rule.see, finding.found)
    except Violated as finding:
        report.found(name, FAILED, rule.see, finding.found)
        report.stopped = name if rule.basic else ""
    else:
        report.add(name, PASSED, rule.see)
