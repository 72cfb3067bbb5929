"""The runner behind bare names of workflows: whichever bundled service of this home has them.

Made by ``app_lender``. Services come and go, with other addresses: each question looks anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zonda.core.settings.table import BUNDLED
from zonda.hooks.context import Clock
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    PollAnswer,
    Retry,
    Running,
    StartAnswer,
    Started,
    StartRequest,
    WorkflowRunner,
)

from .runner_service import Service, ServiceRecord, Serving

NOT_RUNNING = "the bundled workflow service is not running"
#: In a token: which service has the run.
_SERVICE = "service"
_LOOK_AGAIN = 1.0


class BundledRunner(WorkflowRunner):
    """The ``http`` runner at the address of a running service, wherever that is just now.

    ``records`` gives those of the services that may be asked. While none of them runs that has, or
    had, the workflow, starts are tried again for ``give_up`` seconds; runs that have been started
    go on: their service finds them again when it comes back.
    """

    def __init__(
        self,
        records: Callable[[], Sequence[ServiceRecord]],
        make: Callable[[Mapping[str, Any]], WorkflowRunner],
        clock: Clock,
        give_up: float,
        *,
        label: str = BUNDLED,
        lenient: bool = False,
    ) -> None:
        self._records = records
        self._make = make
        self._clock = clock
        self._give_up = give_up
        self.label = label
        self._lenient = lenient
        self._known: dict[str, tuple[Service, WorkflowRunner]] = {}

    # -- which service --------------------------------------------------------------------------

    def _running(self) -> list[Service]:
        found = (record.service() for record in self._records())
        return [service for service in found if service is not None]

    def _inner(self, service: Service) -> WorkflowRunner:
        name = service.serving.name
        known = self._known.get(name)
        if known is None or known[0] != service:
            section = {"endpoint": service.address, "token": service.token}
            known = self._known[name] = (service, self._make(section))
        return known[1]

    def _at(self, token: Mapping[str, Any]) -> WorkflowRunner | None:
        """Who has the run of a token, if that service runs."""
        name = token.get(_SERVICE, BUNDLED)
        found = (record.service() for record in self._records() if record.name == name)
        service = next(found, None)
        return None if service is None else self._inner(service)

    def _how(self, workflow: str) -> str:
        """The command that serves ``workflow``, as far as anybody knows which."""
        served = (record.serving() for record in self._records())
        had = (each for each in served if workflow in each.workflows)
        return next(had, Serving(self.label)).command

    # -- the interface --------------------------------------------------------------------------

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure if no service runs, or none knows ``workflow``."""
        if self._lenient:
            return
        running = self._running()
        hint = f"Serve it with '{self._how(workflow)}', or set default_runner to another runner."
        if not running:
            message = f"The workflow {workflow} cannot be run: {NOT_RUNNING}."
            raise ResourceFailure(message, hint=hint)
        try:
            self._inner(_who_has(workflow, running)).check(workflow)
        except ResourceFailure as error:
            raise ResourceFailure(error.message, hint=error.hint or hint) from error

    def start(self, request: StartRequest) -> StartAnswer:
        """Start at the service that has the workflow; wait for it to come up if none has."""
        workflow, running = request.workflow, self._running()
        missing = not any(workflow in each.serving.workflows for each in running)
        awaited = not running or any(
            workflow in record.serving().workflows for record in self._records()
        )
        if missing and awaited:
            if self._clock.now() - request.started_at < self._give_up:
                message = f"{self._why(workflow, running)}: {self._how(workflow)}"
                return Retry(_LOOK_AGAIN, message, request.answered)
            return Finished(Failed(self._gone(request, running), by_runner=True))
        service = _who_has(workflow, running)
        answer = self._inner(service).start(request)
        if isinstance(answer, Started):
            return replace(answer, token={**answer.token, _SERVICE: service.serving.name})
        if missing and isinstance(answer, Finished) and isinstance(answer.result, Failed):
            reason = f"{answer.result.reason} {self._gone(request, running)}"
            return replace(answer, result=replace(answer.result, reason=reason))
        return answer

    def _why(self, workflow: str, running: Sequence[Service]) -> str:
        if not running:
            return NOT_RUNNING
        files = ", ".join(file for each in running for file in each.serving.files)
        return f"no file that is served ({files}) has the workflow {workflow}"

    def _gone(self, request: StartRequest, running: Sequence[Service]) -> str:
        """That nobody has the workflow, and what to do about it."""
        why, how = self._why(request.workflow, running), self._how(request.workflow)
        said = f"{why[0].upper()}{why[1:]}: serve it with '{how}'"
        if request.action != "DELETE":
            return f"{said}, or name another runner."
        return f"{said}, or forget the stack with 'zonda stack abandon', which leaves all it made."

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Ask the service; until it comes back the run counts as running."""
        inner = self._at(token)
        if inner is None:
            name = token.get(_SERVICE, BUNDLED)
            served = (record.serving() for record in self._records() if record.name == name)
            how = next(served, Serving(name)).command
            told = f"waiting for runner {name}: {NOT_RUNNING}: {how}, next try in 1 s"
            return Running(_LOOK_AGAIN, told)
        answer = inner.poll(token)
        if isinstance(answer, Running) and answer.token is not None and _SERVICE in token:
            return replace(answer, token={**answer.token, _SERVICE: token[_SERVICE]})
        return answer

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask the service."""
        inner = self._at(token)
        return Cancelled.UNSUPPORTED if inner is None else inner.cancel(token, reason)

    def forget(self, token: Mapping[str, Any]) -> None:
        """Tell the service."""
        inner = self._at(token)
        if inner is not None:
            inner.forget(token)

    def close(self) -> None:
        """Close the connections to the services."""
        for _, runner in self._known.values():
            runner.close()
        self._known.clear()


def _who_has(workflow: str, running: Sequence[Service]) -> Service:
    """The service that serves ``workflow``, else the first, which says that it does not."""
    return next((each for each in running if workflow in each.serving.workflows), running[0])
