"""Public templates: none crashes, and every fault found in them is a mistake of the template.

They are no part of the project: ``ZONDA_CORPUS`` names their folder. ``corpus_mistakes.yaml`` lists
the mistakes that they are known to have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from zonda.core.app.app import App, build_app
from zonda.core.settings import settings
from zonda.core.template.files.attachments import Attachments, FetchLimits, to_url
from zonda.core.template.files.file_references import find_template_files
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import load_document
from zonda.hooks.errors import TemplateError, ValidationErrors

HERE = Path(__file__).resolve().parent
ROOM = Path(os.environ.get("ZONDA_CORPUS", Path(__file__).parents[3] / "shared" / "corpus"))

pytestmark = pytest.mark.skipif(
    not ROOM.is_dir(), reason="the corpus of templates is not here (set ZONDA_CORPUS)"
)


class AnyFile(dict[str, str]):
    """The files that a template names: a text for whatever did not come along, but no type."""

    def __init__(self, files: dict[str, str], types: set[str]) -> None:
        super().__init__(files)
        self.types = types

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key not in self.types

    def __missing__(self, key: str) -> str:
        return ""


def templates() -> Iterator[tuple[Path, str]]:
    """Every file that says it is a HOT template."""
    for path in sorted(ROOM.rglob("*")):
        if path.suffix in {".yaml", ".yml", ".template"} and path.is_file():
            text = path.read_text(encoding="utf-8")
            if "heat_template_version" in text and _is_template(text):
                yield path, text


def _is_template(text: str) -> bool:
    try:
        data = load_document(text, "t").data
    except TemplateError:
        return False
    return isinstance(data, dict) and "heat_template_version" in data


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    home = tmp_path_factory.mktemp("home")
    # types of Mistral need one to be configured; that nobody answers is no fault of a template
    (home / "zonda.toml").write_text(
        '[runners.mistral]\nkind = "mistral"\nendpoint = "http://127.0.0.1:9/v2"\n'
    )
    made = build_app(settings.load_settings({"home": str(home)}, {}))
    yield made
    made.close()


def faults(app: App, path: Path, text: str) -> list[str]:
    """``line code`` of every fault in the file, where types and constraints may be unknown."""
    found = Attachments(FetchLimits())
    found.follow(text, str(path), to_url(path), find_template_files)
    names = find_template_files(load_document(text, str(path)).data)
    types = {each.key for each in names if each.template}
    bundle = Bundle(text, str(path), files=AnyFile(found.files, types), links=found.links)
    try:
        app.templates.validate(bundle, ignore_unknown=True)
    except ValidationErrors as error:
        own = (one for one in error.errors if one.place is None or one.place.file == str(path))
        return [f"{one.place.line if one.place else 0} {one.code}" for one in own]
    return []


def known_mistakes() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for files in yaml.safe_load((HERE / "corpus_mistakes.yaml").read_text()).values():
        for file, lines in files.items():
            found.setdefault(file, []).extend(lines)
    return {file: sorted(lines) for file, lines in found.items()}


def test_public_templates_have_no_faults_but_their_own(app: App) -> None:
    found = {}
    for path, text in templates():
        wrong = faults(app, path, text)
        if wrong:
            found[path.relative_to(ROOM).as_posix()] = sorted(wrong)
    assert found == known_mistakes()
