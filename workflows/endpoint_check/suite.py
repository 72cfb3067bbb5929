"""The conformance suite of endpoints: does one keep the ``http`` contract, version 1?

``zonda runner check`` runs it. The endpoint is really called, and makes and deletes things. Rules
are tried in order; where one of the first is not kept, those that need it are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, Final, NamedTuple

from zonda.hooks.conformance import Kind, Row, Rule, Suite

from ..http_runner.settings import read_settings
from . import auth_rules as secrets
from . import request_rules as rules
from . import response_rules as answers
from .callback_rules import callback_listener, check_callback
from .probe import Probe, Target
from .trial import Trial

#: The document of the rules.
DOCUMENT: Final = "docs/reference/http-contract.md"


class EndpointRule(NamedTuple):
    """One rule. ``see``: the heading that tells of it; ``kind``: see ``conformance.Rule``."""

    check: Callable[[Trial], None]
    see: str
    kind: Kind = "plain"


_ANSWER, _REQUEST, _CALLBACKS = "the-answer", "the-request", "callbacks"
RULES: Mapping[str, EndpointRule] = {
    "answers": EndpointRule(answers.check_answers, _ANSWER, "basic"),
    "size": EndpointRule(answers.check_size, _ANSWER, "basic"),
    "no redirect": EndpointRule(answers.check_no_redirect, _ANSWER, "basic"),
    "status": EndpointRule(answers.check_status, _ANSWER, "basic"),
    "JSON": EndpointRule(answers.check_json_object, _ANSWER, "basic"),
    "fields": EndpointRule(answers.check_answer_fields, _ANSWER),
    "place to poll": EndpointRule(answers.check_place_to_poll, _ANSWER, "basic"),
    "Retry-After": EndpointRule(answers.check_retry_after, _ANSWER),
    "end": EndpointRule(answers.check_end, _ANSWER, "basic"),
    "resource_id": EndpointRule(answers.check_resource_id, _ANSWER),
    "same key again": EndpointRule(rules.check_same_key_again, _REQUEST),
    "same key at once": EndpointRule(rules.check_same_key_at_once, _REQUEST),
    "same key, other body": EndpointRule(rules.check_same_key_other_body, _REQUEST),
    "failure": EndpointRule(rules.check_failure, _ANSWER),
    "cancel": EndpointRule(rules.check_cancel, _ANSWER),
    "past deadline": EndpointRule(rules.check_past_deadline, _REQUEST),
    "right signature": EndpointRule(secrets.check_right_signature, _REQUEST),
    "wrong signature": EndpointRule(secrets.check_wrong_signature, _REQUEST),
    "no signature": EndpointRule(secrets.check_no_signature, _REQUEST),
    "old signature": EndpointRule(secrets.check_old_signature, _REQUEST),
    "two signatures": EndpointRule(secrets.check_two_signatures, _REQUEST),
    "credentials": EndpointRule(secrets.check_credentials, _REQUEST),
    "callback": EndpointRule(check_callback, _CALLBACKS),
    "delete": EndpointRule(rules.check_delete, _ANSWER),
    "delete again": EndpointRule(rules.check_delete_again, _ANSWER),
    "delete what never was": EndpointRule(rules.check_delete_unknown, _ANSWER),
    "unknown workflow": EndpointRule(rules.check_unknown_workflow, _ANSWER),
    "tidied up": EndpointRule(rules.check_cleanup, _ANSWER, "cleanup"),
}


class EndpointSuite(Suite):
    """The rules for one endpoint; a context that listens for callbacks and keeps connections.

    ``section``: settings of an ``http`` runner. ``pause`` waits for so many seconds; ``new_id``
    gives keys. Raises UsageError for settings or a target that cannot be used.
    """

    def __init__(
        self,
        target: Target,
        section: Mapping[str, Any],
        *,
        pause: Callable[[float], object],
        new_id: Callable[[], str],
        on_row: Callable[[Row], object] | None = None,
    ) -> None:
        super().__init__("", on_row)
        self._probe = Probe(target, read_settings(section), pause, new_id)
        self._opened = ExitStack()
        first = self._probe.operation()
        self._trial = Trial(self._probe, first, made=[(first, None)])
        self.rules = [
            Rule(
                self,
                name,
                partial(self._try, each.check),
                kind=each.kind,
                see=f"{DOCUMENT}#{each.see}",
            )
            for name, each in RULES.items()
        ]

    def __enter__(self) -> EndpointSuite:
        self._opened.callback(self._probe.close)
        listener = self._probe.target.listener
        if listener is not None:
            self._trial.listener = self._opened.enter_context(callback_listener(listener))
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def redact(self, text: str) -> str:
        """``text`` without anything secret that is known here."""
        return self._probe.clean(text)

    def _try(self, check: Callable[[Trial], None]) -> None:
        self._trial.stopped = self.stopped
        check(self._trial)
