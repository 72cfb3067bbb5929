"""Exceptions at the border of plug-ins: the user's Ctrl-C belongs to no plug-in."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from zonda.hooks.text.borders import (
    Interrupted,
    Terminated,
    interruptible,
    preserve_signals,
    raise_interruption,
)


@pytest.fixture
def handler() -> Iterator[Callable[[Any], None]]:
    """Sets what SIGINT does."""
    before = signal.getsignal(signal.SIGINT)
    yield lambda does: signal.signal(signal.SIGINT, does)
    signal.signal(signal.SIGINT, before)


class Odd(BaseException):
    """Nobody knows it."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise SystemExit(7)


@pytest.mark.parametrize("kind", ["SystemExit", "GeneratorExit", "ValueError", "Odd"])
def test_what_plug_ins_raise_does_not_pass(kind: str) -> None:
    known = {each.__name__: each for each in (SystemExit, GeneratorExit, ValueError, Odd)}
    raise_interruption(known[kind]())


@pytest.mark.parametrize("kind", [Interrupted, Terminated])
def test_what_zonda_raises_to_end_what_runs_passes(kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        raise_interruption(kind())


def test_ctrl_c_is_told_from_a_plug_in_that_raises_the_same(handler: Callable[[Any], None]) -> None:
    handler(signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        raise_interruption(KeyboardInterrupt())
    with interruptible(signal.SIGINT):
        raise_interruption(KeyboardInterrupt())
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_somebody_handles_or_ignores_is_left_alone(
    handler: Callable[[Any], None],
) -> None:
    handler(signal.SIG_IGN)
    with interruptible(signal.SIGINT):
        signal.raise_signal(signal.SIGINT)
        raise_interruption(KeyboardInterrupt())
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_no_signal_reaches_another_thread(handler: Callable[[Any], None]) -> None:
    handler(signal.default_int_handler)
    passed: list[BaseException] = []

    def look() -> None:
        with interruptible(signal.SIGINT):
            try:
                raise_interruption(KeyboardInterrupt())
            except KeyboardInterrupt as error:
                passed.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert passed == []


def test_a_signal_that_a_plug_in_takes_is_given_back(handler: Callable[[Any], None]) -> None:
    handler(signal.default_int_handler)
    with preserve_signals():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
