"""Looks up the names of hosts within a time, for which the machine's resolver takes none.

Nothing interrupts ``getaddrinfo``: where the servers of names are silent it takes half a minute and
more. So a thread of its own asks, and is left alone when the time is over; it ends with the
resolver, or with the process. Whoever asks for the same name meanwhile waits for the same thread,
and there are only so many of them: a resolver that hangs does not gather threads.
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
_Key = tuple[Resolve, str, int]


def addresses_of(host: str, port: int) -> Sequence[str]:
    """What the machine's resolver says; it reads ``0x7f.1`` and ``2130706433`` as numbers, too."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class NotResolved(TimeoutError):
    """A name was not resolved in time."""


class Lookups:
    """Looks names up for many threads, ``most`` of them at a time."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._running: dict[_Key, Future[Sequence[str]]] = {}

    def find(
        self, resolve: Resolve, host: str, port: int, left: Callable[[], float]
    ) -> Sequence[str]:
        """What ``resolve(host, port)`` gives. Raises what it raises, and NotResolved.

        ``left``: the seconds that are left; it may raise.
        """
        if _is_number(host):
            return resolve(host, port)
        lookup = self._lookup((resolve, host, port), left)
        seconds = left()
        try:
            return lookup.result(seconds)
        except TimeoutError:
            if lookup.done():
                raise
            raise NotResolved(host) from None

    def _lookup(self, key: _Key, left: Callable[[], float]) -> Future[Sequence[str]]:
        """That of somebody else, or a new one as soon as there is a place."""
        with self._changed:
            while key not in self._running and len(self._running) >= self._most:
                if not self._changed.wait(left()):
                    raise NotResolved(key[1])
            if key not in self._running:
                self._begin(key)
            return self._running[key]

    def _begin(self, key: _Key) -> None:
        lookup: Future[Sequence[str]] = Future()
        # No thread that is joined at the end of the process: nobody waits for the answer then.
        threading.Thread(target=self._run, args=(key, lookup), daemon=True, name="lookup").start()
        self._running[key] = lookup

    def _run(self, key: _Key, lookup: Future[Sequence[str]]) -> None:
        resolve, host, port = key
        try:
            lookup.set_result(resolve(host, port))
        except (OSError, ValueError) as error:
            lookup.set_exception(error)
        finally:
            with self._changed:
                del self._running[key]
                self._changed.notify_all()


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
