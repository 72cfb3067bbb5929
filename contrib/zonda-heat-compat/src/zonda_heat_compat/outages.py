"""The services that gave no answer lately: while a template is only looked at, they are asked once.

A template has many values that a cloud can be asked about. Where the cloud does not answer, each
question would wait for its own end of time. What is carried out asks anew each time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

#: The time for which a service that gave no answer is not asked again.
_SECONDS: Final = 60.0
_LOOKING: ContextVar[bool] = ContextVar("looking", default=False)


@contextmanager
def look_only(is_looking: bool = True) -> Iterator[None]:
    """Ask a service that gave no answer lately no more inside the block."""
    token = _LOOKING.set(is_looking)
    try:
        yield
    finally:
        _LOOKING.reset(token)


@cache
def load_adapter_class() -> type[Any]:
    """requests' adapter, with that memory; who has a cloud has the library."""
    from keystoneauth1.session import TCPKeepAliveAdapter
    from requests.exceptions import ConnectionError, Timeout

    class RememberingAdapter(TCPKeepAliveAdapter):  # type: ignore[misc]
        """An adapter that remembers which services gave no answer."""

        def __init__(self) -> None:
            super().__init__()
            self._silent: dict[str, tuple[float, Exception]] = {}

        def send(self, request: Any, **given: Any) -> Any:
            """Send a request; raises at once what a request to that service has raised lately."""
            place = urlsplit(request.url).netloc
            until, raised = self._silent.get(place, (0.0, None))
            if raised is not None and _LOOKING.get() and time.monotonic() < until:
                raise raised
            try:
                answer = super().send(request, **given)
            except (ConnectionError, Timeout) as error:
                self._silent[place] = (time.monotonic() + _SECONDS, error)
                raise
            self._silent.pop(place, None)
            return answer

    return RememberingAdapter
