"""The account at a server: its address, and what proves whose the requests are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from zonda.core.settings.table import Settings


@dataclass(frozen=True, slots=True)
class Account:
    """An account. ``project``: where the server does not bind the caller to one."""

    url: str
    project: str
    token: str = field(default="", repr=False)
    ca_bundle: str = ""

    def read_headers(self) -> Mapping[str, str]:
        """The headers that prove who asks."""
        return {"X-Auth-Token": self.token} if self.token else {}


def choose_account(settings: Settings) -> Account:
    """The account of the settings."""
    return Account(settings.url, settings.project, settings.token, settings.url_ca_bundle)
