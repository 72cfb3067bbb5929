"""zonda finds the package by its entry point."""

from __future__ import annotations

from importlib.metadata import entry_points


def test_the_entry_point_brings_the_kind() -> None:
    (found,) = (each for each in entry_points(group="zonda") if each.name == "airflow")
    assert list(found.load().zonda_runners()) == ["airflow"]
