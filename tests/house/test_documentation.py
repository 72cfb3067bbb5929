"""The documents keep step with the code: hooks, settings, resource types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from zonda.core import settings
from zonda.hooks import errors, specs
from zonda.hooks.properties import Schema
from zonda.hooks.resource import Resource

DOCS = Path(__file__).resolve().parents[2] / "docs"


def hooks() -> list[tuple[str, str]]:
    """(name, signature as documented) of every hook specification."""
    found = []
    for name, function in inspect.getmembers(specs, inspect.isfunction):
        if name.startswith("zonda_"):
            arguments = ", ".join(inspect.signature(function).parameters)
            found.append((name, f"{name}({arguments})"))
    return found


@pytest.mark.parametrize(("name", "signature"), hooks(), ids=[name for name, _ in hooks()])
def test_a_hook_has_a_heading_with_its_arguments(name: str, signature: str) -> None:
    headings = re.findall(r"^### `(.*)`$", (DOCS / "plugins.md").read_text(), re.M)
    assert signature in headings


def test_no_hook_is_documented_that_does_not_exist() -> None:
    headings = re.findall(r"^### `(zonda_\w+)\(", (DOCS / "plugins.md").read_text(), re.M)
    assert sorted(headings) == sorted(name for name, _ in hooks())


def test_every_setting_is_documented_as_it_is() -> None:
    assert settings.markdown_table() in (DOCS / "settings.md").read_text()


def test_the_error_tree_is_documented_as_it_is() -> None:
    drawn = re.search(r"::\n\n((?:    .*\n)+)", inspect.getdoc(errors) or "")
    assert drawn is not None
    assert inspect.cleandoc(drawn[1]) in (DOCS / "errors.md").read_text()
