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
from .callback_rules import check_callback
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
    "answers": Rule(answers.check_answers, _ANSWER, basic=True),
    "size": Rule(answers.check_size, _ANSWER, basic=True),
    "no redirect": Rule(answers.check_no_redirect, _ANSWER, basic=True),
    "status": Rule(answers.check_status, _ANSWER, basic=True),
    "JSON": Rule(answers.check_json_object, _ANSWER, basic=True),
    "fields": Rule(answers.check_answer_fields, _ANSWER),
    "place to poll": Rule(answers.check_place_to_poll, _ANSWER, basic=True),
    "Retry-After": Rule(answers.check_retry_after, _ANSWER),
    "end": Rule(answers.check_end, _ANSWER, basic=True),
    "resource_id": Rule(answers.check_resource_id, _ANSWER),
    "same key again": Rule(rules.check_same_key_again, _REQUEST),
    "same key at once": Rule(rules.check_same_key_at_once, _REQUEST),
    "same key, other body": Rule(rules.check_same_key_other_body, _REQUEST),
    "failure": Rule(rules.check_failure, _ANSWER),
    "cancel": Rule(rules.check_cancel, _ANSWER),
    "past deadline": Rule(rules.check_past_deadline, _REQUEST),
    "right signature": Rule(secrets.check_right_signature, _REQUEST),
    "wrong signature": Rule(secrets.check_wrong_signature, _REQUEST),
    "no signature": Rule(secrets.check_no_signature, _REQUEST),
    "old signature": Rule(secrets.check_old_signature, _REQUEST),
    "two signatures": Rule(secrets.check_two_signatures, _REQUEST),
    "credentials": Rule(secrets.check_credentials, _REQUEST),
    "callback": Rule(check_callback, _CALLBACKS),
    "delete": Rule(rules.check_delete, _ANSWER),
    "delete again": Rule(rules.check_delete_again, _ANSWER),
    "delete what never was": Rule(rules.check_delete_unknown, _ANSWER),
    "unknown workflow": Rule(rules.check_unknown_workflow, _ANSWER),
    "tidied up": Rule(rules.check_cleanup, _ANSWER),
}


def check(
    target: Target,
    section: Mapping[str, Any],
    *,
    pause: Callable[[float], object],
    new_id: Callable[[], str],
    told: Callable[[Row], None] = lambda row: None,
) -> Report:
    """Check one endpoint against every rule. ``section``: settings of an ``http`` runner.

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
            _add_row(report, name, rule, trial)
    finally:
        probe.close()
    return report


def _add_row(report: Report, name: str, rule: Rule, trial: Trial) -> None:
    if report.stopped:
        sent = rule.try_it is rules.check_cleanup and rules.send_delete(trial)
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
