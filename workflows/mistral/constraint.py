"""The custom constraint ``mistral.workflow``: a workflow that exists at Mistral."""

from __future__ import annotations

from typing import Any

from zonda.hooks import BaseCustomConstraint, ResourceContext, ResourceFailure, UsageError

from .resource_base import REFERENCE


class MistralWorkflow(BaseCustomConstraint):
    """``mistral.workflow``: a name or an id that Mistral does not deny to know."""

    examples = ("tidy", "report")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether nobody who can be asked says that there is no such workflow."""
        if not value or context is None:
            return True
        try:
            runner, known_as = context.runner(f"{REFERENCE}{value}")
            runner.check(known_as)
        except UsageError:
            return True  # no Mistral is configured; the type says so
        except ResourceFailure:
            self._error_message = f"The Workflow ({value}) could not be found."
            return False
        return True
