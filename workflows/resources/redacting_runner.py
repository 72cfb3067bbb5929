"""A runner that redacts secrets in all answers of another runner.

Types whose requests hold secrets of their own (``{secret: env:NAME}``), or go to a URL with a
password, ask their runner through it. What is said is masked, and so is what is kept. A
``resource_id`` cannot be: it would be of no use, so such an answer is refused. A runner's tokens
are passed on; the engine seals them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from zonda.hooks import (
    MASK,
    SHORTEST,
    WORKFLOW_FAILED,
    ResourceFailure,
    ZondaError,
    describe_runner,
    redact_message,
    secret_texts,
)
from zonda.hooks import redact as without
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    Lost,
    PollAnswer,
    Retry,
    Running,
    StartAnswer,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
    check_answer,
)

from .secret_fingerprints import SentSecrets

#: Actions whose answer may name the physical resource; that of the others is not looked at.
_NAMING = ("CREATE", "UPDATE", "SUSPEND", "RESUME")


class RedactingRunner(WorkflowRunner):
    """``runner`` for one action; ``secrets`` gives the values to redact.

    Where it was sent something that nobody knows any more, nothing of what it says is passed on.
    """

    def __init__(
        self, runner: WorkflowRunner, action: str, secrets: Callable[[], SentSecrets]
    ) -> None:
        self._runner = runner
        self.label = runner.label
        self._action = action
        self._secrets = secrets

    def check(self, workflow: str) -> None:
        """Raise ``ResourceFailure`` if ``workflow`` certainly does not exist."""
        with self._redact_errors():
            self._runner.check(workflow)

    def start(self, request: StartRequest) -> StartAnswer:
        """Start an execution; the answer is redacted."""
        with self._redact_errors() as (texts, _):
            answer = self._runner.start(request)
            check_answer(answer, "start", describe_runner(self._runner, request.workflow))
        if isinstance(answer, Retry):
            return replace(answer, message=redact_message(answer.message, texts))
        name = answer.execution_id
        answer = replace(answer, execution_id=name if redact_value(name, texts) == name else "")
        if isinstance(answer, Started):
            return answer
        return Finished(self._redact_result(answer.result, texts), answer.execution_id)

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Return the state of the execution."""
        with self._redact_errors() as (texts, lacking):
            answer = self._runner.poll(token)
            check_answer(answer, "poll", describe_runner(self._runner, ""))
        if lacking:
            return self._withhold(answer, lacking)
        if isinstance(answer, Running):
            return replace(answer, message=redact_message(answer.message, texts))
        if isinstance(answer, Lost):
            return Lost(redact_message(answer.reason, texts))
        return self._redact_result(answer, texts)

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask for the execution to be ended."""
        with self._redact_errors():
            return self._runner.cancel(token, reason)

    def forget(self, token: Mapping[str, Any]) -> None:
        """Let the runner tidy up."""
        with self._redact_errors():
            self._runner.forget(token)

    def _withhold(self, answer: PollAnswer, lacking: str) -> PollAnswer:
        """The replacement of an answer that must not be shown or kept."""
        if isinstance(answer, Running):
            return replace(answer, message="")
        if isinstance(answer, Lost):
            return Lost(lacking)
        if isinstance(answer, Succeeded) and self._action == "DELETE":
            return Succeeded()
        how = "well" if isinstance(answer, Succeeded) else "badly"
        hint = "Leave secrets as they are until the runs that were told them have ended."
        raise ResourceFailure(
            f"{self._action} ended {how}. {lacking}", hint=hint, code=WORKFLOW_FAILED
        )

    def _redact_result(
        self, result: Succeeded | Failed, texts: Sequence[str]
    ) -> Succeeded | Failed:
        said = redact_message(result.reason, texts) if isinstance(result, Failed) else ""
        given = result.resource_id or (result.output or {}).get("resource_id")
        if redact_value(given, texts) != given and self._action in _NAMING:
            refused = f"The resource_id that {self._action} answered holds a secret."
            raise ResourceFailure(
                f"{refused} {said}".strip(),
                hint="It is shown to everybody: have the workflow answer with an id without it.",
                code=WORKFLOW_FAILED,
            )
        output = redact_value(result.output, texts)
        if isinstance(result, Failed):
            result = replace(result, reason=said)
        if redact_value(given, texts) != given:
            output = {key: value for key, value in output.items() if key != "resource_id"}
            return replace(result, output=output, resource_id=None)
        return replace(result, output=output)

    @contextmanager
    def _redact_errors(self) -> Iterator[tuple[Sequence[str], str]]:
        """The texts to redact, and why nothing may be shown; errors in the block are redacted."""
        known = self._secrets()
        texts, lacking = secret_texts(known.values), ""
        if known.lacking:
            names = " and ".join(known.lacking)
            lacking = f"Its answer cannot be shown: {names} is not what it was when it was sent."
        try:
            yield texts, lacking
        except ZondaError as error:
            error.message = lacking or redact_message(error.message, texts)
            error.hint = "" if lacking else redact_message(error.hint, texts)
            error.args = (error.message,)
            raise


def redact_value(value: Any, texts: Sequence[str]) -> Any:
    """``value`` without any of ``texts`` (``secret_texts``), at any depth; numbers as well."""
    if isinstance(value, str):
        return without(value, texts)
    if isinstance(value, Mapping):
        return {redact_value(key, texts): redact_value(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [redact_value(item, texts) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        said = str(value)
        return MASK if len(said) >= SHORTEST and without(said, texts) != said else value
    return value
