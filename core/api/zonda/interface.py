"""zonda's own API as an interface of the server."""

from __future__ import annotations

from ..http.interfaces import Interface
from .routes import TABLE


class ZondaInterface(Interface):
    """Version 1 of zonda's own API."""

    prefix = "/zonda/v1/"
    table = TABLE
