"""``OS::Heat::Delay``: puts a pause between resources."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, ClassVar

from zonda.hooks import (
    SupportStatus,
    TemplateError,
    constraints,
    properties,
)

from ..base import DefinitionResource
from .timer import is_over, make_wait_token

MIN_WAIT = "min_wait"
MAX_JITTER = "max_jitter"
MULTIPLIER = "jitter_multiplier"
ACTIONS = "actions"

_Schema = properties.Schema


def _make_seconds_schema(description: str, default: float) -> properties.Schema:
    return _Schema(
        _Schema.NUMBER,
        description,
        default=default,
        update_allowed=True,
        constraints=[constraints.Range(min=0)],
    )


class Delay(DefinitionResource):
    """Waits during the chosen actions, for a fixed time and a random one on top.

    What requires it waits with it. The random part, at most ``max_jitter`` times
    ``jitter_multiplier`` seconds, keeps many equal resources from starting at once.
    """

    support_status = SupportStatus(version="11.0.0")
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        MIN_WAIT: _make_seconds_schema("The least time to wait, in seconds.", 0),
        MAX_JITTER: _make_seconds_schema("The most random time to wait on top.", 0),
        MULTIPLIER: _make_seconds_schema("How many seconds one unit of max_jitter is.", 1.0),
        ACTIONS: _Schema(
            _Schema.LIST,
            "The actions that wait.",
            default=["CREATE"],
            update_allowed=True,
            constraints=[constraints.AllowedValues(["CREATE", "DELETE", "SUSPEND", "RESUME"])],
        ),
    }

    def validate(self) -> None:
        """The longest wait must fit into the stack's timeout."""
        longest = self.properties[MIN_WAIT] + self._compute_most_jitter()
        if longest > self.context.stack_timeout:
            raise TemplateError(f"{self.type()} maximum delay {longest}s exceeds stack timeout.")

    def _compute_most_jitter(self) -> float:
        return float(self.properties[MAX_JITTER] * self.properties[MULTIPLIER])

    def _start(self, action: str) -> dict[str, Any]:
        """The token of ``action``; the random part is chosen once, here."""
        seconds = 0.0
        if action in self.properties[ACTIONS]:
            jitter = self._compute_most_jitter() * self.context.random.random()
            seconds = self.properties[MIN_WAIT] + jitter
        return make_wait_token(self.context.clock, seconds)

    def handle_create(self) -> dict[str, Any]:
        """Begin to wait."""
        return self._start("CREATE")

    def handle_suspend(self) -> dict[str, Any]:
        """Begin to wait."""
        return self._start("SUSPEND")

    def handle_resume(self) -> dict[str, Any]:
        """Begin to wait."""
        return self._start("RESUME")

    def handle_delete(self) -> dict[str, Any]:
        """Begin to wait."""
        return self._start("DELETE")

    def check_create_complete(self, token: MutableMapping[str, Any]) -> bool:
        """Whether the time is over."""
        return is_over(self.context.clock, token)

    check_suspend_complete = check_create_complete
    check_resume_complete = check_create_complete
    check_delete_complete = check_create_complete
