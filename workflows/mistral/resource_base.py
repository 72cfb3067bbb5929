"""The base class of resource types at a Mistral: access, and the time limit of requests.

Knows nothing of HTTP, so that a template without such types costs nothing: the runner that the
settings name lends them an API (``mistral_api``).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Literal, Protocol

from zonda.hooks import NotFound, NotReady, ResourceFailure, TemplateError, UsageError, resource

#: The workflow reference that leads to the runner: its name and no workflow.
REFERENCE = "mistral:"


class Unanswered(NotReady):
    """Mistral could not be reached, or had no time. Not a failure until one gives up.

    ``may_have_arrived``: what was asked for may have been done all the same.
    """

    def __init__(self, delay: float, message: str, *, may_have_arrived: bool = True) -> None:
        super().__init__(delay, message)
        self.may_have_arrived = may_have_arrived


class RequestDeferred(NotReady):
    """Nothing was sent, since Mistral gets enough of us, or a rest. Never a failure."""

    may_have_arrived = False


class Api(Protocol):
    """The API that the runner provides; see ``mistral_api.MistralApi``."""

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
        """Mistral's answer as data.

        Raises NotFound, Conflict, ResourceFailure, Unanswered and PutOff.
        """


class MistralResource(resource.Resource):
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
        """Ask the API within an operation: gives up after a while."""
        api = self.api()
        operation, now = self.context.operation, self.context.clock.now()
        last = operation is None or now - operation.started_at >= api.give_up
        try:
            return api.ask(method, *parts, last=last, **more)
        except (Unanswered, RequestDeferred) as error:
            if operation is None or (last and isinstance(error, Unanswered)):
                raise ResourceFailure(error.message) from error
            self.context.progress(error.message)
            raise

    def build_namespace_query(self) -> dict[str, str]:
        """The query that names the namespace of workflows."""
        return {"namespace": self.api().namespace}

    def check_mistral_settings(self) -> None:
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

    def mark_as_sent(self) -> bool:
        """Note that the creation is sent; return whether that may have been done before."""
        known = self.data().get("name") == self.physical_name()
        if not known:
            self.data_set("name", self.physical_name())
        return known

    def is_ours(self) -> bool:
        """Whether Mistral has this very object, as after a request whose answer was lost."""
        raise NotImplementedError

    def find_orphan(self) -> str | None:
        """The name of an object whose creation was sent and never answered, if it is ours."""
        name = self.data().get("name")
        try:
            return name if name is not None and self.is_ours() else None
        except NotFound:
            return None

    def remove(self, *parts: str, **query: str) -> None:
        """Remove an object, which may be gone already."""
        with suppress(NotFound):
            self.ask("DELETE", *parts, query=query)
