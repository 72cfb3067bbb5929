"""The end of the process: which threads are said to have been left behind."""

from __future__ import annotations

import pytest

from zonda.core.cli import leaving


class Ending:
    """A thread that ends as soon as somebody waits for it."""

    name = "ending"

    def __init__(self) -> None:
        self._lives = True

    def join(self, timeout: float) -> None:
        self._lives = self._lives and timeout == 0.0

    def is_alive(self) -> bool:
        return self._lives


def test_threads_that_are_about_to_end_are_not_left_behind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(leaving, "_list_awaited", lambda: [Ending(), Ending()])
    monkeypatch.setattr(leaving, "_end_process", end)
    monkeypatch.setattr(leaving.gc, "disable", lambda: None)
    monkeypatch.setattr(leaving.atexit, "_run_exitfuncs", lambda: None)

    with pytest.raises(SystemExit):
        leaving.leave(0)

    assert capsys.readouterr().err == ""
