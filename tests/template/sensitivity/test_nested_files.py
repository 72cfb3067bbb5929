"""Hidden values in nested files, also in types that are given as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from zonda.core.template.sensitivity.file_scan import find_hidden_values
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import TemplateError
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Schema

INNER = """
heat_template_version: 2018-08-31
resources:
  disk: {type: %s, properties: {password: hushhush, size: 3}}
"""


class Disk(Resource):
    """What the text declares."""

    properties_schema: ClassVar[Mapping[str, Schema]] = {
        "password": Schema(Schema.STRING, hidden=True),
        "size": Schema(Schema.INTEGER),
    }


def resolve(kind: str, name: str) -> type[Resource]:
    """The type by its name, and by its file."""
    if kind not in ("Acme::Disk", "file:///disk.yaml"):
        raise TemplateError(f"There is no type {kind}")
    return Disk


@pytest.mark.parametrize("kind", ["disk.yaml", "Acme::Disk"])
def test_a_literal_of_a_type_in_a_text_is_hidden(kind: str) -> None:
    files = {"file:///inner.yaml": INNER % kind, "file:///disk.yaml": "a_type: 1\n"}
    links = {"file:///inner.yaml": {"disk.yaml": "file:///disk.yaml"}}
    found = find_hidden_values(Bundle("", files=files, links=links), resolve)
    path = ("resources", "disk", "properties", "password")
    assert dict(found.values) == {("file:///inner.yaml", path): "hushhush"}


def test_a_type_that_nobody_knows_hides_nothing() -> None:
    files = {"inner.yaml": INNER % "other.yaml", "other.yaml": "a_type: 1\n"}
    assert find_hidden_values(Bundle("", files=files), resolve).values == {}
