"""Forms: their fields and files, and whether a page of this server has sent them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from zonda.hooks.records import dataclass, field

from ...http.errors import BadRequest
from ...http.requests import Request
from ...identity.callers import Forbidden

_MOST_FIELDS, _MOST_PARTS = 200, 1000
_BOUNDARY = re.compile(r'boundary="?([^";,]{1,200})"?', re.IGNORECASE)
_PARAMETER = re.compile(rb'[; ](name|filename)="((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_URLENCODED, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a form. ``name``: what the browser calls it; of a folder's file, its path."""

    field: str
    name: str
    content: bytes

    @property
    def text(self) -> str:
        """The content as text; raises BadRequest."""
        return _decode(self.content, f"the file {self.name}")


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, each with all of its values, and its files."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[Upload, ...] = ()

    def get(self, name: str) -> str:
        """The first value of a field, or ''; ends of lines as everywhere but in forms."""
        return self.fields.get(name, ("",))[0].replace("\r\n", "\n")

    def list_files(self, name: str) -> list[Upload]:
        """The files of a field."""
        return [file for file in self.files if file.field == name]


def check_origin(request: Request) -> None:
    """Raise Forbidden for a form that another site has sent, or that nobody says whose it is.

    The scheme is not compared: a proxy in front may end TLS.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_own = origin is None or urlsplit(origin).netloc == urlsplit(request.base).netloc
    if not is_own or site not in (None, "same-origin") or (site is None and origin is None):
        raise Forbidden(
            "This form was sent by another site.",
            hint="Open the page again and send it from there.",
        )


def parse_form(request: Request) -> Form:
    """The form of a request; raises BadRequest."""
    kind = request.headers.get("content-type", _URLENCODED)
    media_type = kind.partition(";")[0].strip().lower()
    if media_type == _URLENCODED:
        return _collect(_parse_urlencoded(request.body), ())
    boundary = _BOUNDARY.search(kind)
    if media_type != _MULTIPART or boundary is None:
        raise BadRequest(f"A form of the type {media_type} cannot be read")
    parts = list(_parse_multipart(request.body, boundary[1].encode("latin-1", "replace")))
    files = tuple(Upload(name, file, data) for name, file, data in parts if file is not None)
    fields = [
        (name, _decode(data, f"the field {name}")) for name, file, data in parts if file is None
    ]
    return _collect(fields, files)


def _collect(pairs: list[tuple[str, str]], files: tuple[Upload, ...]) -> Form:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        found[name] = (*found.get(name, ()), value)
    return Form(found, tuple(file for file in files if file.name or file.content))


def _parse_urlencoded(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError as error:
        raise BadRequest("The form cannot be read: it is not UTF-8, or has too many fields") from (
            error
        )


def _parse_multipart(body: bytes, boundary: bytes) -> Iterator[tuple[str, str | None, bytes]]:
    """The parts, each as its field, the name of its file (None: it is none), and its content."""
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary)
    if len(parts) < 2 or not parts[-1].startswith(b"--"):
        raise BadRequest("The form has no end")
    if len(parts) > _MOST_PARTS:
        raise BadRequest(f"The form has more than {_MOST_PARTS} fields and files")
    for part in parts[1:-1]:
        head, separator, content = part.partition(b"\r\n\r\n")
        known = {key.lower(): value for key, value in _PARAMETER.findall(head)}
        if not separator or b"name" not in known:
            raise BadRequest("The form has a part without a name")
        file = known.get(b"filename")
        name = _decode(known[b"name"], "the name of a field")
        shown = None if file is None else _decode(file, "the name of a file")
        yield name, shown, content


def _decode(content: bytes, what: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"{what} is not UTF-8 text") from error
