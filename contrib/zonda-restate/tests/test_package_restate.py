"""zonda finds the package by its entry point."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from . import real_restate


def test_the_entry_point_brings_the_kind() -> None:
    (found,) = (each for each in entry_points(group="zonda") if each.name == "restate")
    assert list(found.load().zonda_runners()) == ["restate"]


def test_no_server_is_started_where_none_is_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_restate, "SAID", "never")
    with pytest.raises(pytest.skip.Exception, match="never"):
        real_restate.server_command()
