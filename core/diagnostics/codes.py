"""The registry of codes: one page for each, read from ``pages/*.yaml``.

Called by ``zonda explain``, by ``sarif`` and by the tests that hold the docs and the code together.
An example is a set of files and the commands that use them, so that it can be tried as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from zonda.hooks.errors import UsageError
from zonda.hooks.records import dataclass
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
    """The page of one code."""

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
def load_pages() -> Mapping[str, Page]:
    """Load every page by its code, in the order of codes."""
    found: dict[str, Page] = {}
    for file in sorted((Path(__file__).parent / "pages").glob("*.yaml")):
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        found.update((code, _parse_page(code, entry)) for code, entry in data.items())
    return {code: found[code] for code in sorted(found)}


def find_page(code: str) -> Page:
    """Find the page of a code, in any case, with or without its prefix; raises UsageError."""
    wanted = code.strip().upper()
    wanted = _PREFIX + wanted if wanted.isdigit() else wanted
    known = load_pages()
    if wanted not in known:
        hint = suggestion(wanted, known) or "'zonda explain' lists the codes."
        raise UsageError(f"There is no code {code}.", hint=hint, code=_UNKNOWN)
    return known[wanted]


def format_pages() -> str:
    """Format all pages for ``docs/reference/error-codes.md``."""
    return "\n".join(line for each in load_pages().values() for line in _format_page(each)) + "\n"


def format_example(example: Example) -> Iterator[str]:
    """Format one example as lines of Markdown."""
    for name, text in example.files.items():
        language = "python" if name.endswith(".py") else "yaml" if name.endswith(".yaml") else ""
        if len(example.files) > 1 or name not in (_TEMPLATE, "raised.py"):
            yield from (f"`{name}`:", "")
        yield from (f"```{language or 'text'}", *text.rstrip("\n").split("\n"), "```", "")
    if example.commands and example.commands != _default_commands(example.files):
        yield from ("```console", *(f"$ {command}" for command in example.commands), "```", "")


def _format_page(each: Page) -> Iterator[str]:
    yield from (f"## {each.code}", "", f"**{each.title}.** ({each.severity})", "", each.about, "")
    yield from ("Wrong:", "", *format_example(each.wrong))
    yield from ("Right:", "", *format_example(each.right))


def _parse_page(code: str, entry: Mapping[str, Any]) -> Page:
    wrong, right = _parse_example(entry["wrong"]), _parse_example(entry["right"])
    return Page(code, entry["title"], entry["about"], wrong, right)


def _parse_example(entry: str | Mapping[str, Any]) -> Example:
    if isinstance(entry, str):
        entry = {_TEMPLATE: entry}
    files = {name: text for name, text in entry.items() if name != _RUN}
    commands = tuple(entry[_RUN]) if _RUN in entry else _default_commands(files)
    return Example(files, commands)


def _default_commands(files: Mapping[str, str]) -> tuple[str, ...]:
    return (f"zonda template validate {_TEMPLATE}",) if _TEMPLATE in files else ()
