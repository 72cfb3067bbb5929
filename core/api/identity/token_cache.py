"""A memory of answers about tokens, each for a time; one question at a time about one token."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from zonda.hooks.context import Clock

T = TypeVar("T")

#: Tokens that are remembered; whoever sends others in masses makes only himself forgotten.
_MOST = 10_000


class TokenCache(Generic[T]):
    """Answers by keys. ``None`` is an answer, too: a token that was refused."""

    def __init__(self, clock: Clock, most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._answers: OrderedDict[str, tuple[T | None, float]] = OrderedDict()
        self._turns: dict[str, tuple[threading.Lock, int]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def take_turn(self, key: str) -> Iterator[None]:
        """Wait for others that ask about the same key."""
        with self._lock:
            turn, waiting = self._turns.get(key, (threading.Lock(), 0))
            self._turns[key] = turn, waiting + 1
        try:
            with turn:
                yield
        finally:
            with self._lock:
                turn, waiting = self._turns.pop(key)
                if waiting > 1:
                    self._turns[key] = turn, waiting - 1

    def find(self, key: str) -> tuple[T | None, float] | None:
        """The answer and until when it counts; None where none counts."""
        with self._lock:
            known = self._answers.get(key)
            return known if known is not None and known[1] > self._clock.monotonic() else None

    def put(self, key: str, answer: T | None, seconds: float) -> None:
        """Keep an answer for some seconds."""
        with self._lock:
            self._answers[key] = (answer, self._clock.monotonic() + seconds)
            self._answers.move_to_end(key)
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
