"""Documents that were parsed to find their links are not parsed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins
from zonda.core.template.files.reader import load_bundle
from zonda.core.template.load import Bundle, Identity, Limits, StackDefinition, load
from zonda.core.template.source import document
from zonda.hooks.errors import ValidationErrors
from zonda.hooks.resources.resource import Resource

HEAD = "heat_template_version: 2018-08-31\n"


class Thing(Resource):
    """Nothing."""


def loaded(bundle: Bundle, limits: Limits | None = None) -> StackDefinition:
    return load(
        bundle,
        identity=Identity("i", "n", "p"),
        plugins=Plugins(resource_types={"Thing": Thing}),
        functions=build_function_table,
        limits=limits,
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    (tmp_path / "leaf.yaml").write_text(HEAD + "outputs: {o: {value: 1}}\n")
    root = tmp_path / "root.yaml"
    root.write_text(HEAD + "resources: {a: {type: leaf.yaml}}\n")
    return load_bundle(root)


def test_no_document_is_parsed_twice(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(document, "load_document", refuse)
    assert list(loaded(bundle).resources["a"].cls.attributes_schema) == ["o"]


def test_a_document_of_another_text_does_not_count(bundle: Bundle) -> None:
    other = replace(bundle, template=HEAD + "resources: {b: {type: Thing}}\n")
    assert list(loaded(other).resources) == ["b"]


def test_a_document_that_is_too_long_for_whoever_loads_it_is_refused(bundle: Bundle) -> None:
    with pytest.raises(ValidationErrors, match="exceeds maximum allowed size"):
        loaded(bundle, Limits(max_template_bytes=20))


def test_what_was_read_is_not_stored(bundle: Bundle) -> None:
    assert len(bundle.documents) == 2
    assert "documents" not in bundle.to_json()
    assert Bundle.from_json(bundle.to_json()) == bundle
