"""Resolves the names of hosts within a time limit; the machine's resolver has none.

Nothing interrupts ``getaddrinfo``: where the servers of names are silent it takes half a minute and
more. So a thread of its own asks, and is left alone when the time is over; it ends with the
resolver, or with the process. Whoever asks for the same name meanwhile waits for the same thread,
and there are only so many of them: a resolver that hangs does not gather threads.

Names that strangers choose and names that are configured have places of their own (``addresses``):
whoever answers no query for his names holds up nobody's endpoint.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

#: Gives the addresses that a name (or a number in any of its forms) leads to; raises OSError.
Resolve = Callable[[str, int], Sequence[str]]
_MOST = 32
#: The port is no part of a name: else one name could take all places.
_Key = tuple[Resolve, str]


def resolve_host(host: str, port: int) -> Sequence[str]:
    """The answer of the machine's resolver, which also reads ``0x7f.1`` and ``2130706433``."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class NotResolved(TimeoutError):
    """A name was not resolved in time."""


class TooManyLookups(NotResolved):
    """A name was not even looked up: others had all places until the time was over."""


class Lookups:
    """Looks names up for many threads, ``most`` of them at a time."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._running: dict[_Key, Future[Sequence[str]]] = {}

    def find(
        self, resolve: Resolve, host: str, port: int, left: Callable[[], float]
    ) -> Sequence[str]:
        """The result of ``resolve(host, port)``. Raises what that raises, and NotResolved.

        ``left``: the seconds that are left; it may raise.
        """
        if _is_number(host):
            return resolve(host, port)
        lookup = self._find_or_start_lookup((resolve, host), port, left)
        seconds = left()
        try:
            return lookup.result(seconds)
        except TimeoutError:
            if lookup.done():
                raise
            raise NotResolved(host) from None

    def _find_or_start_lookup(
        self, key: _Key, port: int, left: Callable[[], float]
    ) -> Future[Sequence[str]]:
        """The running lookup of another thread, or a new one as soon as there is a place."""
        with self._changed:
            while key not in self._running and len(self._running) >= self._most:
                self._wait_for_a_place(key[1], left)
            if key not in self._running:
                self._running[key] = self._start_lookup(key, port)
            return self._running[key]

    def _wait_for_a_place(self, host: str, left: Callable[[], float]) -> None:
        try:
            freed = self._changed.wait(left())
        except TimeoutError:
            freed = False
        if not freed:
            raise TooManyLookups(host)

    def _start_lookup(self, key: _Key, port: int) -> Future[Sequence[str]]:
        lookup: Future[Sequence[str]] = Future()
        # No thread that is joined at the end of the process: nobody waits for the answer then.
        thread = threading.Thread(
            target=self._run, args=(key, port, lookup), daemon=True, name="lookup"
        )
        try:
            thread.start()
        except RuntimeError:  # the machine gives no more threads
            raise TooManyLookups(key[1]) from None
        return lookup

    def _run(self, key: _Key, port: int, lookup: Future[Sequence[str]]) -> None:
        resolve, host = key
        try:
            lookup.set_result(resolve(host, port))
        except (OSError, ValueError) as error:
            lookup.set_exception(error)
        except BaseException as error:  # whoever waits must not wait for nothing
            failed = socket.gaierror(socket.EAI_FAIL, "the resolver failed")
            failed.__cause__ = error
            lookup.set_exception(failed)
        finally:
            with self._changed:
                del self._running[key]
                self._changed.notify_all()


def _is_number(host: str) -> bool:
    """Whether the host is an address; only one of IPv6 may have a zone (``fe80::1%eth0``)."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
