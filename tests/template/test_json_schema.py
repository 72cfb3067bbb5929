"""The JSON Schema of templates agrees with the loader: what zonda accepts is valid."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from zonda.core.app.app import App, build_app
from zonda.core.cli.main import main
from zonda.core.reference.json_schema import build_template_schema
from zonda.core.settings import settings
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import load_document
from zonda.core.template.source.versions import DATES, NAMES
from zonda.hooks.errors import TemplateError, ValidationErrors
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Schema

ROOT = Path(__file__).resolve().parents[2]
ROOM = Path(os.environ.get("ZONDA_CORPUS", ROOT.parent / "shared" / "corpus"))

Validators = Callable[[str | None], Draft202012Validator]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    made = build_app(settings.load_settings({"home": str(tmp_path_factory.mktemp("home"))}, {}))
    yield made
    made.close()


@pytest.fixture(scope="module")
def validator(tmp_path_factory: pytest.TempPathFactory) -> Validators:
    """A validator with the schema that the command prints for a version, once for all tests."""
    home = str(tmp_path_factory.mktemp("home"))
    checked: dict[str, Any] = {}  # versions share most definitions

    @cache
    def made(version: str | None) -> Draft202012Validator:
        chosen = [] if version is None else ["--version", version]
        with redirect_stdout(StringIO()) as out:
            assert main(["template", "schema", *chosen, "--home", home]) == 0
        schema = json.loads(out.getvalue())
        new = {name: one for name, one in schema["$defs"].items() if checked.get(name) != one}
        Draft202012Validator.check_schema({**schema, "$defs": new})
        checked.update(new)
        return Draft202012Validator(schema)

    return made


@pytest.mark.parametrize("version", [None, *DATES, *NAMES])
def test_there_is_a_schema_for_every_version(validator: Validators, version: str | None) -> None:
    validate = validator(version)
    own = {"heat_template_version": NAMES.get(version or DATES[-1], version or DATES[-1])}
    assert validate.is_valid(own)
    assert validate.is_valid({"heat_template_version": "2013-05-23"}) == (
        version in (None, "2013-05-23")
    )


HEAD = "heat_template_version: 2018-08-31\n"
STRING = "resources: {a: {type: OS::Heat::RandomString, properties: %s}}"


@pytest.mark.parametrize(
    "text",
    [
        "description: [any, thing]",
        "parameters:\nresources:\noutputs: {}",
        "parameters: {p: {type: number, default: 1, constraints: [{range: {min: 0}}], tags: [a]}}",
        "conditions: {a: true, b: {not: a}, c: {equals: [{get_param: 'OS::stack_name'}, x]}}",
        "resources: {a: {type: No::Such, properties: {x: [1, {y: null}]}}}",
        "resources: {a: {type: OS::Heat::None, depends_on: b, condition: true},"
        " b: {type: OS::Heat::None, deletion_policy: retain, metadata: {m: 1}}}",
        STRING % "{length: '8', salt: 5}",
        STRING % "{length: {get_param: 'OS::stack_name'}}",
        STRING % "{length: null}",
        STRING % "{character_classes: [{class: digits, min: 1}]}",
        STRING % "{if: [true, {length: 8}, {}]}",
        "resources: {a: {type: OS::Heat::RandomString, external_id: x, properties: {bad: 1}}}",
        "outputs: {o: {value: {list_join: ['', [a]]}, description: {a: b}, condition: null}}",
    ],
    ids=lambda text: text[:60],
)
def test_what_zonda_accepts_is_valid(validator: Validators, text: str) -> None:
    data = load_document(HEAD + text, "t").data
    assert [error.message for error in validator("rocky").iter_errors(data)] == []
    assert validator(None).is_valid(data)


@pytest.mark.parametrize(
    "text",
    [
        "resource: {}",
        "conditions: null",
        "parameters: {p: {default: 1}}",
        "parameters: {p: {type: text}}",
        "parameters: {p: {type: string, defualt: 1}}",
        "parameters: {p: {type: string, constraints: [{description: x}]}}",
        "parameters: {p: {type: string, constraints: [{length: {least: 1}}]}}",
        "conditions: {a: b}",
        "conditions: {a: {str_replace: {template: a, params: {}}}}",
        "resources: {a: {properties: {}}}",
        "resources: {a/b: {type: X}}",
        "resources: {a: {type: X, depends: b}}",
        "resources: {a: {type: X, properties: null}}",
        STRING % "{size: 8}",
        STRING % "{length: [8]}",
        STRING % "{length: 0}",
        STRING % "{character_classes: [{class: digits, least: 1}]}",
        "outputs: {o: {description: x}}",
    ],
    ids=lambda text: text[:60],
)
def test_what_is_wrong_for_certain_is_not_valid(validator: Validators, app: App, text: str) -> None:
    data = load_document(HEAD + text, "t").data
    assert not validator("2018-08-31").is_valid(data)
    with pytest.raises(ValidationErrors):
        app.templates.validate(Bundle(HEAD + text, "t"), ignore_unknown=True)


def test_functions_belong_to_versions(validator: Validators) -> None:
    text = "resources: {a: {type: OS::Heat::RandomString, properties: {length: %s}}}"
    call = load_document(text % "{str_split: [',', '8', 0]}", "t").data
    assert validator("2015-10-15").is_valid({"heat_template_version": "2015-10-15", **call})
    assert not validator("2015-04-30").is_valid({"heat_template_version": "2015-04-30", **call})


def test_types_bring_descriptions_and_attributes(validator: Validators) -> None:
    schema: Any = validator(None).schema
    known = schema["$defs"]["type OS::Heat::RandomString"]
    assert set(known["x-zonda-attributes"]) == {"value"}
    length = known["properties"]["properties"]["anyOf"][1]["properties"]["length"]
    assert length["description"]
    assert length["default"] == 32


def test_a_property_stands_for_the_one_that_it_is_another_name_of() -> None:
    fields = {
        "path": Schema(Schema.STRING, required=True),
        "dest": Schema(Schema.STRING, alias_of="path"),
        "mode": Schema(Schema.STRING, required=True),
    }
    several = Schema(Schema.LIST, schema=Schema(Schema.MAP, schema=fields))
    cls = type("File", (Resource,), {"properties_schema": {**fields, "several": several}})
    check = Draft202012Validator(
        build_template_schema(["2018-08-31"], {"get_param": ""}, {}, {"File": cls})
    )

    def is_valid(**properties: Any) -> bool:
        resource = {"type": "File", "properties": properties}
        return check.is_valid({"heat_template_version": "2018-08-31", "resources": {"a": resource}})

    assert is_valid(dest="x", mode="y")
    assert is_valid(path="x", mode="y", several=[{"dest": "x", "mode": "y"}])
    assert not is_valid(mode="y")
    assert not is_valid(dest="x")
    assert not is_valid(path="x", mode="y", several=[{"mode": "y"}])


def templates() -> Iterator[Path]:
    """Own templates, and public ones where they are at hand."""
    yield from sorted((ROOT / "examples").rglob("*.yaml"))
    if ROOM.is_dir():
        yield from (path for path in sorted(ROOM.rglob("*")) if path.suffix in _SUFFIXES)


_SUFFIXES = {".yaml", ".yml", ".template"}


class AnyFile(dict[str, str]):
    """The files that templates attach: any key has a text, since few came along."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> str:
        return ""


def test_templates_that_zonda_accepts_are_valid(validator: Validators, app: App) -> None:
    wrong, count = {}, 0
    for path in templates():
        text = path.read_text(encoding="utf-8")
        try:
            data = load_document(text, path.name).data
            if not isinstance(data, dict) or "heat_template_version" not in data:
                continue
            app.templates.validate(Bundle(text, path.name, files=AnyFile()), ignore_unknown=True)
        except TemplateError:
            continue
        count += 1
        errors = list(validator(str(data["heat_template_version"])).iter_errors(data))
        if errors:
            wrong[str(path)] = [f"{error.json_path}: {error.message[:200]}" for error in errors]
    assert wrong == {}
    assert count
    if not ROOM.is_dir():
        pytest.skip("own templates are valid; the corpus is not here (set ZONDA_CORPUS)")
