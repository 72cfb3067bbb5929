"""The documents of the plug-in API keep step with it: every public name, argument and type."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from zonda.core.app.app import build_app
from zonda.core.cli.types.docs import INDEX, format_pages
from zonda.core.reference import markdown
from zonda.core.reference.description import summarize
from zonda.core.settings.settings import load_settings
from zonda.hooks import (
    attributes,
    conformance,
    constraints,
    function,
    http,
    properties,
    settings,
    support,
    testing,
    translation,
)
from zonda.hooks.context import Operation, ResourceContext
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners import http_contract

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
API = (REFERENCE / "plugin-api.md").read_text()
#: Every word that the page sets as code.
WORDS = {word for code in re.findall(r"`([^`]+)`", API) for word in re.findall(r"\w+", code)}


def part(title: str) -> str:
    """The text under one heading."""
    return API.split(f"## `{title}`")[1].split("\n## ")[0]


def own(module: ModuleType) -> set[str]:
    """What a module brings itself."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (
            isinstance(value, int | frozenset)
            or getattr(value, "__module__", "") == module.__name__
        )
    }


def public(thing: type) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("names", "what"),
    [
        pytest.param(public(Resource), "Resource", id="resource"),
        pytest.param(public(ResourceContext) | public(Operation), "context", id="context"),
        pytest.param(set(testing.__all__), "testing", id="testing"),
        pytest.param(set(http.__all__) | public(http.Reply) | {"sent"}, "http", id="http"),
        pytest.param(own(http_contract), "contract", id="contract"),
        pytest.param(own(settings), "section", id="section"),
        pytest.param(
            own(function)
            | public(function.Function)
            | public(function.ParseScope)
            | public(function.ResolveScope),
            "function",
            id="function",
        ),
        pytest.param(set(conformance.__all__) | public(conformance.Backend), "kit", id="kit"),
        pytest.param(
            set(translation.TranslationRule.__slots__) - {"rule", "translation_path", "properties"},
            "translation",
            id="translation",
        ),
        pytest.param(
            {each for each in vars(support) if each.isupper()} - {"SUPPORT_STATUSES"},
            "support",
            id="support",
        ),
        pytest.param(
            public(constraints.BaseCustomConstraint) - {"error"},
            "constraint",
            id="custom-constraint",
        ),
    ],
)
def test_every_public_name_is_documented(names: set[str], what: str) -> None:
    assert names - WORDS == set(), what


@pytest.mark.parametrize(
    ("made", "title"),
    [
        pytest.param(properties.Schema, "properties.Schema(...)", id="properties"),
        pytest.param(attributes.Schema, "attributes.Schema(...)", id="attributes"),
    ],
)
def test_every_argument_of_a_schema_is_documented_and_no_other(made: type, title: str) -> None:
    documented = re.findall(r"^\| `(\w+)` \|", part(title), re.M)
    assert documented == list(inspect.signature(made).parameters)


@pytest.mark.parametrize(
    "made",
    [
        getattr(constraints, name)
        for name in (
            "Range",
            "Length",
            "Modulo",
            "AllowedValues",
            "AllowedPattern",
            "CustomConstraint",
        )
    ]
    + [
        function.Function,
        function.Source,
        support.SupportStatus,
        support.Status,
        support.Unavailable,
    ],
    ids=lambda made: made.__name__,
)
def test_every_argument_of_a_constructor_is_documented(made: type) -> None:
    arguments = ", ".join(inspect.signature(made).parameters)
    assert f"`{made.__name__}({arguments})`" in API


def test_the_reference_of_our_types_is_what_their_schemas_say(tmp_path: Path) -> None:
    """If not: ``zonda resource type docs zonda -o docs/reference/resource-types``."""
    app = build_app(load_settings({"home": str(tmp_path)}, {}))
    pages = format_pages(app, "zonda")
    written = {markdown.format_file_name(name): text for name, text in pages.items()}
    index = {name: summarize(app.plugins.resource_types[name]) for name in pages}
    written[INDEX] = markdown.format_index(index)
    found = {path.name: path.read_text() for path in (REFERENCE / "resource-types").iterdir()}
    assert found == written
