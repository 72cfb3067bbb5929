"""Whether requests are worth sending to this process, and why not."""

from __future__ import annotations

from zonda.core.app.app import App

from ..http.calls import Answer, make_text
from ..identity.callers import Identity


class Readiness:
    """The readiness of one server. ``is_stopping``: it answers what has begun, and no more."""

    def __init__(self, app: App, identity: Identity) -> None:
        self._app = app
        self._identity = identity
        self.is_stopping = False

    def find_reasons(self) -> list[str]:
        """The reasons against it; none for a server that is ready. Asks the identity service."""
        if self.is_stopping:
            return ["The server is about to stop."]
        reasons = (self._app.engine.find_trouble(), self._identity.find_trouble())
        return [reason for reason in reasons if reason]

    def answer(self) -> Answer:
        """The answer for a load balancer. The reasons are no secrets."""
        reasons = self.find_reasons()
        if not reasons:
            return make_text(200, "OK", "text/plain")
        return make_text(503, "\n".join(reasons), "text/plain")
