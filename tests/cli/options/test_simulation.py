"""The argument ``--simulate`` where it cannot be had."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from zonda.core.cli.options.simulation import simulate
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import UsageError


def test_a_server_makes_its_stacks_for_real() -> None:
    session: Any = SimpleNamespace(settings=SimpleNamespace(url="http://127.0.0.1:1"))
    with pytest.raises(UsageError, match="A server makes its stacks for real"):
        simulate(session, argparse.Namespace(simulate=True), Bundle(""))
    assert simulate(session, argparse.Namespace(simulate=False), Bundle("")) == Bundle("")
