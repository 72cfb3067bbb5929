"""contrib/container/compose.yaml: what it says of zonda is so, and the load balancer knows all."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from zonda.core.settings.table import Settings, get_variable

FOLDER = Path(__file__).resolve().parents[2] / "contrib" / "container"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]
    return found


def test_members_are_alike_but_for_their_names(services: dict[str, Any]) -> None:
    assert services["one"] == services["two"]
    build = services["one"]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).is_file()
    assert "[serve,cluster]" in (FOLDER / "Containerfile").read_text()


def test_their_variables_are_settings(services: dict[str, Any]) -> None:
    known = {get_variable(row.name) for row in fields(Settings)}
    assert set(services["one"]["environment"]) <= known


def test_they_have_time_to_hand_over(services: dict[str, Any]) -> None:
    grace = int(services["one"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings().stop_grace + Settings().sink_grace + 10


def test_the_load_balancer_asks_each_whether_it_is_ready(services: dict[str, Any]) -> None:
    text = (FOLDER / "haproxy.cfg").read_text()
    servers = dict(re.findall(r"^    server \w+ (\w+):(\d+)$", text, re.M))
    assert servers == {"one": "8004", "two": "8004"}
    assert "GET /readyz" in text
    assert set(servers) <= set(services)
