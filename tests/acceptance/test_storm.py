"""``kill -9`` at random instants, a few times; the page of the storm tells how to run more."""

from __future__ import annotations

from pathlib import Path

from .storm.actions import ActionStorm
from .storm.storm import Storm


def test_nothing_is_lost_or_made_twice(tmp_path: Path) -> None:
    report = Storm(tmp_path / "home", kills=6, resources=20, seed=5).run()
    assert report["kills"] == 6
    assert report["ended"]


def test_nothing_of_nested_stacks_is_lost_or_made_twice(tmp_path: Path) -> None:
    report = Storm(tmp_path / "home", kills=4, resources=9, seed=2, nested=True).run()
    assert report["kills"] == 4
    assert report["ended"]


def test_no_other_action_loses_or_doubles_an_effect(tmp_path: Path) -> None:
    report = ActionStorm(tmp_path / "home", kills=8, resources=6, seed=4).run()
    assert report["kills"] == 8
    assert report["ended"]
