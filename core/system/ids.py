"""The only source of randomness and of public ids.

Every id that leaves zonda (stacks, resources, events) is a UUID of version 7: 48 bits of
milliseconds, then a counter, then chance, so that ids sort by the time they were made. Written
with dashes, in lower case, as Heat's users expect ids to look.
"""

from __future__ import annotations

import base64
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from zonda.hooks.context import Clock

_COUNTER_BITS = 12
_CHANCE_BITS = 62
#: Ids that are drawn for at once.
_AT_ONCE = 32


def make_system_random() -> random.Random:
    """Make a random source of the operating system: fit for passwords, cannot be seeded."""
    import random  # of no use to commands that only read

    return random.SystemRandom()


def make_token() -> str:
    """Make a random token of 256 bits as text fit for a URL or a header."""
    return base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")


def make_bytes(count: int) -> bytes:
    """Make random bytes, fit for keys."""
    return os.urandom(count)


class Ids:
    """Makes ids. Within one instance each is greater than the one before, whatever the clock does.

    Many threads may share an instance.
    """

    def __init__(self, clock: Clock, source: random.Random | None = None) -> None:
        self._clock = clock
        self._draw = source.getrandbits if source is not None else _draw_system_bits
        self._lock = threading.Lock()
        self._last = -1
        # Chance is drawn for many ids at once: asking the system costs more than the id.
        self._drawn: list[int] = []

    def new(self) -> str:
        """Return a new id, e.g. ``01932f3e-8a51-7c00-9b1f-0a53c6d1e2f4``."""
        with self._lock:
            # A start in the lower half leaves room to count up within the same millisecond.
            if not self._drawn:
                self._draw_bits()
            drawn = self._drawn.pop()
            start, chance = drawn >> _CHANCE_BITS, drawn & ((1 << _CHANCE_BITS) - 1)
            stamp = (int(self._clock.now() * 1000) << _COUNTER_BITS) | start
            if stamp <= self._last:
                stamp = self._last + 1
            self._last = stamp
        return _format_id(stamp, chance)

    __call__ = new

    def _draw_bits(self) -> None:
        bits = _CHANCE_BITS + _COUNTER_BITS - 1
        many = self._draw(bits * _AT_ONCE)
        mask = (1 << bits) - 1
        self._drawn = [(many >> (bits * index)) & mask for index in range(_AT_ONCE)]


def _draw_system_bits(count: int) -> int:
    """Like ``getrandbits`` of ``make_system_random``."""
    return int.from_bytes(os.urandom((count + 7) // 8), "big") >> -count % 8


def _format_id(stamp: int, chance: int) -> str:
    milliseconds = (stamp >> _COUNTER_BITS) & ((1 << 48) - 1)
    counter = stamp & ((1 << _COUNTER_BITS) - 1)
    head, tail = f"{milliseconds:012x}", f"{(2 << 62) | chance:016x}"
    return f"{head[:8]}-{head[8:]}-{0x7000 | counter:04x}-{tail[:4]}-{tail[4:]}"
