"""Errors and warnings as a SARIF 2.1.0 log, which code hosts show beside the lines of a change.

Called by ``template validate -f sarif``. The rules are the pages of the codes that occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from zonda.hooks.errors import (
    Place,
    Related,
    TemplateError,
    TemplateWarning,
    ZondaError,
    show_path,
)

from . import codes as registry

VERSION = "2.1.0"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def build_log(
    errors: Iterable[ZondaError], warnings: Iterable[TemplateWarning], version: str
) -> dict[str, Any]:
    """Build a log with one run; ``version`` is zonda's own."""
    results = [*map(_build_error_result, errors), *map(_build_warning_result, warnings)]
    codes = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = codes.index(result["ruleId"])
    driver = {
        "name": "zonda",
        "semanticVersion": version,
        "rules": [_build_rule(code) for code in codes],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _build_rule(code: str) -> dict[str, Any]:
    page = registry.load_pages().get(code)
    if page is None:  # a plug-in's own
        return {"id": code}
    wrong = "\n".join(registry.format_example(page.wrong))
    right = "\n".join(registry.format_example(page.right))
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.about},
        "help": {
            "text": page.about,
            "markdown": f"{page.about}\n\nWrong:\n\n{wrong}\nRight:\n\n{right}",
        },
        "defaultConfiguration": {"level": page.severity},
    }


def _build_error_result(error: ZondaError) -> dict[str, Any]:
    if not isinstance(error, TemplateError):
        return _build_result(error.code, registry.ERROR, str(error), error.hint, None, (), "")
    path = show_path(error.path or error.at)
    others = (*error.way, *error.related)
    return _build_result(
        error.code, registry.ERROR, str(error), error.hint, error.place, others, path
    )


def _build_warning_result(warning: TemplateWarning) -> dict[str, Any]:
    return _build_result(
        warning.code,
        registry.WARNING,
        warning.message,
        warning.hint,
        warning.place,
        warning.related,
        show_path(warning.path),
    )


def _build_result(
    code: str,
    level: str,
    message: str,
    hint: str,
    place: Place | None,
    related: Sequence[Related],
    path: str,
) -> dict[str, Any]:
    text = f"{message}\n{hint}" if hint else message
    made: dict[str, Any] = {"ruleId": code, "level": level, "message": {"text": text}}
    place = place or next((each.place for each in related if each.place), None)
    location: dict[str, Any] = {} if place is None else _build_location(place)
    if path:
        location["logicalLocations"] = [{"fullyQualifiedName": path}]
    if location:
        made["locations"] = [location]
    others = [
        {"id": number, **_build_location(each.place), "message": {"text": each.message}}
        for number, each in enumerate(related, 1)
        if each.place is not None
    ]
    if others:
        made["relatedLocations"] = others
    return made


def _build_location(place: Place) -> dict[str, Any]:
    file = place.file.replace("\\", "/")
    uri = quote(file, safe="/") if not file.startswith("/") else f"file://{quote(file)}"
    region = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
