"""``zonda engine run``: what it does once, when it has become the engine."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from zonda.core.cli.services import serve


def test_an_engine_that_runs_on_collects_more_often_than_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[Any] = []

    @contextmanager
    def stop_at_once(stop: Callable[[], None]) -> Iterator[None]:
        stop()
        yield

    def run(goes_on: Any) -> bool:
        said.append("runs")
        return True

    monkeypatch.setattr(serve, "_stop_by_signals", stop_at_once)
    monkeypatch.setattr(gc, "freeze", lambda: said.append("frozen"))
    monkeypatch.setattr(gc, "collect", lambda: said.append("collected"))
    monkeypatch.setattr(gc, "set_threshold", lambda *counts: said.append(counts[2]))
    app = SimpleNamespace(engine=SimpleNamespace(run=run), database=SimpleNamespace(where="here"))
    session: Any = SimpleNamespace(
        local=app,
        screen=SimpleNamespace(say=said.append),
        open_log=lambda default: None,
        close_app=lambda: said.append("closed"),
    )

    serve.engine(session, argparse.Namespace())

    end = ["Engine of here; Ctrl-C stops it.", "closed"]
    assert said == ["runs", "collected", "frozen", 1, *end]
