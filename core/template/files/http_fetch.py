"""Fetch files over http(s): in bounded time and size, by default from public addresses only.

Called by ``attachments``; knows nothing of templates. The addresses that a host's name leads to are
checked, at every redirect again, and the connection goes to one that has passed, since a name may
mean something else a moment later. Proxies and credentials of the environment are not used.
"""

from __future__ import annotations

from contextlib import closing
from urllib.parse import urljoin, urlsplit

from zonda.core.system.clock import SystemClock
from zonda.hooks.context import Clock
from zonda.hooks.http import (
    AddressPolicy,
    ClientConfig,
    RequestRejected,
    Transport,
    TransportError,
    networks,
)
from zonda.hooks.http.resolver import Resolve, resolve_host
from zonda.hooks.records import dataclass

SCHEMES = ("http", "https")
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_EVERYWHERE = networks(["0.0.0.0/0", "::/0"])


class Refused(Exception):
    """Raised for a file that is not fetched, with the reason."""


@dataclass(frozen=True, slots=True)
class RemotePolicy:
    """The limits of a fetch. ``seconds``: for one file with all its redirects.

    ``private``: addresses that are not public may be asked, too.
    """

    max_bytes: int = 1_048_576
    seconds: float = 30.0
    private: bool = False


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file, and its address after all redirects: names in it are relative to that."""

    content: bytes
    url: str


def fetch(
    url: str,
    policy: RemotePolicy,
    resolve: Resolve = resolve_host,
    clock: Clock | None = None,
) -> FetchedFile:
    """Fetch the file at ``url``; raises Refused."""
    fetching = _Fetch(policy, resolve, clock or SystemClock())
    with closing(fetching.transport):
        try:
            return fetching.run(url)
        except TransportError as error:
            if fetching.is_late:  # how long the last of several requests had tells nobody anything
                raise Refused(f"no whole answer within {policy.seconds:g} s") from error
            raise Refused(f"the connection failed: {error}") from error
        except RequestRejected as error:
            raise Refused(f"{error}") from error
        except ValueError as error:
            raise Refused("the address cannot be used") from error


class _Fetch:
    """One file, with its redirects."""

    def __init__(self, policy: RemotePolicy, resolve: Resolve, clock: Clock) -> None:
        self._clock = clock
        self._end = clock.monotonic() + policy.seconds
        self.transport = Transport(
            ClientConfig(
                clock,
                connect_timeout=policy.seconds,
                max_body=policy.max_bytes,
                policy=AddressPolicy(
                    allowed=_EVERYWHERE if policy.private else (),
                    resolve=resolve,
                    remedy="files from such addresses are fetched where allow_remote_files is any",
                ),
            )
        )

    @property
    def is_late(self) -> bool:
        return self._get_seconds_left() <= 0

    def run(self, url: str) -> FetchedFile:
        for _ in range(_MOST_REDIRECTS + 1):
            self._check_url(url)
            reply = self.transport.send("GET", url, {}, seconds=self._get_seconds_left())
            target = reply.headers.get("Location", "")
            if reply.status not in _REDIRECTS or not target:
                if reply.status != 200:
                    raise Refused(f"the server answers {reply.status}")
                return FetchedFile(reply.body, url)
            url = self._resolve_redirect(url, target)
        raise Refused(f"more than {_MOST_REDIRECTS} redirects")

    def _get_seconds_left(self) -> float:
        return self._end - self._clock.monotonic()

    def _resolve_redirect(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
            raise Refused("it redirects from https to something less safe")
        return target

    def _check_url(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise Refused(f"{parts.scheme or 'this'} is no scheme to fetch files by")
