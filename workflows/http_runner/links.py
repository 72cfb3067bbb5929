"""The URLs that an endpoint names, for polls and cancelling. Only some may be called.

A URL of another origin than the endpoint's would have us send requests, and what proves who we
are, to wherever an answer likes; the operator may list origins in ``poll_origins``. Pure.
"""

from __future__ import annotations

from urllib.parse import urljoin

from zonda.hooks.http import Reply

from ..http_contract.response import Answer, WrongAnswer
from .settings import HttpSettings, origin, redacted_url

LONGEST = 800


class Links:
    """The URLs that may be called, by the settings of one runner."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings

    def find_cancel_url(self, answer: Answer, status_url: str, url: str) -> str:
        """The URL to cancel; empty where none is offered, or where it must not be called."""
        given = answer.text("cancel_url")
        if not given:
            return status_url if answer.body.get("cancellable") is True else ""
        try:
            return self.resolve_allowed_url(given, url, "the cancel URL")
        except WrongAnswer:
            return ""

    def find_status_url(self, answer: Answer, url: str, reply: Reply) -> str:
        """The URL to poll, absolute; empty where the answer names none. Raises WrongAnswer."""
        given = answer.text("status_url") or reply.headers.get("Location", "")
        return self.resolve_allowed_url(given, url, "the status URL") if given else ""

    def resolve_allowed_url(self, given: str, base: str, name: str) -> str:
        """A URL of an answer, absolute. Raises WrongAnswer for one that must not be called."""
        found = join_url(base, given)
        if not self.may_call(found, base):
            raise WrongAnswer(
                f"{name} {redacted_url(found)} is of another origin, "
                "which poll_origins does not list"
            )
        if len(found) > LONGEST:
            raise WrongAnswer(f"{name} is longer than {LONGEST} characters")
        return found

    def may_call(self, url: str, base: str) -> bool:
        """Whether an answer from ``base`` may name ``url``."""
        found = origin(url)
        return bool(found) and (found == origin(base) or found in self._settings.poll_origins)


def join_url(base: str, given: str) -> str:
    """A URL of an answer, absolute; one that is none is given as it is."""
    try:
        return urljoin(base, given)
    except ValueError:
        return given
