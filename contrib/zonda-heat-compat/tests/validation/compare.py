"""Real Heat's validation and zonda's of the same templates, side by side.

    python compare.py FOLDER [--markdown] [--only TEXT]

FOLDER is searched for templates. Heat validates each as a stack with a value for each parameter,
zonda as that and without values. Printed are the numbers, and every template that only one of them
accepts, with its reasons. The exit code is 1 if zonda refuses what Heat accepts. Needs
openstack-heat beside zonda-heat-compat; asks no cloud.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zonda.core.app.app import App, build_app
from zonda.core.settings import settings
from zonda.core.template.files.attachments import Attachments, FetchLimits, to_url
from zonda.core.template.files.file_references import find_template_files
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import load_document
from zonda.hooks.errors import TemplateError, ValidationErrors

HERE = Path(__file__).resolve().parent
MARKS = ("heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion")
#: The end of the key of a request with values.
STACK = " (stack)"
SUFFIXES = {".yaml", ".yml", ".template", ".json"}
#: A value for a parameter of each type, where its schema allows it.
VALUES: dict[str, Any] = {
    "string": "text-of-a-value",
    "number": 1,
    "json": {},
    "comma_delimited_list": "a,b",
    "boolean": True,
}
#: Of the types of CloudFormation.
VALUES |= {"String": "text", "Number": 1, "Json": {}, "CommaDelimitedList": "a,b", "Boolean": True}


def list_templates(folder: Path) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """Every file that says it is a template, and is one."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file():
            continue
        text = path.read_text("utf-8", errors="replace")
        if not any(mark in text for mark in MARKS):
            continue
        try:
            data = load_document(text, "t").data
        except TemplateError:
            continue
        if isinstance(data, dict) and any(mark in data for mark in MARKS):
            yield path, text, data


def make_value(schema: Mapping[str, Any]) -> Any:
    """A value that the schema of a parameter allows."""
    value = VALUES.get(str(schema.get("type", schema.get("Type", "string"))), "text")
    rules = [each for each in schema.get("constraints") or () if isinstance(each, dict)]
    allowed = [each["allowed_values"] for each in rules if "allowed_values" in each]
    allowed += [schema["AllowedValues"]] if "AllowedValues" in schema else []
    if allowed and isinstance(allowed[0], list):
        return allowed[0][0]
    for each in rules:
        least = each.get("range", {}).get("min") if isinstance(each.get("range"), dict) else None
        if least is not None:
            return least
        if "length" in each and isinstance(value, str):
            return "x" * int(each["length"].get("min", each["length"].get("max", 1)))
    return value


def make_values(data: Mapping[str, Any]) -> dict[str, Any]:
    """A value for each parameter that has none."""
    found = data.get("parameters", data.get("Parameters"))
    schemas = found if isinstance(found, dict) else {}
    return {
        name: make_value(schema)
        for name, schema in schemas.items()
        if isinstance(schema, dict) and "default" not in schema and "Default" not in schema
    }


def collect_bundle(path: Path, text: str) -> Bundle:
    """The template with the files that it names; one that did not come along is empty."""
    found = Attachments(FetchLimits())
    found.follow(text, str(path), to_url(path), find_template_files)
    documents = {str(path): text, **found.files}
    absent = {
        each.key
        for file, each_text in documents.items()
        if any(mark in each_text for mark in MARKS)
        for each in _list_references(each_text, file)
        if not each.template and found.links.get(file, {}).get(each.key) not in found.files
    }
    return Bundle(
        text, str(path), files={**dict.fromkeys(absent, ""), **found.files}, links=found.links
    )


def _list_references(text: str, file: str) -> list[Any]:
    try:
        return list(find_template_files(load_document(text, file).data))
    except TemplateError:
        return []


def write_for_heat(bundle: Bundle) -> tuple[str, dict[str, str]]:
    """The template and its files, each naming the others by the keys of ``files``."""

    def rewrite(text: str, file: str) -> str:
        try:
            data = copy.deepcopy(load_document(text, file).data)
        except TemplateError:
            return text
        if not isinstance(data, dict):
            return text
        for each in list(find_template_files(data)):
            holder: Any = data
            for step in each.at[:-1]:
                holder = holder[step]
            holder[each.at[-1]] = bundle.key_of(file, each.key)
        return json.dumps(data, default=str)

    files = {
        key: rewrite(text, key) if any(mark in text for mark in MARKS) else text
        for key, text in bundle.files.items()
    }
    return rewrite(bundle.template, bundle.template_file), files


def ask_zonda(app: App, bundle: Bundle, values: Mapping[str, Any] | None) -> str | None:
    """The first fault that zonda finds, or None."""
    given = bundle if values is None else Bundle(**{**vars(bundle), "parameters": values})
    try:
        app.templates.validate(given, all_given=values is not None)
    except ValidationErrors as error:
        return "; ".join(f"{each.code} {each}" for each in error.errors[:3])
    except Exception as error:  # the comparison has to go on
        return f"CRASH {type(error).__name__}: {error}"
    return None


def ask_heat(requests: list[dict[str, Any]]) -> dict[str, str | None]:
    """The answers of ``heat_answers.py``, by request."""
    lines = "".join(json.dumps(each) + "\n" for each in requests)
    command = [sys.executable, str(HERE / "heat_answers.py")]
    done = subprocess.run(command, input=lines, text=True, capture_output=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(answers) != len(requests):
        raise SystemExit(f"Heat answered {len(answers)} of {len(requests)}: {done.stderr[-2000:]}")
    return {each["id"]: each["error"] for each in answers}


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    for name in [each for each in os.environ if each.startswith("OS_")]:
        del os.environ[name]
    os.environ["OS_CLIENT_CONFIG_FILE"] = ""
    home = tempfile.mkdtemp()
    app = build_app(settings.load_settings({"home": home}, {}))
    ours: dict[str, str | None] = {}
    requests = []
    for path, text, data in list_templates(arguments.folder):
        name = path.relative_to(arguments.folder).as_posix()
        if arguments.only not in name:
            continue
        bundle = collect_bundle(path, text)
        template, files = write_for_heat(bundle)
        for kind, values in (("template", None), ("stack", make_values(data))):
            key = f"{name} ({kind})"
            ours[key] = ask_zonda(app, bundle, values)
            if values is not None:
                request = {"id": key, "template": template, "parameters": values, "files": files}
                requests.append(request)
    theirs = ask_heat(requests)
    show(ours, theirs, markdown=arguments.markdown)
    return int(any(ours[key] and not theirs[_as_stack(key)] for key in ours))


def show(
    ours: Mapping[str, str | None], theirs: Mapping[str, str | None], *, markdown: bool
) -> None:
    """Print the numbers, and what only one of them accepts."""
    judged = {key: (theirs[_as_stack(key)], ours[key]) for key in ours}
    numbers = Counter(
        (key.rpartition("(")[2].rstrip(")"), not heat, not zonda)
        for key, (heat, zonda) in judged.items()
    )
    for (kind, heat, zonda), count in sorted(numbers.items()):
        print(f"{kind:10} Heat {'accepts' if heat else 'refuses'}, ", end="")
        print(f"zonda {'accepts' if zonda else 'refuses'}: {count}")
    line = "| {} | {} | {} |" if markdown else "{}\n    Heat:  {}\n    zonda: {}"
    for key, (heat, zonda) in judged.items():
        if (zonda and not heat) or (heat and not zonda and key.endswith(STACK)):
            print(line.format(key, heat or "accepts", zonda or "accepts"))


def _as_stack(key: str) -> str:
    """The request of the same template as a stack: without values Heat looks at little."""
    return key.rpartition(" (")[0] + STACK


if __name__ == "__main__":
    sys.exit(main())
