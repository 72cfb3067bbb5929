"""Ends of a server under load, a few times; the page of the storm tells how to run more."""

from __future__ import annotations

from pathlib import Path

from .serve_storm.storm import ServeStorm


def test_nothing_acknowledged_is_lost_and_streams_go_on(tmp_path: Path) -> None:
    report = ServeStorm(tmp_path / "home", kills=4, seed=3).run()
    assert report["kills"] == 4
    assert report["sigterm"] > 0 < report["sigkill"]
