"""The runner of workflows with bare names: the bundled service that serves the workflow.

Made by ``resource_services``. Services come and go, with other addresses: each question looks anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zonda.core.settings.table import BUNDLED
from zonda.hooks.context import Clock
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.records import replace
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

from .runner_service import ServedWorkflows, Service, ServiceRecord

NOT_RUNNING = "the bundled workflow service is not running"
#: In a token: which service has the run.
_SERVICE = "service"
_LOOK_AGAIN = 1.0


class BundledRunner(WorkflowRunner):
    """The ``http`` runner at the present address of a running bundled service.

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

    def _list_running(self) -> list[Service]:
        return [s for record in self._records() if (s := record.service()) is not None]

    def _get_runner(self, service: Service) -> WorkflowRunner:
        name = service.serving.name
        known = self._known.get(name)
        if known is None or known[0] != service:
            section = {"endpoint": service.address, "token": service.token}
            known = self._known[name] = (service, self._make(section))
        return known[1]

    def _find_runner(self, token: Mapping[str, Any]) -> WorkflowRunner | None:
        """Return the runner that has the run of a token, if its service runs."""
        name = token.get(_SERVICE, BUNDLED)
        found = (record.service() for record in self._records() if record.name == name)
        service = next(found, None)
        return None if service is None else self._get_runner(service)

    def _format_serve_command(self, workflow: str) -> str:
        """Format the command that serves ``workflow``, as far as it is known."""
        served = (record.serving() for record in self._records())
        had = (each for each in served if workflow in each.workflows)
        return next(had, ServedWorkflows(self.label)).command

    # -- the interface --------------------------------------------------------------------------

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure if no service runs, or none knows ``workflow``."""
        if self._lenient:
            return
        running = self._list_running()
        hint = (
            f"Serve it with '{self._format_serve_command(workflow)}', or set "
            "default_runner to another runner."
        )
        if not running:
            message = f"The workflow {workflow} cannot be run: {NOT_RUNNING}."
            raise ResourceFailure(message, hint=hint)
        try:
            self._get_runner(_choose_service(workflow, running)).check(workflow)
        except ResourceFailure as error:
            raise ResourceFailure(error.message, hint=error.hint or hint) from error

    def start(self, request: StartRequest) -> StartAnswer:
        """Start the workflow at the service that has it; wait for that service if none has."""
        workflow, running = request.workflow, self._list_running()
        missing = not any(workflow in each.serving.workflows for each in running)
        awaited = not running or any(
            workflow in record.serving().workflows for record in self._records()
        )
        if missing and awaited:
            if self._clock.now() - request.started_at < self._give_up:
                message = (
                    f"{self._explain_missing(workflow, running)}: "
                    f"{self._format_serve_command(workflow)}"
                )
                return Retry(_LOOK_AGAIN, message, request.answered)
            return Finished(Failed(self._format_missing(request, running), by_runner=True))
        service = _choose_service(workflow, running)
        answer = self._get_runner(service).start(request)
        if isinstance(answer, Started):
            return replace(answer, token={**answer.token, _SERVICE: service.serving.name})
        if missing and isinstance(answer, Finished) and isinstance(answer.result, Failed):
            reason = f"{answer.result.reason} {self._format_missing(request, running)}"
            return replace(answer, result=replace(answer.result, reason=reason))
        return answer

    def _explain_missing(self, workflow: str, running: Sequence[Service]) -> str:
        if not running:
            return NOT_RUNNING
        files = ", ".join(file for each in running for file in each.serving.files)
        return f"no file that is served ({files}) has the workflow {workflow}"

    def _format_missing(self, request: StartRequest, running: Sequence[Service]) -> str:
        """Format the error that no service has the workflow, with advice."""
        why, how = (
            self._explain_missing(request.workflow, running),
            self._format_serve_command(request.workflow),
        )
        said = f"{why[0].upper()}{why[1:]}: serve it with '{how}'"
        if request.action != "DELETE":
            return f"{said}, or name another runner."
        return f"{said}, or forget the stack with 'zonda stack abandon', which leaves all it made."

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Poll the service; until it comes back the run counts as running."""
        inner = self._find_runner(token)
        if inner is None:
            name = token.get(_SERVICE, BUNDLED)
            served = (record.serving() for record in self._records() if record.name == name)
            how = next(served, ServedWorkflows(name)).command
            told = f"waiting for runner {name}: {NOT_RUNNING}: {how}, next try in 1 s"
            return Running(_LOOK_AGAIN, told)
        answer = inner.poll(token)
        if isinstance(answer, Running) and answer.token is not None and _SERVICE in token:
            return replace(answer, token={**answer.token, _SERVICE: token[_SERVICE]})
        return answer

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Cancel the run at its service."""
        inner = self._find_runner(token)
        return Cancelled.UNSUPPORTED if inner is None else inner.cancel(token, reason)

    def forget(self, token: Mapping[str, Any]) -> None:
        """Let the service forget the run."""
        inner = self._find_runner(token)
        if inner is not None:
            inner.forget(token)

    def close(self) -> None:
        """Close the connections to the services."""
        for _, runner in self._known.values():
            runner.close()
        self._known.clear()


def _choose_service(workflow: str, running: Sequence[Service]) -> Service:
    """Return the service that serves ``workflow``, else the first one, which will reject it."""
    return next((each for each in running if workflow in each.serving.workflows), running[0])
