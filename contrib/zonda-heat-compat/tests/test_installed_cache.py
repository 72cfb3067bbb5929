"""The answers of finders are kept for a while, apart by cloud, until something is removed."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

from zonda_heat_compat import plugin
from zonda_heat_compat.marks import load_session_class

assert plugin, "it lends the name heat"


class Finder:
    """A client plug-in, which finds some names."""

    def __init__(self, **known: str) -> None:
        self.known = known
        self.asked: list[str] = []


def find(plugin: Finder, name: str) -> str:
    plugin.asked.append(name)
    return plugin.known[name]


@pytest.fixture
def ask() -> Any:
    from heat.common import cache
    from heat.engine.clients import os as os_client

    cache.forget()
    return os_client.MEMOIZE_FINDER(find)


def test_a_name_is_asked_for_once_per_cloud(ask: Any) -> None:
    east, west = Finder(tiny="1"), Finder(tiny="2")
    assert [ask(east, "tiny"), ask(west, "tiny"), ask(east, "tiny")] == ["1", "2", "1"]
    assert east.asked == west.asked == ["tiny"]


def test_a_cloud_in_the_place_of_another_one_has_answers_of_its_own(ask: Any) -> None:
    gone = Finder(tiny="1")
    ask(gone, "tiny")
    place = id(gone)
    del gone
    clouds = [Finder(tiny="2") for _ in range(1000)]
    assert ask(next(each for each in clouds if id(each) == place), "tiny") == "2"


def test_answers_of_clouds_that_are_gone_do_not_add_up(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from heat.common import cache

    monkeypatch.setattr(cache, "_MOST", 3)
    for _ in range(20):
        ask(Finder(tiny="1"), "tiny")
    assert len(cache._answers) <= 4


def test_a_name_that_was_not_found_is_asked_for_again(ask: Any) -> None:
    cloud = Finder()
    for _ in range(2):
        with pytest.raises(KeyError):
            ask(cloud, "tiny")
    assert cloud.asked == ["tiny", "tiny"]


@pytest.mark.parametrize(
    ("method", "asked"), [("GET", 1), ("POST", 1), ("PUT", 2), ("PATCH", 2), ("DELETE", 2)]
)
def test_what_zonda_changes_is_forgotten(
    ask: Any, method: str, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = load_session_class()
    monkeypatch.setattr(session.__mro__[1], "request", lambda *given, **named: None)
    cloud = Finder(tiny="1")
    ask(cloud, "tiny")
    session().request("http://x/servers", method)
    ask(cloud, "tiny")
    assert len(cloud.asked) == asked
