"""The OpenAPI documents of the server's interfaces, for everybody: ``/openapi/NAME.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from zonda.hooks.errors import NotFound

from ..identity.callers import Caller
from .calls import Answer, Call
from .interfaces import Interface
from .requests import Request
from .routes import Route, RouteTable

FOLDER = Path(__file__).parent / "openapi"
_READER = Caller("", "", "")


@cache
def read_documents() -> dict[str, str]:
    """Read all documents, by the names of their files."""
    return {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yaml")}


def show_document(call: Call) -> Answer:
    """The text of one document."""
    found = read_documents().get(call.path["name"])
    if found is None:
        raise NotFound("Document", call.path["name"])
    return Answer(200, found, media_type="application/yaml")


class DocumentInterface(Interface):
    """The documents, which need no token: they are the same everywhere."""

    prefix = "/openapi/"
    table = RouteTable([Route("GET", "/openapi/{name}", "openapi:show", show_document, "anybody")])

    def authenticate(self, request: Request) -> Caller | None:
        """The one reader there is."""
        return _READER
