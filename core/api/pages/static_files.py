"""The static files of the pages: their URLs, which change with their content, and their answers.

Called by the interface of the pages, and by templates through ``build_url``. Knows no project.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from zonda.hooks.errors import NotFound
from zonda.hooks.records import dataclass

from ..http.calls import Answer

FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: Seconds of a year; the URL of another content is another one.
_LONG = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent, and the digest of its content."""

    text: str
    media_type: str
    digest: str


@cache
def read_files() -> dict[str, StaticFile]:
    """Read all files, by their names; once in the life of the process."""
    return {
        path.name: StaticFile(
            path.read_text(encoding="utf-8"),
            _TYPES[path.suffix],
            hashlib.sha256(path.read_bytes()).hexdigest()[:16],
        )
        for path in sorted(FOLDER.iterdir())
        if path.suffix in _TYPES
    }


def build_url(name: str) -> str:
    """Build the URL of a file, with the digest of its content."""
    return f"/ui/static/{name}?v={read_files()[name].digest}"


def answer_file(name: str, digest: str | None) -> Answer:
    """Answer with a file, to be kept if the URL had its digest; raises NotFound."""
    file = read_files().get(name)
    if file is None:
        raise NotFound("File", name)
    headers = {
        "Cache-Control": _LONG if digest == file.digest else "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    return Answer(200, file.text, headers, file.media_type)
