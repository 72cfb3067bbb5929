"""The registry of codes: one page for each, read from ``pages/*.yaml``.

Called by ``zonda explain``, by ``sarif`` and by the tests that hold the docs and the code together.
An example is a set of files and the commands that use them, so that it can be tried as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from zonda.hooks.errors import UsageError
from zonda.hooks.text.suggestions import suggestion

ERROR, WARNING = "error", "warning"

#: Codes from this one on are warnings.
_FIRST_WARNING = "ZON6"
_PREFIX = "ZON"
_RUN = "run"
_TEMPLATE = "template.yaml"
_UNKNOWN = "ZON208"


@dataclass(frozen=True, slots=True)
class Example:
    """Files by name, and the commands to be typed beside them, the last of which counts.

    Without commands the files are Python, and what counts is what they raise.
    """

    files: Mapping[str, str]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """What one code means."""

    code: str
    title: str
    about: str
    wrong: Example
    right: Example

    @property
    def severity(self) -> str:
        """``error`` or ``warning``."""
        return WARNING if self.code >= _FIRST_WARNING else ERROR


@cache
def pages() -> Mapping[str, Page]:
    """Every page by its code, in the order of codes."""
    found: dict[str, Page] = {}
    for file in sorted((Path(__file__).parent / "pages").glob("*.yaml")):
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        found.update((code, _page(code, entry)) for code, entry in data.items())
    return {code: found[code] for code in sorted(found)}


def page(code: str) -> Page:
    """The page of a code, in any case and with or without its letters; raises UsageError."""
    wanted = code.strip().upper()
    wanted = _PREFIX + wanted if wanted.isdigit() else wanted
    known = pages()
    if wanted not in known:
        hint = suggestion(wanted, known) or "'zonda explain' lists the codes."
        raise UsageError(f"There is no code {code}.", hint=hint, code=_UNKNOWN)
    return known[wanted]


def markdown() -> str:
    """All pages, as ``docs/reference/error-codes.md`` shows them."""
    return "\n".join(line for each in pages().values() for line in _markdown(each)) + "\n"


def example_markdown(example: Example) -> Iterator[str]:
    """The lines of one example."""
    for name, text in example.files.items():
        language = "python" if name.endswith(".py") else "yaml" if name.endswith(".yaml") else ""
        if len(example.files) > 1 or name not in (_TEMPLATE, "raised.py"):
            yield from (f"`{name}`:", "")
        yield from (f"```{language or 'text'}", *text.rstrip("\n").split("\n"), "```", "")
    if example.commands and example.commands != _validated(example.files):
        yield from ("```console", *(f"$ {command}" for command in example.commands), "```", "")


def _markdown(each: Page) -> Iterator[str]:
    yield from (f"## {each.code}", "", f"**{each.title}.** ({each.severity})", "", each.about, "")
    yield from ("Wrong:", "", *example_markdown(each.wrong))
    yield from ("Right:", "", *example_markdown(each.right))


def _page(code: str, entry: Mapping[str, Any]) -> Page:
    wrong, right = _example(entry["wrong"]), _example(entry["right"])
    return Page(code, entry["title"], entry["about"], wrong, right)


def _example(entry: str | Mapping[str, Any]) -> Example:
    if isinstance(entry, str):
        entry = {_TEMPLATE: entry}
    files = {name: text for name, text in entry.items() if name != _RUN}
    commands = tuple(entry[_RUN]) if _RUN in entry else _validated(files)
    return Example(files, commands)


def _validated(files: Mapping[str, str]) -> tuple[str, ...]:
    return (f"zonda template validate {_TEMPLATE}",) if _TEMPLATE in files else ()
