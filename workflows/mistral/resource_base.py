"""What the resource types share that live at a Mistral: how they reach it, and their patience.

Knows nothing of HTTP, so that a template without such types costs nothing: the runner that the
settings name lends them an API (``mistral_api``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol

from zonda.hooks import NotReady, ResourceFailure, TemplateError, UsageError, resource

#: The workflow reference that leads to the runner: its name and no workflow.
REFERENCE = "mistral:"


class Unanswered(NotReady):
    """Mistral could not be reached, or had no time. Not a failure until one gives up.

    ``may_have_arrived``: what was asked for may have been done all the same.
    """

    def __init__(self, delay: float, message: str, *, may_have_arrived: bool = True) -> None:
        super().__init__(delay, message)
        self.may_have_arrived = may_have_arrived


class PutOff(NotReady):
    """Nothing was sent, since Mistral gets enough of us, or a rest. Never a failure."""

    may_have_arrived = False


class Api(Protocol):
    """What the runner lends; see ``mistral_api.MistralApi``."""

    @property
    def give_up(self) -> float:
        """Seconds after which a Mistral that never answers is given up."""

    @property
    def namespace(self) -> str:
        """The namespace of workflows."""

    def ask(
        self,
        method: str,
        *parts: str,
        query: Mapping[str, str] | None = None,
        content: Any = None,
        question: bool = False,
        **how: bool,
    ) -> Any:
        """What Mistral answers, as data.

        Raises NotFound, Conflict, ResourceFailure, Unanswered and PutOff.
        """


class AtMistral(resource.Resource):
    """A resource at the Mistral that the settings name (``mistral_runner``)."""

    start_policy: ClassVar[Literal["fail", "idempotent", "find"]] = "idempotent"

    def api(self) -> Api:
        """The Mistral. Raises UsageError where none is configured."""
        runner, _ = self.context.runner(REFERENCE)
        api: Api | None = getattr(runner, "mistral", None)
        if api is None:
            raise UsageError(
                f"{self.type()} needs a runner of kind mistral, and has one of another kind.",
                hint='Add a section [runners.mistral] with kind = "mistral", or name another '
                "section in the setting mistral_runner.",
            )
        return api

    def ask(self, method: str, *parts: str, **more: Any) -> Any:
        """The same as the API's, within an operation: gives up after a while."""
        api = self.api()
        operation, now = self.context.operation, self.context.clock.now()
        last = operation is None or now - operation.started_at >= api.give_up
        try:
            return api.ask(method, *parts, last=last, **more)
        except (Unanswered, PutOff) as error:
            if operation is None or (last and isinstance(error, Unanswered)):
                raise ResourceFailure(error.message) from error
            self.context.progress(error.message)
            raise

    def in_namespace(self) -> dict[str, str]:
        """The query that names the namespace of workflows."""
        return {"namespace": self.api().namespace}

    def no_fault_of_settings(self) -> None:
        """Raise TemplateError where the resource has no Mistral."""
        try:
            self.api()
        except UsageError as error:
            raise TemplateError(
                error.message, path=("resources", self.name), hint=error.hint
            ) from error

    def physical_name(self) -> str:
        """The name at Mistral: the property ``name``, else one that is made up."""
        return str(self.properties["name"] or self.physical_resource_name())

    def may_be_sent_already(self) -> bool:
        """Whether a request to create it may have been sent before; from now on it may."""
        known = self.data().get("name") == self.physical_name()
        if not known:
            self.data_set("name", self.physical_name())
        return known
