"""Shorthands for property schemas that several types use."""

from __future__ import annotations

from typing import Any

from zonda.hooks import properties


def make_text_schema(description: str, **more: Any) -> properties.Schema:
    """The schema of a property that is text."""
    return properties.Schema(properties.Schema.STRING, description, **more)
