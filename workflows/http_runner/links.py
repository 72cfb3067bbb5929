"""The URLs that an endpoint names: where to poll, where to cancel. Only some may be called.

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
    """What may be called, by the settings of one runner."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings

    def cancel_url(self, answer: Answer, status_url: str, url: str) -> str:
        """Where to cancel; empty where that is not offered, or not where it may be."""
        given = answer.text("cancel_url")
        if not given:
            return status_url if answer.body.get("cancellable") is True else ""
        try:
            return self.callable(given, url, "the cancel URL")
        except WrongAnswer:
            return ""

    def status_url(self, answer: Answer, url: str, reply: Reply) -> str:
        """Where to poll, absolute; empty where the answer says nothing. Raises WrongAnswer."""
        given = answer.text("status_url") or reply.headers.get("Location", "")
        return self.callable(given, url, "the status URL") if given else ""

    def callable(self, given: str, base: str, name: str) -> str:
        """A URL of an answer, absolute. Raises WrongAnswer for one that must not be called."""
        found = joined(base, given)
        if not self.may_call(found, base):
            raise WrongAnswer(
                f"{name} {redacted_url(found)} is of another origin, "
                "which poll_origins does not list"
            )
        if len(found) > LONGEST:
            raise WrongAnswer(f"{name} is longer than {LONGEST} characters")
        return found

    def may_call(self, url: str, base: str) -> bool:
        """Whether what ``base`` has answered may send us to ``url``."""
        found = origin(url)
        return bool(found) and (found == origin(base) or found in self._settings.poll_origins)


def joined(base: str, given: str) -> str:
    """A URL of an answer, absolute; one that is none is given as it is."""
    try:
        return urljoin(base, given)
    except ValueError:
        return given
