"""Rules about keys, deletion, failure, cancelling and time: each a run or two of its own."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin

from zonda.hooks.conformance import NotApplicable
from zonda.hooks.http import Reply

from ..http_contract import response
from ..http_contract.response import ACCEPTED
from .probe import Operation, Outcome, has_outcome, is_ended, read_answer
from .trial import Trial, require_delete
from .violations import Hint, Violated

_KEEP = "Keep the key with the first answer, and give that again instead of working again"


# -- keys -----------------------------------------------------------------------------------------


def check_same_key_again(trial: Trial) -> None:
    """A request that is repeated after its run has ended gets the first outcome."""
    reply = trial.probe.send_once(trial.first, attempt=2)
    _check_same_outcome(trial, trial.first, reply, trial.outcome, "sent again with the same key")


def check_same_key_at_once(trial: Trial) -> None:
    """Two requests with one key at the same time are one run."""
    probe, operation = trial.probe, trial.create()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda number: probe.send_once(operation, attempt=number), (1, 2))
    _check_not_refused(operation, first, "sent twice at once")
    outcome = trial.keep_outcome(operation, probe.outcome(operation, first))
    _check_same_outcome(trial, operation, second, outcome, "sent twice at once")
    if not outcome.differs(trial.outcome):
        raise Hint(
            "outcomes of different runs that differ, in resource_id for instance",
            "all runs end alike, so nobody can see whether the work was done twice",
            "Count for yourself that three keys have led to no more than three runs",
        )


def _check_same_outcome(
    trial: Trial, operation: Operation, reply: Reply, first: Outcome, what: str
) -> None:
    _check_not_refused(operation, reply, what)
    difference = first.differs(trial.probe.outcome(operation, reply))
    if difference:
        raise Violated(
            f"the outcome of the first request, {what}",
            f"another one ({difference}): the work was done twice",
            _KEEP,
        )


def _check_not_refused(operation: Operation, reply: Reply, what: str) -> None:
    if reply.status == 409 and not has_outcome(reply):
        raise Violated(
            f"how the run stands, {what}: its first answer, or 409 with state or status_url",
            response.format_reason(reply),
            _KEEP,
        )


def check_same_key_other_body(trial: Trial) -> None:
    """A key belongs to one request."""
    other = trial.probe.change_body(trial.first)
    reply = trial.probe.send_once(other)
    if 400 <= reply.status < 500 and not has_outcome(reply):
        return
    if reply.status >= 500:
        raise Violated(
            "409 for a known key with another body", response.format_reason(reply), "Answer 409"
        )
    difference = trial.outcome.differs(trial.probe.outcome(other, reply))
    if difference:
        raise Violated(
            "409 for a known key with another body",
            f"another outcome ({difference}): the work was done again",
            "Keep a digest of the body with the key, and answer 409 where it is another",
        )
    raise Hint(
        "409 for a known key with another body",
        f"HTTP {reply.status} with the first outcome",
        "Keep a digest of the body with the key, and answer 409 where it is another",
    )


# -- deletion -------------------------------------------------------------------------------------


def check_delete(trial: Trial) -> None:
    """A resource that was made can be deleted."""
    require_delete(trial)
    _run_delete(trial, trial.first, trial.outcome)


def _run_delete(trial: Trial, made: Operation, outcome: Outcome | None) -> None:
    found = trial.probe.run(trial.probe.operation("DELETE", made=made, outcome=outcome))
    if found.state != "succeeded":
        raise Violated(
            "a DELETE that succeeds",
            f"it ended as {found.state}: {found.reason or 'without a reason'}",
            "Answer 204 once it is gone",
        )
    trial.keep_deleted(made)


def check_delete_again(trial: Trial) -> None:
    """To delete what is deleted already is no error."""
    require_delete(trial)
    if trial.first.request.resource.id not in trial.deleted:
        raise NotApplicable("it could not be deleted once")
    _run_delete(trial, trial.first, trial.outcome)


def check_delete_unknown(trial: Trial) -> None:
    """To delete what was never made is no error: a CREATE may have been lost on the way."""
    require_delete(trial)
    never = trial.probe.operation()
    _run_delete(trial, never, None)


def check_unknown_workflow(trial: Trial) -> None:
    """A mistyped name does not look like a thing that is gone."""
    require_delete(trial)
    if trial.probe.target.workflow.startswith(("http://", "https://")):
        raise NotApplicable("the endpoint is one workflow; --workflow NAME names one of several")
    name = f"{trial.probe.target.workflow}-{trial.probe.new_id()}"
    reply = trial.probe.send_once(trial.probe.operation("DELETE", workflow=name))
    if reply.status == 410 or response.says_gone(reply):
        raise Violated(
            "404 without contract, where there is no such workflow",
            f"HTTP {reply.status}, which says that the thing is gone",
            'Say "contract": 1 or 410 of things only, not of URLs',
        )
    if reply.status < 400:
        raise Hint(
            "404 where there is no such workflow",
            f"HTTP {reply.status}",
            "Refuse names that you do not know: a mistyped one is found out then",
        )


# -- failure and cancelling -----------------------------------------------------------------------


def check_failure(trial: Trial) -> None:
    """A failed run says why."""
    inputs = trial.probe.target.failing_inputs
    if inputs is None:
        raise NotApplicable("no --failing-input is given that makes a run fail")
    operation = trial.create(inputs=inputs)
    reply = trial.probe.send_once(operation)
    if reply.status >= 400 and not has_outcome(reply):
        return _check_error_status(reply)
    outcome = trial.keep_outcome(operation, trial.probe.outcome(operation, reply))
    if outcome.state == "succeeded":
        raise Violated(
            '"state": "failed"',
            "it succeeded",
            "Answer state failed, or give a --failing-input that makes the run fail",
        )
    if not outcome.reason:
        raise Violated(
            f'a reason beside "state": "{outcome.state}"', "none", "Say in one sentence why"
        )
    return None


def _check_error_status(reply: Reply) -> None:
    if not response.find_explanation(response.decode_json(reply)):
        raise Violated(
            'a reason, e.g. {"state": "failed", "reason": "..."}',
            response.format_reason(reply),
            "Say in one sentence why",
        )
    if reply.status >= 500:
        raise Hint(
            'HTTP 200 with "state": "failed"',
            f"HTTP {reply.status}",
            "A 5xx is sent again three times before it counts",
        )


def check_cancel(trial: Trial) -> None:
    """A run that can be cancelled ends soon after."""
    probe, operation = trial.probe, trial.create()
    reply = probe.send_once(operation)
    answer = probe.read_accepted(operation, reply)
    if answer is None or is_ended(answer, reply):
        raise NotApplicable("the run ended before it could be cancelled")
    place = probe.place(operation, reply, answer)
    given = answer.text("cancel_url")
    url = urljoin(operation.url, given) if given else place
    if not given and answer.body.get("cancellable") is not True:
        trial.keep_outcome(operation, probe.outcome(operation, reply))
        raise NotApplicable("the endpoint offers neither cancel_url nor cancellable")
    probe.check_url(url, operation.url, "a cancel_url")
    said = probe.later("DELETE", url, operation.request.key)
    if not (200 <= said.status < 300 or said.status in (404, 410)):
        raise Violated(
            "2xx, 404 or 410 to the request to cancel",
            response.format_reason(said),
            "Answer 202 and end the run, or offer no cancelling",
        )
    trial.keep_outcome(operation, probe.outcome(operation, reply))


# -- time -----------------------------------------------------------------------------------------


def check_past_deadline(trial: Trial) -> None:
    """A request whose time is over is not worked on."""
    late = trial.create(deadline=trial.probe.clock.now() - 60)
    reply = trial.probe.send_once(late)
    if 400 <= reply.status < 500:
        trial.keep_deleted(late)
        return
    if reply.status >= 500:
        raise Violated(
            "a refusal, or an answer as to any other request",
            response.format_reason(reply),
            "Compare deadline with the time of day before working",
        )
    read_answer(reply, "an answer")
    outcome = trial.keep_outcome(late, trial.probe.outcome(late, reply))
    if outcome.state == "succeeded":
        raise Hint(
            "no work for a request whose deadline is over",
            "it was worked on, and nobody waits for it",
            'Answer "state": "failed" where deadline is over',
        )


# -- the end --------------------------------------------------------------------------------------


def _send_delete(trial: Trial) -> bool:
    """Send a DELETE for the first run, whatever becomes of it, if the endpoint took that."""
    if not trial.probe.target.delete or trial.reply.status not in ACCEPTED:
        return False
    with contextlib.suppress(Violated):
        trial.probe.send_once(trial.probe.operation("DELETE", made=trial.first))
    return True


def check_cleanup(trial: Trial) -> None:
    """Everything that was made here is deleted."""
    if trial.stopped:
        more = "; a DELETE was sent for what was made" * _send_delete(trial)
        raise NotApplicable(f"left out: {trial.stopped}{more}")
    require_delete(trial)
    left = [one for one in trial.made if one[0].request.resource.id not in trial.deleted]
    for operation, outcome in left:
        _run_delete(trial, operation, outcome)
