"""MkDocs hooks: the navigation is that of the index pages, and no link leaves ``docs/``."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
DOORS = ("tutorial", "how-to", "reference", "explanation")
#: A heading, or an item of a list that is a link to a page.
ENTRY = re.compile(r"^## (.+)$|^- \[.*?\]\(([^)]+\.md)\)", re.M)
OUTSIDE = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)\s]*)?\)")


def door(folder: str) -> dict[str, Any]:
    """The navigation of a folder: the headings and links of its index page, in their order."""
    text = (DOCS / folder / "index.md").read_text()
    pages: list[Any] = [f"{folder}/index.md"]
    group = pages
    for heading, name in ENTRY.findall(text):
        if heading:
            group = []
            pages.append({heading: group})
        elif name == "resource-types/README.md":
            types = sorted((DOCS / folder / "resource-types").glob("*-*.md"))
            listed = [path.relative_to(DOCS).as_posix() for path in types]
            group.append({"Resource types": [f"{folder}/{name}", *listed]})
        else:
            group.append(f"{folder}/{name}")
    return {text.splitlines()[0].removeprefix("# "): pages}


def on_config(config: Any) -> Any:
    """Sets the navigation."""
    config["nav"] = ["index.md", *map(door, DOORS), "contributing.md"]
    return config


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page's text, with paths in place of links to files outside of ``docs/``."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def show(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[2]))
        return link[0] if path.startswith("docs/") else f"{link[1]} (`{path}`)"

    return OUTSIDE.sub(show, markdown)
